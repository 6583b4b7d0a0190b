"""Decisions of recorded hands at which somebody does not know who is guard, as views with labels.

*Decisions*: every question that is put to anybody, from when there are an emperor and a hidden role
until that role is public. At each, three *observers* are asked: ``rebel``, one player who is
neither emperor nor guard, drawn by the deal and the same for the whole hand (three of them see
nearly the same); ``emperor``, in hands in which he has a guard (alone he knows it); ``spectator``,
who sees what is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.base import ALONE, OBSERVERS
from lupai.agents.belief.course import course_of
from lupai.agents.belief.features import features
from lupai.agents.belief.views import HandViews, PublicLog
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS, Solo, State
from lupai.envs.game import Game
from lupai.envs.replays import Replays
from lupai.envs.seats import NOBODY
from lupai.train.belief.splits import deal_hash, one_of

__all__ = ["OBSERVERS", "Decisions", "answer_features", "decisions_of", "redrawn"]

I64 = npt.NDArray[np.int64]


@dataclass
class Decisions:
    """D decisions of H hands, hand by hand in order. WARNING, god's eye.

    Attributes:
        engine: the rules.
        state: ``[D]`` tables.
        hand: ``[D]`` 0 … H - 1.
        number: ``[D]`` of the decision within the hidden part of its hand, from 0.
        trick: ``[D]`` tricks begun, the one that a lead would begin among them; 0 before play.
        label: ``[D]`` who is guard: a seat, or ALONE.
        rebel: ``[H]`` the observer; -1 in hands without decisions.
        ends_public: ``[H] bool``: the role became public before the hand ended.
        log: public moves of the hands, up to the last decision and no further.
        whole: the same with the answer to the last decision, which may show the role.
        records: the hands.
    """

    engine: Game
    state: Any
    hand: I64
    number: I64
    trick: I64
    label: I64
    rebel: I64
    ends_public: npt.NDArray[np.bool_]
    log: PublicLog
    whole: PublicLog
    records: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.hand)

    def rows(self, observer: str) -> I64:
        """Decisions ``[N]`` at which an observer is asked."""
        if observer == "emperor":
            return np.flatnonzero(self.label != ALONE)
        return np.arange(len(self))

    def some(self, moments: int) -> npt.NDArray[np.bool_]:
        """``[D]``: so many decisions of each hand, drawn by its deal; all where it has no more."""
        chosen = np.zeros(len(self), bool)
        for h in np.unique(self.hand).tolist():
            mine = np.flatnonzero(self.hand == h)
            if len(mine) > moments:
                seed = int(deal_hash(self.records[h])[32:48], 16)
                mine = np.random.default_rng(seed).choice(mine, moments, replace=False)
            chosen[mine] = True
        return chosen

    def views(self, observer: str) -> HandViews:
        """What an observer knew at each of :meth:`rows`.

        Raises:
            ValueError: no such observer.
        """
        rows = self.rows(observer)
        if observer == "rebel":
            seats: Any = self.rebel[self.hand[rows]]
        elif observer == "emperor":
            seats = self.state.emperor[rows]
        elif observer == "spectator":
            seats = np.full(len(rows), NOBODY)
        else:
            raise ValueError(f"observer {observer!r}: none of {', '.join(OBSERVERS)}")
        texts = [record["moves"] for record in self.records]
        hand = self.hand[rows]
        return HandViews(self.engine, self.state, seats, rows, hand=hand, log=self.log, texts=texts)


def decisions_of(engine: Game, records: Sequence[dict[str, Any]]) -> Decisions:
    """Replay hands.

    Args:
        engine: rules of all of them.
        records: of :func:`~lupai.envs.records.load_record`.

    Raises:
        RecordError: a hand of other rules, or one that cannot be; names it by its place.
    """
    replays = Replays(engine, records)
    count = len(replays)
    states: list[State] = []
    hands: list[I64] = []
    tricks: list[I64] = []
    begun = np.zeros(count, np.int64)
    lengths = np.zeros(count, np.int64)
    for k, on in replays:
        state = replays.state
        leads = (state.phase[on] == PHASE_PLAY) & (state.standing[on] == NOBODY)
        begun[on] += leads
        hidden = on[_hidden(state, on)]
        if hidden.size:
            states.append(state.take(hidden))
            hands.append(hidden)
            tricks.append(begun[hidden])
            lengths[hidden] = k
    hand = np.concatenate([*hands, np.zeros(0, np.int64)])
    order = np.argsort(hand, kind="stable")
    state = joined(states).take(order) if states else State(0)
    hand = hand[order]
    first = np.searchsorted(hand, np.arange(count))
    emperor = state.emperor.astype(np.int64)
    label = np.where(state.guard == NOBODY, ALONE, state.guard).astype(np.int64)
    rebel = np.full(count, NOBODY)
    for h in np.unique(hand).tolist():
        row = first[h]
        others = [seat for seat in range(SEATS) if seat not in (emperor[row], label[row])]
        rebel[h] = others[one_of(deal_hash(replays.records[h]), len(others))]
    asked = np.bincount(hand, minlength=count) > 0
    log = PublicLog.of_actions(replays.seats, replays.actions)
    ends = np.array(replays.state.public == 1) if count else np.zeros(0, bool)
    return Decisions(
        engine=engine,
        state=state,
        hand=hand,
        number=np.arange(len(hand)) - first[hand],
        trick=np.concatenate([*tricks, np.zeros(0, np.int64)])[order],
        label=label,
        rebel=rebel,
        ends_public=ends & asked,
        log=log.cut(lengths),
        whole=log.cut(lengths + asked),
        records=replays.records,
    )


def answer_features(decisions: Decisions) -> I64:
    """``[D]`` what was answered at each decision, as :func:`~lupai.agents.belief.features.features`
    has it."""
    if not len(decisions):
        return np.zeros(0, np.int64)
    state, hand = decisions.state, decisions.hand
    emperor = np.full(len(decisions.whole), NOBODY)
    dealt = np.zeros((len(decisions.whole), SEATS), np.int64)
    emperor[hand] = state.emperor
    dealt[hand] = state.sizes + state.played.sum(axis=2, dtype=np.int64)
    course = course_of(decisions.whole, dealt, decisions.engine.rules)
    found: I64 = features(decisions.whole, course, emperor)[hand, state.moves].astype(np.int64)
    return found


def redrawn(chances: npt.NDArray[np.float64], rng: np.random.Generator) -> I64:
    """``[N]`` labels drawn from chances ``[N, 6]``, each row for itself: who could have been guard.

    Drawn from the grounded chances of a view they agree with all that it knows, and nothing that
    anybody did tells more of them.
    """
    upto = chances.cumsum(axis=1)
    place = rng.random(len(chances)) * upto[:, -1]
    labels: I64 = (upto > place[:, None]).argmax(axis=1)
    return labels


def _hidden(state: Any, t: I64) -> npt.NDArray[np.bool_]:
    """Tables at which there is an emperor, and a role that is not public."""
    role = (state.guard[t] != NOBODY) | (state.solo[t] == Solo.SECRET)
    hidden: npt.NDArray[np.bool_] = (state.emperor[t] != NOBODY) & role & (state.public[t] == 0)
    return hidden


def joined(states: Sequence[State]) -> State:
    """Tables of several states, one after another."""
    out = State.__new__(State)
    for name in states[0].arrays():
        setattr(out, name, np.concatenate([getattr(state, name) for state in states]))
    return out
