"""What may still be out against a player: unseen cards, and who can beat which set with them.

Everything is worked out once for each of N tables, from the own hand and public columns alone.
Other seats are counted from the player's: column ``j - 1`` of an ``[N, 4]`` array is seat
``me + j``. Of a set only rank, naturals and jokers matter (:mod:`lupai.envs.baohuang.sets`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.chances import F32, LEVELS, SIZES, log_misses, tails
from lupai.envs.baohuang.asking import ALL
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_OF_KIND, RANK_R
from lupai.envs.seats import members
from lupai.envs.sets import MAX_NATURALS, ROW_JOKERS

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

OTHERS: Final = SEATS - 1
_FULL: Final = {"called_card": 216 / SEATS, "marks": 165 / SEATS}
_MEMBERS: Final = members(SEATS).astype(bool)
_RELATIVE: Final = (np.arange(SEATS)[:, None] + np.arange(1, SEATS)) % SEATS


class Count:
    """Cards of N players and what is out against each.

    Attributes:
        own: ``[N, 15]`` own cards by rank, an own 特画 not among them.
        own_x, unseen_x: ``[N]`` whether the player holds 特画; whether another one does.
        unseen: ``[N, 15]`` cards in the other hands.
        seats: ``[N, 4]`` the other seats.
        sizes: ``[N, 4]`` their hand sizes.
        alive, to_answer: ``[N, 4]`` who holds cards; who may still beat a set played now.
        share: ``[N, 4]`` of the unseen cards.
        jokers: ``[N]`` unseen jokers, 特画 among them; ``bigs``: those that beat a small joker.
        can: ``[N, 4, 14, SIZES]`` chance that each can beat so many naturals of a rank with
            naturals alone; of the last row (jokers alone) none.
        start: cards of a full hand; with small decks hands are never full.
    """

    def __init__(self, rules: Rules, state: Any, me: npt.NDArray[np.intp]) -> None:
        n = len(me)
        row = np.arange(n)
        deck = rules.cards.counts.astype(np.int64)
        by_rank = np.bincount(RANK_OF_KIND, deck, RANK_R + 1).astype(np.int64)
        played = _ranks_of(state.played.sum(axis=1, dtype=np.int64))
        self.me = me
        self.own = state.ranks[row, me].astype(np.int64)
        self.unseen = by_rank - played - self.own
        self.own_x = np.zeros(n, bool)
        self.unseen_x = np.zeros(n, bool)
        if rules.supreme:
            self._set_x_apart(state, row)
        self.seats = _RELATIVE[me]
        self.sizes = state.sizes[row[:, None], self.seats].astype(np.int64)
        self.my_size = state.sizes[row, me].astype(np.int64)
        alive = np.where(state.phase < PHASE_PLAY, ALL, state.alive)
        self.alive = _MEMBERS[alive[:, None], self.seats]
        out = state.left_trick[:, None] >> self.seats & 1 == 1
        self.to_answer = self.alive & ~out
        total = np.maximum(self.sizes.sum(axis=1), 1)
        self.share = self.sizes / total[:, None]
        self.level = np.rint(self.share * LEVELS).astype(np.intp)
        self.bigs = self.unseen[:, RANK_R] + self.unseen_x
        self.jokers = self.bigs + self.unseen[:, RANK_B]
        self.start = _FULL[rules.roles_by]
        # of those who may answer now, and in later tricks
        self.largest = np.where(self.to_answer, self.sizes, 0).max(axis=1)
        self.largest_later = np.where(self.alive, self.sizes, 0).max(axis=1)
        self._chances()

    def _set_x_apart(self, state: Any, row: I64) -> None:
        """特画 is no natural card: take it out of its rank, in the own hand or in those unseen."""
        kind = state.identity_kind.astype(np.intp)
        holder = state.identity_seat.astype(np.intp)  # masked: the own, or public
        called = kind >= 0
        rank = np.where(called, RANK_OF_KIND[kind], 0)
        gone = (holder < 0) & (state.public == 1)  # played, or nobody's
        self.own_x = called & (holder == self.me)
        self.unseen_x = called & ~self.own_x & ~gone
        self.own[row, rank] -= self.own_x
        self.unseen[row, rank] -= self.unseen_x

    def _chances(self) -> None:
        n = len(self.me)
        copies = np.clip(self.unseen[:, :NATURAL_RANKS], 0, MAX_NATURALS)
        index = self.level[:, :, None] * (MAX_NATURALS + 1) + copies[:, None]
        can = np.zeros((n, OTHERS, ROW_JOKERS + 1, SIZES), np.float32)
        above = can[:, :, : NATURAL_RANKS - 1]  # chances against each rank but the highest
        log_misses().reshape(-1, SIZES).take(index[:, :, 1:], axis=0, out=above, mode="clip")
        for rank in range(NATURAL_RANKS - 3, -1, -1):
            above[:, :, rank] += above[:, :, rank + 1]
        np.exp(above, out=above)
        np.subtract(1, above, out=above)
        can[:, :, :, 0] = 1
        can *= self.alive[:, :, None, None]
        self.can = can
        tail = tails()
        self.has_joker = tail[self.level, np.minimum(self.jokers, 8)[:, None], 1]
        self.big_tail = tail[self.level, self.bigs[:, None]][:, :, :6]  # [N, 4, count]
        # expected other hands with just so many of a rank, as if all were of the mean size
        players = np.maximum(self.alive.sum(axis=1), 1)
        middle = np.rint(LEVELS / players).astype(np.intp)
        self.exact = tail.reshape(-1, SIZES)[middle[:, None] * (MAX_NATURALS + 1) + copies]
        self.exact[..., :-1] -= self.exact[..., 1:]
        self.exact *= players[:, None, None].astype(np.float32)
        most = np.zeros((n, ROW_JOKERS + 1), np.int64)
        for rank in range(NATURAL_RANKS - 2, -1, -1):
            most[:, rank] = np.maximum(most[:, rank + 1], self.unseen[:, rank + 1])
        self.most_above = most  # [N, 14] unseen copies of the best-stocked higher rank

    def beaten(
        self, at: I64, rank: I64, n: I64, b: I64, r: I64, x: I64, nat: F32, hung: F32
    ) -> F32:
        """Chance ``[C, 4]`` that each other player beats a set.

        Args:
            at: ``[C]`` table of each set; then its parts.
            nat, hung: ``[C, 4]`` willingness to do so with naturals alone, and with jokers.
        """
        size = n + b + r + x
        low = np.minimum(size, SIZES - 1)
        plain = (b == 0) & (r == 0) & (x == 0)
        natural = self.can[at, :, rank, low] * nat * plain[:, None]
        more = np.maximum(np.where(plain, 1, b), 1)  # jokers that an answer needs at least
        rest = np.clip(size - more, 0, SIZES - 1)
        jokers = np.where(
            plain[:, None], self.has_joker[at], self.big_tail[at, :, np.minimum(b, 5)]
        )
        jokers = jokers * self.can[at, :, rank, rest]
        jokers = jokers * ((r == 0) & (x == 0))[:, None]
        only_x = (r == 1) & (x == 0) & self.unseen_x[at]
        if only_x.any():
            jokers = np.where(only_x[:, None], self.share[at] * 0.5, jokers)
        some: F32 = 1 - (1 - natural) * (1 - jokers * hung)
        some *= self.sizes[at] >= size[:, None]
        return some

    def sure(self, at: I64, rank: I64, n: I64, b: I64, r: I64, x: I64, twos: bool) -> Bools:
        """``[C] bool``: sets that no other hand can beat, whatever it holds of the unseen cards.

        Args:
            twos: whether 222 beats a single R.
        """
        size = n + b + r + x
        stock = self.most_above[at, rank]
        plain = stock + self.jokers[at] < size
        good: Bools = plain | (self.largest[at] < size) | (x > 0) | (r > 1)
        good |= (r == 1) & ~self.unseen_x[at]
        good |= (r == 0) & (b > self.bigs[at])
        if twos:
            good &= ~((size == 1) & (r == 1) & (self.unseen[at, NATURAL_RANKS - 1] >= 3))
        return good


def _ranks_of(kinds: I64) -> I64:
    naturals = kinds[:, :52].reshape(-1, NATURAL_RANKS, 4).sum(axis=2)
    return np.concatenate([naturals, kinds[:, 52:]], axis=1)
