"""Worlds that a seat can imagine: complete tables that agree with all it knows, drawn at random.

Definition. All cards are distinct physical cards, and every deal that is consistent with the public
record and the own hand is equally likely. There is no inference from how somebody plays: only from
what the rules do not allow to happen otherwise (:mod:`lupai.envs.baohuang.evidence` lists it).

Convention. A played card counts as one known physical card, as if it had been drawn blindly from
its player's hand, so that unseen cards lie uniformly in unseen places; of cards that are shown or
added to the tribute only the kind is known, because the rules force which kind that is. Were only
the kind of played cards known too, each deal would be divided by the number of ways to pick the
played copies from those their player held: who has played some of a kind would hold fewer more.

So

* of deals with three copies of the called card in the emperor's hand and the fourth in a given
  place there are four for each one in which he has all four in the same places (as many as copies
  that nobody had seen before: R* and the tribute pile are seen). That is why a secret solo is
  rarer than its places would make it.
* R* is spent with the first R that its holder plays (nobody is told which of them it was), so
  until then he holds an R; the same holds for a B* that is public, and for cards that were shown:
  the first that their holder plays of that kind are those.
* B* is, while the role is hidden, one card among the unseen B's (to play it as such reveals).
  Where it has lost its meaning, after an open solo or a grab, it is any B that was not dealt to
  the viewer, played or not.
* The roles follow from the cards: who holds the fourth copy of the called card, or B*, is guard,
  and if that is the emperor he is secretly alone.

Sampling is exact (:mod:`lupai.envs.baohuang.drawing`), and so are the chances: most have a formula,
and where evidence ties cards together the deals are counted (:mod:`lupai.envs.baohuang.placing`).

Worlds carry no seed. So that no step needs one they count as given deals: a void ends the hand.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang import drawing, evidence, hidden
from lupai.envs.baohuang.counted import Counted
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.placing import Count
from lupai.envs.baohuang.plans import Plan, contradiction
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS, State
from lupai.envs.cards import KIND_B
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
MOST_OPERATIONS: Final = 2e9  # of counting: ten seconds or so
SAMPLE: Final = 1024  # worlds drawn where counting takes too much


def determinize(
    masked: State, viewer: Ints, n: int, rng: np.random.Generator, rules: Rules
) -> State:
    """``n`` worlds for each of N viewers, ``[N * n]`` tables, those of a viewer in a row.

    Args:
        masked: N tables from :func:`~lupai.envs.baohuang.hidden.mask_hidden`.
        viewer: ``[N]`` whose view each is, -1 for a spectator's.
        n: worlds for each, at least 1.
        rng: all randomness.

    Raises:
        LupaiError: the record contradicts itself, or it is too much to count or draw; names the
            table and the evidence.
    """
    plan = Plan(evidence.gather(masked, viewer, rules), rules)
    hands, marked = drawing.draw(plan, n, rng)
    rows = np.repeat(np.arange(len(masked)), n)
    worlds = masked.take(rows)
    hidden.complete(worlds, viewer[rows], hands, marked, rules)
    worlds.injected = 1
    return worlds


def consistent(
    masked: State, viewer: Ints, hands: I8, marked_b: Ints | None, rules: Rules
) -> npt.NDArray[np.bool_]:
    """``[N] bool``: whether a guess could be true: whether :func:`determinize` can draw it.

    Args:
        masked, viewer: as for :func:`determinize`.
        hands: ``[N, S, 54] int8`` all hands.
        marked_b: ``[N]`` who was dealt B*; under rules with marks only.
    """
    proofs = evidence.gather(masked, viewer, rules)
    rows = np.arange(len(masked))
    loose = hands - proofs.known
    good = (loose.sum(axis=1) == proofs.pool).all(axis=1)
    good &= (loose.sum(axis=2) == proofs.room).all(axis=1)
    good &= (loose.reshape(len(loose), -1) >= 0).all(axis=1)
    good &= proofs.ranks_fit(rows, hands) & proofs.suits_fit(rows, hands)
    good &= proofs.triples_fit(rows, hands, rules)
    secret = proofs.secret
    if marked_b is None:
        holder = loose[rows, :, secret].argmax(axis=1)
    else:
        holder = np.asarray(marked_b, np.intp)
        good &= (proofs.marked == NOBODY) | (proofs.marked == holder)
        dealt = hands[rows, holder, KIND_B] + masked.played[rows, holder, KIND_B] > 0
        good &= ~proofs.loose_mark | (dealt & (holder != viewer))
    holds = (loose[rows, holder, secret] > 0) & (proofs.odds[rows, holder] > 0)
    fits: npt.NDArray[np.bool_] = good & ((secret == NOBODY) | holds)
    return fits


def guard_chances(masked: State, viewer: Ints, rules: Rules) -> npt.NDArray[np.float64]:
    """``[N, S + 1]`` chance that each seat is guard, last that the emperor is secretly alone, if
    all consistent deals are equally likely; zeros before there is an emperor.

    Exact, by the number of ways; but where counting them takes too much, which happens to a
    spectator early in a hand after a forced call in which three or four seats were skipped, the
    share among 1,024 drawn worlds, the same ones at every call.

    Args:
        masked, viewer: as for :func:`determinize`.

    Raises:
        LupaiError: the record contradicts itself, or it is too much to count or draw; names the
            table and the evidence.
    """
    n = len(masked)
    if not n:
        return np.zeros((0, SEATS + 1))
    proofs = evidence.gather(masked, viewer, rules)
    plan = Plan(proofs, rules)
    emperor = masked.emperor.astype(np.intp)
    chances = np.zeros((n, SEATS + 1))
    known = np.flatnonzero((proofs.secret == NOBODY) & (emperor != NOBODY))
    guard = masked.guard[known].astype(np.intp)
    chances[known, np.where(guard == NOBODY, SEATS, guard)] = 1
    open_ = np.flatnonzero((proofs.secret != NOBODY) & (emperor != NOBODY))
    chances[open_, :SEATS] = plan.weight[open_] / plan.weight[open_].sum(axis=1, keepdims=True)
    for table in open_[plan.tested[open_]].tolist():
        chances[table, :SEATS] = _by_ways(plan, table)
    chances[open_, SEATS] = chances[open_, emperor[open_]]
    chances[open_, emperor[open_]] = 0
    return chances


def _by_ways(plan: Plan, table: int) -> npt.NDArray[np.float64]:
    """``[S]`` chance that each seat holds the secret card, at a table whose ways are counted."""
    count = Count(plan.proofs, table, plan.rules)
    if count.operations <= MOST_OPERATIONS:
        ways = count.weights()
        if not ways.any():
            raise contradiction(plan, table)
        chances: npt.NDArray[np.float64] = ways / ways.sum()
        return chances
    rng = np.random.default_rng(0)  # for each table: beside others the answer is the same
    made = Counted(plan, table).draw(SAMPLE, rng)
    return np.bincount(made.marked, minlength=SEATS) / SAMPLE
