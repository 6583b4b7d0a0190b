"""The rules engine: B tables of Gouji at once, every decision of a step in one call.

>>> import numpy as np
>>> engine = Engine()
>>> state = engine.reset([0, 1, 2])
>>> rng = np.random.default_rng(0)
>>> while not state.over.all():
...     tables = np.flatnonzero(~state.over)
...     legal = engine.legal(state, tables)
...     engine.step(state, legal.pick(rng.random(len(tables))), tables, legal=legal)
>>> engine.scores(state).sum(axis=1).tolist()
[0, 0, 0]
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
from pydantic import Field

from lupai.envs.cards import NUM_KINDS
from lupai.envs.errors import LupaiError, RulesError
from lupai.envs.gouji import (
    before,
    dealing,
    hidden,
    notation,
    observation,
    play,
    scoring,
    tribute,
)
from lupai.envs.gouji.actions import ACTIONS, VERB_ID
from lupai.envs.gouji.legal import Legal
from lupai.envs.gouji.orders import SEATS
from lupai.envs.gouji.revolution import RANK_2
from lupai.envs.gouji.rules import Rules, load_rules
from lupai.envs.gouji.state import PHASE_NAMES, Phase, State
from lupai.envs.gouji.texts import Texts
from lupai.envs.layout import Layout
from lupai.envs.packed import RECENT
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
Ints = npt.NDArray[Any]

Seat = Annotated[int, Field(ge=0, lt=SEATS)]
_REVOLT: Final = VERB_ID["revolt"]


def _public_ids() -> npt.NDArray[np.int32]:
    ids = np.arange(ACTIONS.size, dtype=np.int32)
    ids[_REVOLT] = VERB_ID["silent"]  # until all have answered
    return ids


class Engine(Texts):
    """Rules engine for one set of options.

    Args:
        rules: preset name, rules string, path of a YAML file, dict or :class:`Rules`.

    Raises:
        RulesError: unknown or impossible options.
    """

    game = "gouji"
    seats = SEATS
    phases = PHASE_NAMES
    state_class = State
    rules_class = Rules
    public_ids = _public_ids()
    record_fields = MappingProxyType({"revolter": Seat | None, "recorded": list[int]})
    reset_options = ("previous_finish",)
    observation_layout: Final[Layout] = observation.OBSERVATION
    state_layout: Final[Layout] = observation.STATE

    def __init__(self, rules: Rules | str | dict[str, Any] = "shandong") -> None:
        self.rules = load_rules(rules)
        self._options = observation.option_vector(self.rules)

    # --- the course of a hand ------------------------------------------------------------------

    def reset(self, seeds: Any, episodes: Any = 0, previous_finish: Any = None) -> State:
        """Deal B tables.

        Args:
            seeds: one seed or ``[B]``, each in 0 … 2**64 - 1.
            episodes: number of the episode under each seed, ``[B]`` or one for all.
            previous_finish: with ``tribute``: the six seats in the order in which the previous
                hand ended, one order or ``[B, 6]``; without it nobody gives anything.

        Raises:
            SeedError: a seed out of range.
            RulesError: no order of six seats, or one under rules without tribute.
        """
        state = self._seeded(seeds, episodes)
        self._set_previous(state, previous_finish)
        self._deal(state, np.arange(len(state)))
        return state

    def _set_previous(self, state: State, previous_finish: Any) -> None:
        if previous_finish is None:
            return
        if not self.rules.tribute:
            raise RulesError("previous_finish: there is no tribute under these rules")
        order = np.asarray(previous_finish)
        good = order.dtype.kind in "iu" and order.shape in ((SEATS,), (len(state), SEATS))
        if not good or (np.sort(order.reshape(-1, SEATS), axis=1) != np.arange(SEATS)).any():
            raise RulesError(
                f"previous_finish {previous_finish!r}: give all six seats 0 … 5, each once, in the "
                f"order in which the previous hand ended"
            )
        state.previous[:] = order

    def reset_hands(self, hands: list[str], start: int, previous_finish: Any = None) -> State:
        """One table with a given deal, each hand in deal order (the first leader depends on it);
        if it turns out void the hand ends with scores 0.

        Args:
            hands: six texts of cards separated by one space.
            start: seat that got the first card, 0 … 5.
            previous_finish: see :meth:`reset`.

        Raises:
            NotationError: an unreadable card.
            RulesError: the hands are not a deal of this deck from this start seat, or a wrong
                order.
        """
        orders = self.parse_deal(hands, start)[None]
        return self.reset_deals(orders, np.array([start]), previous_finish)

    def reset_deals(
        self, codes: npt.NDArray[Any], starts: Ints, previous_finish: Any = None
    ) -> State:
        """B tables with given deals ``codes [B, 216]`` in deal order and start seats ``[B]``, as
        :meth:`parse_deal` gives and checks them; a void ends the hand with scores 0."""
        state = State(len(codes))
        state.injected = 1
        self._set_previous(state, previous_finish)
        self._begin(state, np.arange(len(codes)), codes, starts)
        return state

    def _packed_deal(
        self, order: npt.NDArray[np.uint8], start: npt.NDArray[np.int8]
    ) -> npt.NDArray[np.uint8]:
        """The codes in deal order, ``[B, 216]``."""
        return order

    def differing_seat(self, deal: Any, other: Any, start: int) -> int | None:
        """First seat that gets other cards, or in another order; None for none."""
        wrong = np.flatnonzero(deal != other)
        return int((start + wrong[0]) % SEATS) if wrong.size else None

    def _redealt(self, state: State, t: Ints) -> State:
        fresh = super()._redealt(state, t)
        fresh.previous[:] = state.previous[t]
        return fresh

    def _begin(self, state: State, t: Ints, codes: npt.NDArray[Any], start: Ints) -> None:
        seat = (np.asarray(start)[:, None] + np.arange(codes.shape[1])) % SEATS
        flat = (np.arange(len(t))[:, None] * SEATS + seat) * NUM_KINDS + codes
        counts = np.bincount(flat.ravel(), minlength=len(t) * SEATS * NUM_KINDS)
        hands = counts.reshape(len(t), SEATS, NUM_KINDS).astype(np.int8)
        self._give(state, t, hands, start)
        before.begin(state, t, dealing.first_leaders(codes, start), self.rules)

    def no_moves(self, n: int) -> Legal:
        return Legal.empty(n)

    def _legal_before(self, state: State, t: Ints) -> Legal:
        return before.legal_before(state, t)

    def _legal_in_play(self, state: State, t: Ints) -> Legal:
        return play.legal(state, t, self.rules)

    def _step_before(self, state: State, t: Ints, actions: Ints, cards: I8 | None) -> Ints:
        void = before.step_before(state, t, actions, self.rules, cards)
        self._show_revolt(state, t[state.phase[t] == Phase.WAIVE])
        return void

    def _show_revolt(self, state: State, t: Ints) -> None:
        """All have answered: the ring of recent moves may tell who revolted."""
        latest = (state.moves[t, None] - np.arange(1, SEATS + 1)) % RECENT
        row, which = np.nonzero(state.recent[t[:, None], latest, 0] == state.revolter[t, None])
        state.recent[t[row], latest[row, which], 1] = _REVOLT

    def _step_in_play(self, state: State, t: Ints, actions: Ints, cards: I8 | None) -> None:
        play.step(state, t, actions, self.rules, cards)

    def _check_cards(self, state: State, t: Ints, actions: Ints, cards: I8) -> None:
        notation.check_cards(state, t, actions, cards)

    def can_be_void(self, hand_seed: int, redeal: int, previous_finish: Any = None) -> bool:
        """Whether a deal could have been void: two seats could revolt, after tribute."""
        if not self.rules.revolution:
            return False
        codes, start = self.dealt_codes(np.array([hand_seed], np.uint64), np.array([redeal]))
        state = State(1)
        self._begin(state, np.arange(1), codes, start)
        special = state.ranks[0, :, RANK_2:].sum(axis=1).tolist()
        self._set_previous(state, previous_finish)
        return tribute.most_bare(special, state.previous[0].tolist()) >= 2

    # --- what is seen --------------------------------------------------------------------------

    def _encode(self, state: State, t: Ints | None, viewer: Ints, out: I8 | None) -> I8:
        return observation.encode(state, t, viewer, self._options, out)

    def _encode_state(self, state: State, t: Ints) -> I8:
        return observation.encode_state(state, t, self._options)

    def _mask(self, state: State, t: Ints, viewer: Ints) -> State:
        return hidden.mask_hidden(state, t, viewer)

    def fill_hidden(
        self, masked: State, seats: npt.ArrayLike, hands: I8, marked_b: Any = None
    ) -> State:
        """Complete states from :meth:`mask_hidden` and guessed hands ``[N, 6, 54]``.

        Raises:
            LupaiError: a holder of B*, which this game has not.
            RecordError: see :func:`lupai.envs.gouji.hidden.fill_hidden`.
        """
        if marked_b is not None:
            raise LupaiError("marked_b: there is no marked joker in Gouji")
        return hidden.fill_hidden(masked, self._viewers(seats, len(masked), NOBODY), hands)

    # --- the end -------------------------------------------------------------------------------

    def scores(self, state: State) -> npt.NDArray[np.int64]:
        """Final scores ``[B, 6] int64``; zeros at tables that are not over."""
        return scoring.scores(state)

    def _finish(self, state: State) -> list[list[int]]:
        """Seats of each table by place, the revolter left out."""
        listed = zip(super()._finish(state), state.revolter.tolist(), strict=True)
        return [[seat for seat in seats if seat != revolter] for seats, revolter in listed]

    def _results(self, state: State) -> list[dict[str, Any]]:
        """Who revolted, and the points that the two sides record."""
        points = scoring.scores(state)[:, :2].clip(0).tolist()
        return [
            {"revolter": None if revolter == NOBODY else revolter, "recorded": recorded}
            for revolter, recorded in zip(state.revolter.tolist(), points, strict=True)
        ]
