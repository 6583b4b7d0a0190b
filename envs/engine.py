"""What every game's rules engine does alike: dealing, checked steps, voids, outcomes.

A game's engine is a subclass that names its state and says, in the methods under "what a game
says", how a hand begins, what is legal and what a move does; see
:class:`lupai.envs.baohuang.engine.Engine`. It holds rules and no state, a
:class:`~lupai.envs.packed.PackedTables` holds B tables and no rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from lupai.envs import deals
from lupai.envs.cards import CODE_TEXTS, NUM_CODES, count_ranks, parse_hand
from lupai.envs.errors import IllegalMoveError, LupaiError, RulesError
from lupai.envs.game import LegalMoves
from lupai.envs.packed import RECENT, PackedTables, every, rows
from lupai.envs.rules import GameRules
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[np.integer]
S = TypeVar("S", bound=PackedTables)
L = TypeVar("L", bound=LegalMoves)


class PackedEngine(Generic[S, L]):
    """Rules engine of one game for one set of options.

    Attributes:
        game: name of the game, as in records.
        seats: number of seats S.
        phases: name of each phase, by number: those before play, play, over.
        state_class: the game's tables.
        rules_class: the game's options.
        public_ids: ``[A]`` what others see of each action, in the dtype of ``recent``.
        reset_options: keywords that :meth:`reset` and :meth:`reset_hands` take beside those here;
            a record has them in its ``meta``.
        record_fields: top-level fields of this game's records, between ``moves`` and ``finish``,
            with their types as pydantic takes them; :meth:`_results` fills them.
        rules: the options; ``rules.cards`` is the deck.
    """

    game: str
    seats: int
    phases: tuple[str, ...]
    state_class: type[S]
    rules_class: type[GameRules]
    public_ids: Ints
    record_fields: Mapping[str, Any] = MappingProxyType({})
    reset_options: tuple[str, ...] = ()
    rules: Any

    _phase: int
    _actor: int
    _moves: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "state_class"):
            column = cls.state_class.COLUMN
            cls._phase, cls._actor, cls._moves = (
                column[name] for name in ("phase", "actor", "moves")
            )

    # --- what a game says ----------------------------------------------------------------------

    def _begin(self, state: S, t: Ints, codes: npt.NDArray[Any], start: Ints) -> None:
        """Begin the hand of new tables: :meth:`_give` the cards, ask the first seat.

        Args:
            codes: ``[N, S, …]`` deals as :meth:`_packed_deal` has them.
            start: ``[N]`` seats that got the first card.
        """
        raise NotImplementedError

    def no_moves(self, n: int) -> L:
        """No legal move at any of n tables."""
        raise NotImplementedError

    def _legal_before(self, state: S, t: Ints) -> L:
        """Legal moves at tables ``[N]`` in phases before play."""
        raise NotImplementedError

    def _legal_in_play(self, state: S, t: Ints) -> L:
        """Legal moves at tables ``[N]`` in play; tables that are over may be among them, what is
        said of those is not used."""
        raise NotImplementedError

    def _step_before(self, state: S, t: Ints, actions: Ints, cards: I8 | None) -> Ints:
        """Legal actions ``[N]`` at tables ``[N]`` in phases before play, with the very cards, as in
        :meth:`_step_in_play`; returns the tables whose deal turned out void."""
        raise NotImplementedError

    def _step_in_play(self, state: S, t: Ints, actions: Ints, cards: I8 | None) -> None:
        """Legal actions ``[N]`` at tables ``[N]`` in play; ``cards [N, 54]`` are the very cards,
        already checked."""
        raise NotImplementedError

    def _check_cards(self, state: S, t: Ints, actions: Ints, cards: I8) -> None:
        """Raise ``IllegalMoveError`` unless the very cards ``[N, 54]`` of each ``play`` are held
        and make its set."""
        raise NotImplementedError

    def explain_illegal(self, state: S, table: int, action: int) -> str:
        """Message for an illegal action: seat, move, table in text, what would be legal."""
        raise NotImplementedError

    def scores(self, state: S) -> npt.NDArray[np.int64]:
        """Final scores ``[B, S] int64``; zeros at tables that are not over."""
        raise NotImplementedError

    def _results(self, state: S) -> list[dict[str, Any]]:
        """Of each table what its record says of the end besides ``finish`` and ``scores``."""
        return [{} for _ in range(len(state))]

    def _last_words(self, state: S) -> list[dict[str, Any]]:
        """Of each table what :meth:`final_infos` adds to its outcome."""
        return [{} for _ in range(len(state))]

    def stars(self, state: S, tables: Ints, actions: Ints) -> Ints:
        """``[N]`` kind of the card that carries a star in the record of actions ``[N]`` of the
        acting players of tables ``[N]``, -1 for none."""
        return np.full(len(tables), NOBODY)

    def public_text(self, text: str) -> str:
        """A record's move text (without the seat) as others see it."""
        return text

    def sets_of(
        self, cards: npt.NDArray[np.integer], stars: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int64]:
        """Action ids ``[P]`` of played cards ``[P, 54]`` with starred kinds ``[P]``, -1 for none;
        -1 where they make no set."""
        raise NotImplementedError

    def _encode(self, state: S, t: Ints | None, viewer: Ints, out: I8 | None) -> I8:
        """``[N, D]`` observations of seats ``[N]`` at tables ``[N]``, None for all."""
        raise NotImplementedError

    def _encode_state(self, state: S, t: Ints) -> I8:
        """``[N, Ds]`` with everything hidden."""
        raise NotImplementedError

    def _mask(self, state: S, t: Ints, viewer: Ints) -> S:
        """Copies of tables ``[N]`` without what the viewers ``[N]`` may not know."""
        raise NotImplementedError

    def _worlds(self, masked: S, viewer: Ints, n: int, rng: np.random.Generator) -> S:
        """``[N * n]`` complete tables that agree with what the viewers ``[N]`` know."""
        raise LupaiError(f"worlds are not drawn in {self.game} yet")

    # --- dealing -------------------------------------------------------------------------------

    def reset(self, seeds: Any, episodes: Any = 0) -> S:
        """Deal B tables.

        Args:
            seeds: one seed or ``[B]``, each in 0 … 2**64 - 1.
            episodes: number of the episode under each seed, ``[B]`` or one for all.

        Raises:
            SeedError: a seed out of range.
        """
        state = self._seeded(seeds, episodes)
        self._deal(state, np.arange(len(state)))
        return state

    def _seeded(self, seeds: Any, episodes: Any) -> S:
        """Tables with their seeds, not dealt yet."""
        base = deals.seed_array(seeds)
        hand = deals.hand_seeds(base, np.broadcast_to(np.asarray(episodes), base.shape))
        state = self.state_class(len(base))
        state.seeds[:, 0] = hand
        state.seeds[:, 1] = base
        return state

    def reset_hands(self, hands: list[str], start: int) -> S:
        """One table with a given deal; if it turns out void the hand ends with scores 0.

        Args:
            hands: a text for each seat, cards separated by one space, marked cards with a star.
            start: seat that got the first card.

        Raises:
            NotationError: an unreadable card.
            RulesError: the hands are not a deal of this deck from this start seat.
        """
        return self.reset_deals(self.parse_deal(hands, start)[None], np.array([start]))

    def reset_deals(self, codes: npt.NDArray[Any], starts: Ints) -> S:
        """B tables with given deals ``codes [B, S, …]`` and start seats ``[B]``, as
        :meth:`parse_deal` gives and checks them; a void ends the hand with scores 0."""
        state = self.state_class(len(codes))
        state.injected = 1
        self._begin(state, np.arange(len(codes)), codes, starts)
        return state

    def parse_deal(self, hands: list[str], start: int) -> npt.NDArray[Any]:
        """A deal as text in numbers, as :meth:`dealt_codes` gives them; see :meth:`reset_hands`."""
        seats = self.seats
        number = isinstance(start, int | np.integer) and not isinstance(start, bool)
        if not number or not 0 <= start < seats:
            raise RulesError(f"start {start!r} is no seat; seats are 0 … {seats - 1}")
        if not isinstance(hands, list | tuple) or len(hands) != seats:
            raise RulesError(f"a deal has {seats} hands, one text for each seat")
        held = []
        for seat, text in enumerate(hands):
            if not isinstance(text, str):
                raise RulesError(f"hand of seat {seat}: cards as text, not {text!r}")
            codes = parse_hand(text)
            if len(codes) > deals.MAX_DECK:
                raise RulesError(f"hand of seat {seat}: {len(codes)} cards")
            held.append(codes)
        deck = np.bincount(self.rules.cards.array, minlength=NUM_CODES)
        total = np.bincount([code for codes in held for code in codes], minlength=NUM_CODES)
        wrong = np.flatnonzero(total != deck)
        if wrong.size:
            code = int(wrong[0])
            raise RulesError(
                f"the hands hold {total[code]} of {CODE_TEXTS[code]}, the deck {deck[code]}"
            )
        order = np.zeros(len(self.rules.cards), np.uint8)
        for seat, codes in enumerate(held):
            first = (seat - start) % seats
            size = len(range(first, len(order), seats))
            if len(codes) != size:
                raise RulesError(
                    f"hand of seat {seat} has {len(codes)} cards; dealt from seat {start} "
                    f"it has {size}"
                )
            order[first::seats] = codes
        deal: npt.NDArray[Any] = self._packed_deal(order[None], np.array([start], np.int8))[0]
        return deal

    def _packed_deal(
        self, order: npt.NDArray[np.uint8], start: npt.NDArray[np.int8]
    ) -> npt.NDArray[Any]:
        """Deals as this game keeps them, ``[B, S, …]``: counts ``[B, S, 56] int8`` of card codes,
        unless a game needs to know in which order they came.

        Args:
            order: ``[B, cards]`` codes in deal order.
            start: ``[B]`` seats that got the first card.
        """
        return deals.code_counts(order, start, self.seats)

    def differing_seat(self, deal: Any, other: Any, start: int) -> int | None:
        """First seat that holds other cards in two deals of :meth:`parse_deal`; None for none."""
        wrong = np.flatnonzero((deal != other).any(axis=1))
        return int(wrong[0]) if wrong.size else None

    def named_kinds(self, state: S, tables: Ints, actions: Ints) -> Ints:
        """``[N]`` kind of the card that a record names in a move without a set, -1 for none; asked
        when the moves were made."""
        return np.full(len(actions), NOBODY)

    def dealt_hands(self, hand_seed: int, redeal: int = 0) -> tuple[list[str], int]:
        """The dealt hands as text, each in deal order, and the start seat."""
        seeds = deals.seed_array(hand_seed)
        order, start = deals.deal(self.rules.cards, self.seats, seeds, np.array([redeal]))
        seat = deals.hand_of_place(self.seats, order.shape[1], start)[0]
        hands = [" ".join(CODE_TEXTS[c] for c in order[0][seat == s]) for s in range(self.seats)]
        return hands, int(start[0])

    def dealt_codes(
        self, hand_seeds: npt.NDArray[np.uint64], redeals: Ints
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int8]]:
        """Deals ``[B, S, …]`` as :meth:`_packed_deal` has them (as a rule counts ``[B, S, 56]`` of
        card codes), and start seats ``[B]``."""
        order, start = deals.deal(self.rules.cards, self.seats, hand_seeds, redeals)
        return self._packed_deal(order, start), start

    def _deal(self, state: S, t: Ints) -> None:
        codes, start = self.dealt_codes(state.seeds[t, 0], state.redeals[t])
        self._begin(state, t, codes, start)

    def _give(self, state: S, t: Ints, hands: I8, start: Ints) -> None:
        """Put hands ``[N, S, 54]`` into the tables."""
        state.hands[t] = hands
        state.ranks[t] = count_ranks(hands)
        state.sizes[t] = hands.sum(axis=2, dtype=np.int8)
        state.start[t] = start

    def _redealt(self, state: S, t: Ints) -> S:
        """Tables ``[N]`` anew for their next deal: what outlives a void deal, and nothing else."""
        fresh = self.state_class(len(t))
        fresh.seeds[:] = state.seeds[t]
        fresh.redeals = state.redeals[t] + 1
        return fresh

    def _void(self, state: S, t: Ints) -> None:
        """Deal void tables anew; the hundredth void, or an injected deal's first, ends the hand."""
        ends = (state.injected[t] == 1) | (state.redeals[t] + 1 >= deals.MAX_VOIDS)
        dead = t[ends]
        state.phase[dead] = state.OVER
        state.actor[dead] = NOBODY
        state.void[dead] = 1
        again = t[~ends]
        if again.size:
            fresh = self._redealt(state, again)
            self._deal(fresh, np.arange(len(again)))
            state.put(again, fresh)

    # --- decisions -----------------------------------------------------------------------------

    def _tables(self, state: S, tables: npt.ArrayLike | None) -> npt.NDArray[np.intp]:
        if tables is None:
            return every(len(state))
        if tables is every(len(state)):
            return every(len(state))
        t = np.asarray(tables)
        if t.size and (t.dtype.kind not in "iu" or t.min() < 0 or t.max() >= len(state)):
            raise ValueError(f"tables are integers in 0 … {len(state) - 1}, not {tables!r}")
        return t.astype(np.intp, copy=False)

    def _viewers(self, seats: npt.ArrayLike, count: int, lowest: int = 0) -> npt.NDArray[np.intp]:
        """``[count]`` of one seat or ``count`` of them, each from ``lowest`` on."""
        viewer = np.asarray(seats, dtype=np.intp)
        if viewer.shape != (count,):
            viewer = np.broadcast_to(viewer, (count,))
        if count == 1:
            good = lowest <= viewer.item() < self.seats
        else:
            good = not count or bool(viewer.min() >= lowest and viewer.max() < self.seats)
        if not good:
            raise ValueError(f"seats are {lowest} … {self.seats - 1}, not {seats!r}")
        return viewer

    def legal(self, state: S, tables: npt.ArrayLike | None = None) -> L:
        """Legal moves of the acting players.

        Args:
            tables: ``[N]`` table numbers, all of them when None. Where the hand is over there is
                no legal move.
        """
        t = self._tables(state, tables)
        play = state.PLAY
        phase = rows(state.numbers, t)[:, self._phase]
        late = np.count_nonzero(phase == play)
        if late == len(t):
            return self._legal_in_play(state, t)
        early = np.flatnonzero(phase < play)
        if early.size == len(t):
            return self._legal_before(state, t)
        if late:  # as if all were late: cheaper than to pick them out
            out = self._legal_in_play(state, t)
            over = np.flatnonzero(phase == state.OVER)
            if over.size:
                out.put(over, self.no_moves(len(over)))
        else:
            out = self.no_moves(len(t))
        if early.size:
            out.put(early, self._legal_before(state, t[early]))
        return out

    def step(
        self,
        state: S,
        actions: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        cards: I8 | None = None,
        legal: L | None = None,
    ) -> None:
        """Play one decision at each of the tables, in place.

        Args:
            actions: ``[N]`` action ids.
            tables: ``[N]`` different table numbers, all when None.
            cards: ``[N, 54] int8`` the very cards of each ``play``, for records; checked to be
                held and to make the set. None: suits in the order s, h, c, d.
            legal: what :meth:`legal` gave for these tables, to spare computing it again.

        Raises:
            IllegalMoveError: an action is not legal; no table has been changed.
        """
        t = self._tables(state, tables)
        a = np.asarray(actions)
        if a.dtype != np.int64:
            if a.size and a.dtype.kind not in "iu":
                raise TypeError(f"actions are integers, not {a.dtype}")
            a = a.astype(np.int64)
        if a.shape != t.shape:
            raise ValueError(f"actions {a.shape} for {len(t)} tables")
        if tables is not None and len(t) > 1 and np.bincount(t).max() > 1:
            raise ValueError("a table stands twice among the tables of one step")
        play = state.PLAY
        numbers = rows(state.numbers, t)
        phase = numbers[:, self._phase]
        late = np.count_nonzero(phase == play)
        if late < len(t) and (phase == state.OVER).any():
            table = int(t[phase == state.OVER][0])
            raise IllegalMoveError(f"table {table}: the hand is over, nobody is asked")
        legal = self.legal(state, t) if legal is None else legal
        good = legal.contains(a)
        if np.count_nonzero(good) < len(good):
            self._refuse(state, t, a, good)
        if cards is not None:
            self._check_cards(state, t, a, cards)
        self._remember(state, t, a, numbers)
        if late == len(t):
            self._step_in_play(state, t, a, cards)
            return
        early = phase < play
        here = np.flatnonzero(early)
        chosen = None if cards is None else cards[here]
        void = self._step_before(state, t[here], a[here], chosen)
        if void.size:
            self._void(state, void)
        if late:
            here = np.flatnonzero(~early)
            chosen = None if cards is None else cards[here]
            self._step_in_play(state, t[here], a[here], chosen)

    def _refuse(self, state: S, t: Ints, a: Ints, good: npt.NDArray[np.bool_]) -> NoReturn:
        i = int(np.flatnonzero(~good)[0])
        raise IllegalMoveError(self.explain_illegal(state, int(t[i]), int(a[i])))

    def _remember(self, state: S, t: Ints, a: Ints, numbers: npt.NDArray[Any]) -> None:
        """Write moves into the ring of recent ones and count them."""
        one = len(t) == 1  # ints instead of arrays
        was: Any = numbers[0].tolist() if one else numbers.T
        at: Any = int(t[0]) if one else t
        moves = was[self._moves]
        slot = (at * RECENT + moves % RECENT) * 2
        recent = state.recent.reshape(-1)
        recent[slot] = was[self._actor]
        recent[slot + 1] = self.public_ids[a[0] if one else a]
        state.numbers[at, self._moves] = moves + 1

    def copy_tables(self, state: S, n: int, tables: npt.ArrayLike | None = None) -> S:
        """``n`` independent copies of each of N tables, ``[N * n]``, those of a table in a row."""
        return state.take(np.repeat(self._tables(state, tables), n))

    # --- what is seen --------------------------------------------------------------------------

    def observe(
        self,
        state: S,
        seats: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        out: I8 | None = None,
    ) -> I8:
        """Observations ``[N, D] int8`` of one seat at each of the tables.

        Args:
            seats: one seat, or ``[N]`` of them.
            tables: ``[N]`` table numbers, all of them when None.
            out: ``[N, D] int8`` to write to; fresh memory when None.
        """
        t = None if tables is None else self._tables(state, tables)
        viewer = self._viewers(seats, len(state) if t is None else len(t))
        return self._encode(state, t, viewer, out)

    def state_vector(self, state: S, tables: npt.ArrayLike | None = None) -> I8:
        """WARNING, god's eye: ``[N, Ds] int8`` with all that is hidden."""
        return self._encode_state(state, self._tables(state, tables))

    def mask_hidden(self, state: S, seats: npt.ArrayLike, tables: npt.ArrayLike | None = None) -> S:
        """Copies of tables without what the given seats, -1 for a spectator, may not know."""
        t = self._tables(state, tables)
        return self._mask(state, t, self._viewers(seats, len(t), NOBODY))

    def determinize(
        self,
        state: S,
        seats: npt.ArrayLike,
        n: int,
        rng: np.random.Generator,
        tables: npt.ArrayLike | None = None,
    ) -> S:
        """``n`` complete tables for each of N tables, ``[N * n]``, those of a table in a row, that
        agree with all that a seat knows there.

        Every deal that is consistent with the record is equally likely. Nothing hidden is read.
        The new tables have no seed, and a void ends the hand.

        Args:
            seats: ``[N]`` or one seat for all whose knowledge counts; -1: a spectator's, who sees
                what is public.
            n: worlds for each table, 1 or more.
            rng: all randomness.

        Raises:
            LupaiError: the record contradicts itself, or it is too much to count or draw; names
                the table and the evidence. Or the game has no worlds yet.
        """
        t = self._tables(state, tables)
        viewer = self._viewers(seats, len(t), NOBODY)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n {n!r} is no number of worlds; give 1 or more")
        return self._worlds(self._mask(state, t, viewer), viewer, int(n), rng)

    # --- the end -------------------------------------------------------------------------------

    def outcome(self, state: S, table: int) -> dict[str, Any]:
        """What a table's record says of the end: finishing order, scores, and what the game adds.

        WARNING, god's eye while the hand lasts: hidden roles are named.
        """
        return self.outcomes(state.take([table]))[0]

    def outcomes(self, state: S) -> list[dict[str, Any]]:
        """:meth:`outcome` of all tables."""
        ends = zip(
            self._results(state), self._finish(state), self.scores(state).tolist(), strict=True
        )
        return [own | {"finish": finish, "scores": scores} for own, finish, scores in ends]

    def _finish(self, state: S) -> list[list[int]]:
        """Seats of each table in order of going out; those still in are not listed."""
        order = np.argsort(state.places, axis=1, kind="stable").tolist()
        out = (state.places > 0).sum(axis=1).tolist()
        return [seats[self.seats - gone :] for seats, gone in zip(order, out, strict=True)]

    def final_info(self, state: S, table: int) -> dict[str, Any]:
        """What is public when a hand has ended: :meth:`outcome`, and what the game adds."""
        return self.final_infos(state.take([table]))[0]

    def final_infos(self, state: S) -> list[dict[str, Any]]:
        """:meth:`final_info` of all tables."""
        ends = zip(self.outcomes(state), self._last_words(state), strict=True)
        return [outcome | words for outcome, words in ends]
