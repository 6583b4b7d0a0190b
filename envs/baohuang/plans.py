"""Evidence of many tables made ready for drawing: tiers of ranks, and weights of the seats.

The unseen cards are dealt to the unseen places in tiers of ranks from the top: whoever added a card
to the tribute pile takes no higher natural, so the seats that take a rank are nested, and the
number of ways for the lower tiers does not depend on how the higher ones lie. The card that makes
the role goes first, to seat j with weight

    (places of j) · Π over higher ranks x that j takes of (places left below x) / (places for x),

which counts the ways for the rest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.dealing import Tiers
from lupai.envs.baohuang.evidence import TOP, Evidence
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import SEATS
from lupai.envs.cards import KIND_B, KIND_TEXTS, RANK_OF_KIND
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]


def contradiction(plan: Plan, table: int) -> LupaiError:
    """The error for a table that no deal fits."""
    return LupaiError(f"table {table}: no deal agrees with {plan.what(table)}")


class Plan:
    """Evidence of N tables made ready for drawing.

    Attributes:
        weight: ``[N, S]`` ways to lay the cards with the secret one at each seat, up to a factor;
            what is tested (suits of added cards, a forced call) not looked at.
        cum, last: ``[N, S]`` running sums of the weights of the seats for the secret card, and the
            last seat ``[N]`` that has one.
        position: ``[N, S]`` as for :class:`Tiers`.
        suited: ``[N]`` tier after which the suits of added cards can be judged, -1: nothing to do.
        asked: ``[N] bool`` a forced call has something to say of the unseen cards.
        tested: ``[N] bool`` worlds are tested for one or both.
    """

    def __init__(self, proofs: Evidence, rules: Rules) -> None:
        self.proofs, self.rules = proofs, rules
        room, bound = proofs.room, proofs.bound
        rows = np.arange(len(room))
        pool = proofs.pool.copy()
        drawn = proofs.secret != NOBODY
        pool[rows[drawn], proofs.secret[drawn]] -= 1
        self._check(pool, drawn)

        self.position = np.where(room > 0, TOP - bound, 0)
        suited = proofs.suited & (room > 0)
        lowest = np.where(suited, TOP - bound, -1).max(axis=1)
        judged = lowest >= 0
        cut = np.zeros((len(room), TOP + 2), bool)
        cut[rows[judged], lowest[judged] + 1] = True
        self.tiers = Tiers(pool, self.position, cut)
        self.suited = np.where(judged, self.tiers.tier[rows, lowest], -1)
        forced = np.maximum(proofs.forced, 0)
        skips = proofs.skipped & (room > 0)
        asked = (proofs.forced != NOBODY) & (room[rows, forced] > 0)
        self.asked = np.logical_or.reduce(skips, axis=1) | asked
        self.tested = judged | self.asked
        self._weigh(pool)

    def what(self, table: int) -> str:
        """Evidence that worlds of a table are tested for, as text."""
        parts = []
        if self.suited[table] >= 0:
            seats = np.flatnonzero(self.proofs.suited[table]).tolist()
            parts.append(f"the suits of the cards added by seats {seats}")
        if self.asked[table]:
            seats = np.flatnonzero(self.proofs.skipped[table]).tolist()
            parts.append(
                f"the forced call (skipped: seats {seats}, asked: {self.proofs.forced[table]})"
            )
        return " and ".join(parts)

    def _check(self, pool: I8, drawn: npt.NDArray[np.bool_]) -> None:
        proofs = self.proofs
        nowhere = ~((proofs.room > 0) & (proofs.odds > 0)).any(axis=1)
        wrong = np.flatnonzero(drawn & (nowhere | (pool < 0).any(axis=1)))
        if wrong.size:
            card = KIND_TEXTS[proofs.secret[wrong[0]]]
            raise LupaiError(f"table {wrong[0]}: no place for the card {card} that makes the role")

    def _weigh(self, pool: I8) -> None:
        """Weights of the seats for the secret card; see the module's docstring."""
        proofs, position = self.proofs, self.position
        by_rank = pool[:, :KIND_B].reshape(len(pool), -1, 4).sum(axis=2)[:, ::-1]
        above = np.cumsum(by_rank, axis=1)
        takes = position[:, :, None] <= np.arange(TOP + 1)
        places = (proofs.room[:, :, None] * takes).sum(axis=1)
        before = places - above + by_rank
        left = np.where(before > 0, (places - above) / np.maximum(before, 1), 1.0)
        rank = RANK_OF_KIND[proofs.secret]  # without a secret card this is not read
        own = np.where(rank > TOP, TOP + 1, TOP - rank)[:, None]
        higher = takes & (np.arange(TOP + 1) < own)[:, None]
        weight = np.where(higher, left[:, None], 1.0).prod(axis=2)
        weight *= proofs.room * proofs.odds * (position <= own)
        self.weight = weight
        self.cum = np.cumsum(weight, axis=1)
        self.last = SEATS - 1 - (weight[:, ::-1] > 0).argmax(axis=1)
