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

from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from lupai.envs.baohuang import hidden, notation, observation, play, roles, scoring, worlds
from lupai.envs.baohuang.actions import PUBLIC_ID, VERB_ID
from lupai.envs.baohuang.legal import Ints, Legal
from lupai.envs.baohuang.rules import Rules, load_rules
from lupai.envs.baohuang.state import PHASE_NAMES, SEATS, SOLO_NAMES, Phase, State
from lupai.envs.baohuang.texts import Texts
from lupai.envs.cards import CODE_B_MARKED, CODE_R_MARKED, KIND_B, KIND_R, NUM_KINDS
from lupai.envs.layout import Layout
from lupai.envs.records import Seat
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
_DECLINE: Final = VERB_ID["decline"]
_CEDE: Final = VERB_ID["cede"]


class Roles(BaseModel):
    """Field ``roles`` of a record."""

    model_config = ConfigDict(extra="forbid", strict=True)
    emperor: Seat | None
    guard: Seat | None
    solo: Literal["grab", "open", "secret"] | None


class Engine(Texts):
    """Rules engine for one set of options.

    Args:
        rules: preset name, rules string, path of a YAML file, dict or :class:`Rules`.

    Raises:
        RulesError: unknown or impossible options.
    """

    game = "baohuang"
    seats = SEATS
    phases = PHASE_NAMES
    state_class = State
    rules_class = Rules
    public_ids = PUBLIC_ID
    record_fields = MappingProxyType({"roles": Roles})
    observation_layout: Final[Layout] = observation.OBSERVATION
    state_layout: Final[Layout] = observation.STATE

    def __init__(self, rules: Rules | str | dict[str, Any] = "qingdao") -> None:
        self.rules = load_rules(rules)
        self._constant = observation.constants(self.rules)

    # --- the course of a hand ------------------------------------------------------------------

    def _begin(self, state: State, t: Ints, codes: I8, start: Ints) -> None:
        hands = codes[:, :, :NUM_KINDS].copy()
        hands[:, :, KIND_R] += codes[:, :, CODE_R_MARKED]
        hands[:, :, KIND_B] += codes[:, :, CODE_B_MARKED]
        self._give(state, t, hands, start)
        crown = codes[:, :, CODE_R_MARKED].argmax(axis=1)
        state.crown[t] = crown
        state.first_holder[t] = crown
        marked_b = codes[:, :, CODE_B_MARKED]
        state.marked_b[t] = np.where(marked_b.any(axis=1), marked_b.argmax(axis=1), NOBODY)
        roles.begin(state, t, self.rules)

    def no_moves(self, n: int) -> Legal:
        """No legal move at any of n tables."""
        return Legal.empty(n, int(self.rules.supreme))

    def _legal_before(self, state: State, t: Ints) -> Legal:
        return roles.legal(state, t, self.rules)

    def _legal_in_play(self, state: State, t: Ints) -> Legal:
        return play.legal(state, t, self.rules)

    def _step_before(self, state: State, t: Ints, actions: Ints, cards: I8 | None) -> Ints:
        return roles.step(state, t, actions, self.rules)

    def _step_in_play(self, state: State, t: Ints, actions: Ints, cards: I8 | None) -> None:
        play.step(state, t, actions, self.rules, cards)

    def _check_cards(self, state: State, t: Ints, actions: Ints, cards: I8) -> None:
        notation.check_cards(state, t, actions, cards, supreme=self.rules.supreme)

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

    # --- what is seen --------------------------------------------------------------------------

    def _encode(self, state: State, t: Ints | None, viewer: Ints, out: I8 | None) -> I8:
        return observation.encode(state, t, viewer, self._constant, out)

    def _encode_state(self, state: State, t: Ints) -> I8:
        return observation.encode_state(state, t, self._constant)

    def _mask(self, state: State, t: Ints, viewer: Ints) -> State:
        return hidden.mask_hidden(state, t, viewer)

    def _worlds(self, masked: State, viewer: Ints, n: int, rng: np.random.Generator) -> State:
        """See :mod:`lupai.envs.baohuang.worlds`: mostly well under a millisecond; for a spectator
        of a full deck after a forced call some seconds."""
        return worlds.determinize(masked, viewer, n, rng, self.rules)

    def fill_hidden(
        self,
        masked: State,
        seats: npt.ArrayLike,
        hands: npt.NDArray[np.int8],
        marked_b: npt.ArrayLike | None = None,
    ) -> State:
        """Complete states from :meth:`mask_hidden`, guessed hands ``[N, S, 54]`` and, where there
        are marks, the guessed holder of B* ``[N]``."""
        viewer = self._viewers(seats, len(masked), NOBODY)
        marked = None if marked_b is None else np.asarray(marked_b, dtype=np.intp).reshape(-1)
        return hidden.fill_hidden(masked, viewer, hands, marked, self.rules)

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
        viewer = self._viewers(seats, len(t), NOBODY)
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
        viewer = self._viewers(seats, len(t), NOBODY)
        marked = None if marked_b is None else np.asarray(marked_b, dtype=np.intp).reshape(-1)
        masked = hidden.mask_hidden(state, t, viewer)
        return worlds.consistent(masked, viewer, hands, marked, self.rules)

    # --- the end -------------------------------------------------------------------------------

    def scores(self, state: State) -> npt.NDArray[np.int64]:
        """Final scores ``[B, S] int64``; zeros at tables that are not over."""
        return scoring.final_scores(state, self.rules)

    def _results(self, state: State) -> list[dict[str, Any]]:
        """True roles."""
        seats = zip(state.emperor.tolist(), state.guard.tolist(), state.solo.tolist(), strict=True)
        return [
            {
                "roles": {
                    "emperor": None if emperor == NOBODY else emperor,
                    "guard": None if guard == NOBODY else guard,
                    "solo": SOLO_NAMES[solo],
                }
            }
            for emperor, guard, solo in seats
        ]

    def _last_words(self, state: State) -> list[dict[str, Any]]:
        """The multiplier m (rules §6)."""
        return [{"multiplier": multiplier} for multiplier in state.multiplier.tolist()]
