"""The rules engine: B tables of Baohuang at once, every decision of a step in one call.

One engine object holds the rules and no state; a :class:`~lupai.envs.baohuang.state.State` holds
B tables and no rules. The AEC environment is a table of one.

>>> import numpy as np
>>> engine = Engine("qingdao")
>>> state = engine.reset([0, 1, 2])
>>> rng = np.random.default_rng(0)
>>> while not state.over.all():
...     tables = np.flatnonzero(~state.over)
...     ids, offsets = engine.legal(state, tables).ids()
...     engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], tables)
>>> engine.scores(state).sum(axis=1).tolist()
[0, 0, 0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs import deals
from lupai.envs.actions import ACTIONS, CALL, SET, VERB_ID
from lupai.envs.baohuang import hidden, notation, observation, play, roles, scoring, worlds
from lupai.envs.baohuang.legal import Ints, Legal
from lupai.envs.baohuang.rules import Rules, load_rules
from lupai.envs.baohuang.state import (
    COLUMN,
    PHASE_NAMES,
    PHASE_OVER,
    PHASE_PLAY,
    SEATS,
    SOLO_NAMES,
    Phase,
    State,
)
from lupai.envs.baohuang.texts import Texts
from lupai.envs.cards import (
    CODE_B_MARKED,
    CODE_R_MARKED,
    CODE_TEXTS,
    KIND_B,
    KIND_R,
    NUM_CODES,
    NUM_KINDS,
    count_ranks,
    parse_hand,
)  # fmt: skip
from lupai.envs.errors import IllegalMoveError, RulesError
from lupai.envs.layout import Layout
from lupai.envs.packed import RECENT, every, rows
from lupai.envs.seats import NOBODY

if TYPE_CHECKING:
    pass

_DECLINE: Final = ACTIONS.offsets["verb"] + VERB_ID["decline"]
_CEDE: Final = ACTIONS.offsets["verb"] + VERB_ID["cede"]
_SECRET: Final = CALL + 2 * NUM_KINDS
_PHASE: Final = COLUMN["phase"]
_ACTOR: Final = COLUMN["actor"]
_MOVES: Final = COLUMN["moves"]


def _public_ids() -> npt.NDArray[np.int16]:
    ids = np.arange(ACTIONS.size, dtype=np.int16)
    ids[_SECRET:SET] -= _SECRET - CALL
    return ids


PUBLIC_ID: Final = _public_ids()  # what others see of each action: a secret call is a call


class Engine(Texts):
    """Rules engine for one set of options.

    Args:
        rules: preset name, rules string, path of a YAML file, dict or :class:`Rules`.

    Raises:
        RulesError: unknown or impossible options.
    """

    game: Final = "baohuang"
    seats: Final = SEATS
    phases: Final = PHASE_NAMES
    observation_layout: Final[Layout] = observation.OBSERVATION
    state_layout: Final[Layout] = observation.STATE

    def __init__(self, rules: Rules | str | dict[str, Any] = "qingdao") -> None:
        self.rules = load_rules(rules)
        self._constant = observation.constants(self.rules)

    # --- dealing -------------------------------------------------------------------------------

    def reset(self, seeds: Any, episodes: Any = 0) -> State:
        """Deal B tables.

        Args:
            seeds: one seed or ``[B]``, each in 0 … 2**64 - 1.
            episodes: number of the episode under each seed, ``[B]`` or one for all.

        Raises:
            SeedError: a seed out of range.
        """
        base = deals.seed_array(seeds)
        hand = deals.hand_seeds(base, np.broadcast_to(np.asarray(episodes), base.shape))
        state = State(len(base))
        state.seeds[:, 0] = hand
        state.seeds[:, 1] = base
        self._deal(state, np.arange(len(base)))
        return state

    def reset_hands(self, hands: list[str], start: int) -> State:
        """One table with a given deal; if it turns out void the hand ends with scores 0.

        Args:
            hands: five texts of cards separated by one space, ``R*`` marked.
            start: seat that got the first card, 0 … 4.

        Raises:
            NotationError: an unreadable card.
            RulesError: the hands are not a deal of this deck from this start seat.
        """
        return self.reset_deals(self.parse_deal(hands, start)[None], np.array([start]))

    def reset_deals(self, codes: npt.NDArray[np.int8], starts: Ints) -> State:
        """B tables with given deals: ``codes [B, S, 56]`` and start seats ``[B]``, as
        :meth:`parse_deal` gives and checks them; a void ends the hand with scores 0."""
        state = State(len(codes))
        state.injected = 1
        self._hand_out(state, np.arange(len(codes)), codes, starts)
        return state

    def parse_deal(self, hands: list[str], start: int) -> npt.NDArray[np.int8]:
        """Counts ``[S, 56] int8`` of card codes of a deal as text; see :meth:`reset_hands`."""
        number = isinstance(start, int | np.integer) and not isinstance(start, bool)
        if not number or not 0 <= start < SEATS:
            raise RulesError(f"start {start!r} is no seat; seats are 0 … {SEATS - 1}")
        if not isinstance(hands, list | tuple) or len(hands) != SEATS:
            raise RulesError(f"a deal has {SEATS} hands, one text for each seat")
        counts = np.zeros((SEATS, NUM_CODES), np.int8)
        for seat, text in enumerate(hands):
            if not isinstance(text, str):
                raise RulesError(f"hand of seat {seat}: cards as text, not {text!r}")
            codes = parse_hand(text)
            if len(codes) > deals.MAX_DECK:
                raise RulesError(f"hand of seat {seat}: {len(codes)} cards")
            counts[seat] = np.minimum(np.bincount(codes, minlength=NUM_CODES), 127)
        deck = np.bincount(self.rules.cards.array, minlength=NUM_CODES)
        total = counts.sum(axis=0, dtype=np.int64)
        wrong = np.flatnonzero(total != deck)
        if wrong.size:
            code = int(wrong[0])
            raise RulesError(
                f"the hands hold {total[code]} of {CODE_TEXTS[code]}, the deck {deck[code]}"
            )
        places = deals.hand_of_place(SEATS, len(self.rules.cards), np.array([start]))
        sizes = np.bincount(places[0], minlength=SEATS)
        for seat in range(SEATS):
            if counts[seat].sum() != sizes[seat]:
                raise RulesError(
                    f"hand of seat {seat} has {counts[seat].sum()} cards; dealt from seat {start} "
                    f"it has {sizes[seat]}"
                )
        return counts

    def dealt_hands(self, hand_seed: int, redeal: int = 0) -> tuple[list[str], int]:
        """The five dealt hands as text, each in deal order, and the start seat."""
        seeds = deals.seed_array(hand_seed)
        order, start = deals.deal(self.rules.cards, SEATS, seeds, np.array([redeal]))
        seat = deals.hand_of_place(SEATS, order.shape[1], start)[0]
        hands = [" ".join(CODE_TEXTS[c] for c in order[0][seat == s]) for s in range(SEATS)]
        return hands, int(start[0])

    def dealt_codes(
        self, hand_seeds: npt.NDArray[np.uint64], redeals: Ints
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Dealt hands as counts ``[B, S, 56]`` of card codes, and start seats ``[B]``."""
        order, start = deals.deal(self.rules.cards, SEATS, hand_seeds, redeals)
        return deals.code_counts(order, start, SEATS), start

    def _deal(self, state: State, t: Ints) -> None:
        codes, start = self.dealt_codes(state.seeds[t, 0], state.redeals[t])
        self._hand_out(state, t, codes, start)

    def _hand_out(self, state: State, t: Ints, codes: npt.NDArray[np.int8], start: Ints) -> None:
        hands = codes[:, :, :NUM_KINDS].copy()
        hands[:, :, KIND_R] += codes[:, :, CODE_R_MARKED]
        hands[:, :, KIND_B] += codes[:, :, CODE_B_MARKED]
        state.hands[t] = hands
        state.ranks[t] = count_ranks(hands)
        state.sizes[t] = hands.sum(axis=2, dtype=np.int8)
        crown = codes[:, :, CODE_R_MARKED].argmax(axis=1)
        state.crown[t] = crown
        state.first_holder[t] = crown
        marked_b = codes[:, :, CODE_B_MARKED]
        state.marked_b[t] = np.where(marked_b.any(axis=1), marked_b.argmax(axis=1), NOBODY)
        state.start[t] = start
        roles.begin(state, t, self.rules)

    def _void(self, state: State, t: Ints) -> None:
        """Deal void tables anew; the hundredth void, or an injected deal's first, ends the hand."""
        ends = (state.injected[t] == 1) | (state.redeals[t] + 1 >= deals.MAX_VOIDS)
        dead = t[ends]
        state.phase[dead] = PHASE_OVER
        state.actor[dead] = NOBODY
        state.void[dead] = 1
        again = t[~ends]
        if again.size:
            fresh = State(len(again))
            fresh.seeds[:] = state.seeds[again]
            fresh.redeals = state.redeals[again] + 1
            self._deal(fresh, np.arange(len(again)))
            state.put(again, fresh)

    # --- decisions -----------------------------------------------------------------------------

    def _tables(self, state: State, tables: npt.ArrayLike | None) -> Ints:
        if tables is None:
            return every(len(state))
        if tables is every(len(state)):
            return every(len(state))
        t = np.asarray(tables)
        if t.size and (t.dtype.kind not in "iu" or t.min() < 0 or t.max() >= len(state)):
            raise ValueError(f"tables are integers in 0 … {len(state) - 1}, not {tables!r}")
        return t.astype(np.intp, copy=False)

    def _viewers(self, seats: npt.ArrayLike, t: Ints, lowest: int = 0) -> Ints:
        viewer = np.broadcast_to(np.asarray(seats, dtype=np.intp), t.shape)
        if viewer.size and (viewer.min() < lowest or viewer.max() >= SEATS):
            raise ValueError(f"seats are {lowest} … {SEATS - 1}, not {seats!r}")
        return viewer

    def legal(self, state: State, tables: npt.ArrayLike | None = None) -> Legal:
        """Legal moves of the acting players.

        Args:
            tables: ``[N]`` table numbers, all of them when None. Where the hand is over there is
                no legal move.
        """
        t = self._tables(state, tables)
        phase = rows(state.numbers, t)[:, _PHASE]
        late = np.count_nonzero(phase == PHASE_PLAY)
        if late == len(t):
            return play.legal(state, t, self.rules)
        early = np.flatnonzero(phase < PHASE_PLAY)
        if early.size == len(t):
            return roles.legal(state, t, self.rules)
        if late:  # as if all were late: cheaper than to pick them out
            out = play.legal(state, t, self.rules)
            over = np.flatnonzero(phase == PHASE_OVER)
            if over.size:
                out.put(over, Legal.empty(len(over)))
        else:
            out = Legal.empty(len(t), int(self.rules.supreme))
        if early.size:
            out.put(early, roles.legal(state, t[early], self.rules))
        return out

    def step(
        self,
        state: State,
        actions: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        cards: npt.NDArray[np.int8] | None = None,
        legal: Legal | None = None,
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
        numbers = rows(state.numbers, t)
        phase = numbers[:, _PHASE]
        late = np.count_nonzero(phase == PHASE_PLAY)
        if late < len(t) and (phase == PHASE_OVER).any():
            table = int(t[phase == PHASE_OVER][0])
            raise IllegalMoveError(f"table {table}: the hand is over, nobody is asked")
        legal = self.legal(state, t) if legal is None else legal
        good = legal.contains(a)
        if np.count_nonzero(good) < len(good):
            i = int(np.flatnonzero(~good)[0])
            raise IllegalMoveError(self.explain_illegal(state, int(t[i]), int(a[i])))
        if cards is not None:
            notation.check_cards(state, t, a, cards, supreme=self.rules.supreme)

        one = len(t) == 1  # ints instead of arrays
        was: Any = numbers[0].tolist() if one else numbers.T
        at: Any = int(t[0]) if one else t
        slot = (at * RECENT + was[_MOVES] % RECENT) * 2
        recent = state.recent.reshape(-1)
        recent[slot] = was[_ACTOR]
        recent[slot + 1] = PUBLIC_ID[a[0] if one else a]
        state.numbers[at, _MOVES] = was[_MOVES] + 1
        if late == len(t):
            play.step(state, t, a, self.rules, cards)
            return
        early = phase < PHASE_PLAY
        here = np.flatnonzero(early)
        void = roles.step(state, t[here], a[here], self.rules)
        if void.size:
            self._void(state, void)
        if late:
            here = np.flatnonzero(~early)
            chosen = None if cards is None else cards[here]
            play.step(state, t[here], a[here], self.rules, chosen)

    def copy_tables(self, state: State, n: int, tables: npt.ArrayLike | None = None) -> State:
        """``n`` independent copies of each of N tables, ``[N * n]``, those of a table in a row."""
        return state.take(np.repeat(self._tables(state, tables), n))

    # --- what is seen ----------------------------------------------------------------------------

    def observe(
        self,
        state: State,
        seats: npt.ArrayLike,
        tables: npt.ArrayLike | None = None,
        out: npt.NDArray[np.int8] | None = None,
    ) -> npt.NDArray[np.int8]:
        """Observations ``[N, D] int8`` of one seat at each of the tables.

        Args:
            seats: one seat, or ``[N]`` of them.
            tables: ``[N]`` table numbers, all of them when None.
            out: ``[N, D] int8`` to write to; fresh memory when None.
        """
        t = None if tables is None else self._tables(state, tables)
        viewer = observation.viewers(seats, len(state) if t is None else len(t))
        return observation.encode(state, t, viewer, self._constant, out)

    def state_vector(
        self, state: State, tables: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.int8]:
        """WARNING, god's eye: ``[N, Ds] int8`` with all hands and roles."""
        return observation.encode_state(state, self._tables(state, tables), self._constant)

    def mask_hidden(
        self, state: State, seats: npt.ArrayLike, tables: npt.ArrayLike | None = None
    ) -> State:
        """Copies of tables without what the given seats, -1 for a spectator, may not know."""
        t = self._tables(state, tables)
        return hidden.mask_hidden(state, t, self._viewers(seats, t, NOBODY))

    def fill_hidden(
        self,
        masked: State,
        seats: npt.ArrayLike,
        hands: npt.NDArray[np.int8],
        marked_b: npt.ArrayLike | None = None,
    ) -> State:
        """Complete states from :meth:`mask_hidden`, guessed hands ``[N, S, 54]`` and, where there
        are marks, the guessed holder of B* ``[N]``."""
        viewer = self._viewers(seats, np.arange(len(masked)), NOBODY)
        marked = None if marked_b is None else np.asarray(marked_b, dtype=np.intp).reshape(-1)
        return hidden.fill_hidden(masked, viewer, hands, marked, self.rules)

    def determinize(
        self,
        state: State,
        seats: npt.ArrayLike,
        n: int,
        rng: np.random.Generator,
        tables: npt.ArrayLike | None = None,
    ) -> State:
        """``n`` complete tables for each of N tables, ``[N * n]``, those of a table in a row, that
        agree with all that a seat knows there; see :mod:`lupai.envs.baohuang.worlds`.

        Every deal that is consistent with the record is equally likely. Nothing hidden is read.
        The new tables have no seed, and a void ends the hand.

        Mostly well under a millisecond; for a spectator of a full deck after a forced call some
        seconds.

        Args:
            seats: ``[N]`` or one seat for all whose knowledge counts; -1: a spectator's, who sees
                what is public.
            n: worlds for each table, 1 or more.
            rng: all randomness.

        Raises:
            LupaiError: the record contradicts itself, or it is too much to count or draw; names
                the table and the evidence.
        """
        t = self._tables(state, tables)
        viewer = self._viewers(seats, t, NOBODY)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n {n!r} is no number of worlds; give 1 or more")
        masked = hidden.mask_hidden(state, t, viewer)
        return worlds.determinize(masked, viewer, int(n), rng, self.rules)

    def guard_chances(
        self, state: State, seats: npt.ArrayLike, tables: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]:
        """``[N, S + 1]`` chance of each seat to be guard, last that the emperor is secretly alone,
        for what seats ``[N]`` (-1: a spectator) know, all consistent deals equally likely.

        See :func:`lupai.envs.baohuang.worlds.guard_chances`. Exact, but for a spectator of a full
        deck after three or four skips in a forced call: some seconds, and from 1,024 worlds.

        Raises:
            LupaiError: as :meth:`determinize`.
        """
        t = self._tables(state, tables)
        viewer = self._viewers(seats, t, NOBODY)
        return worlds.guard_chances(hidden.mask_hidden(state, t, viewer), viewer, self.rules)

    def consistent(
        self,
        state: State,
        seats: npt.ArrayLike,
        hands: npt.NDArray[np.int8],
        marked_b: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.bool_]:
        """``[B] bool``: whether :meth:`determinize` can draw these hands ``[B, S, 54]`` and, where
        there are marks, this holder of B* ``[B]`` for the given seats; nothing hidden is read."""
        t = np.arange(len(state))
        viewer = self._viewers(seats, t, NOBODY)
        marked = None if marked_b is None else np.asarray(marked_b, dtype=np.intp).reshape(-1)
        masked = hidden.mask_hidden(state, t, viewer)
        return worlds.consistent(masked, viewer, hands, marked, self.rules)

    def scores(self, state: State) -> npt.NDArray[np.int64]:
        """Final scores ``[B, S] int64``; zeros at tables that are not over."""
        return scoring.final_scores(state, self.rules)

    def outcome(self, state: State, table: int) -> dict[str, Any]:
        """True roles, finishing order and scores of a table, as in a record.

        WARNING, god's eye while the hand lasts: the guard is named.
        """

        return self.outcomes(state.take([table]))[0]

    def final_info(self, state: State, table: int) -> dict[str, Any]:
        """What is public when a hand has ended: :meth:`outcome` and the multiplier m (rules §6)."""
        return self.outcome(state, table) | {"multiplier": int(state.multiplier[table])}

    def final_infos(self, state: State) -> list[dict[str, Any]]:
        """:meth:`final_info` of all tables."""
        multipliers = state.multiplier.tolist()
        return [
            outcome | {"multiplier": multiplier}
            for outcome, multiplier in zip(self.outcomes(state), multipliers, strict=True)
        ]

    def outcomes(self, state: State) -> list[dict[str, Any]]:
        """:meth:`outcome` of all tables."""
        order = np.argsort(state.places, axis=1, kind="stable").tolist()
        out = (state.places > 0).sum(axis=1).tolist()
        rows = zip(
            state.emperor.tolist(), state.guard.tolist(), state.solo.tolist(), order, out,
            self.scores(state).tolist(), strict=True,
        )  # fmt: skip
        return [
            {
                "roles": {
                    "emperor": None if emperor == NOBODY else emperor,
                    "guard": None if guard == NOBODY else guard,
                    "solo": SOLO_NAMES[solo],
                },
                "finish": seats[SEATS - gone :],
                "scores": scores,
            }
            for emperor, guard, solo, seats, gone, scores in rows
        ]

    def can_be_void(self, hand_seed: int, redeal: int) -> bool:
        """Whether a deal could have been void: no seat would have to answer a forced call."""
        if self.rules.roles_by == "marks" or self.rules.guard_by != "called_card":
            return False
        state = State(1)
        state.seeds[:] = hand_seed
        state.redeals = redeal
        state.injected = 1  # so that a void ends the hand
        self._deal(state, np.zeros(1, np.intp))
        while state.phase[0] in (Phase.GRAB, Phase.CALL):
            self.step(state, [_DECLINE if state.phase[0] == Phase.GRAB else _CEDE])
        return bool(state.void[0])
