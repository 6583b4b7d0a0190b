"""What may still be out against a player, and who may and can beat which set with it.

Everything is worked out once for each of N tables, from the own hand and public columns alone.
Other seats are counted from the player's: column ``j - 1`` of an ``[N, 5]`` array is seat
``me + j``; column 2 is the 对头, columns 1 and 3 are the mates. Of a set its row, its cards of that
row (attached 2s counted), small and big jokers matter.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.chances import F32, LEVELS, SIZES, log_misses, tails
from lupai.envs.cards import NATURAL_RANKS, RANK_B, RANK_R, count_ranks, four_packs
from lupai.envs.gouji.orders import ALL, GAP, SEATS
from lupai.envs.gouji.sets import GOUJI_FROM, ROW_TWOS
from lupai.envs.gouji.state import Phase
from lupai.envs.seats import members
from lupai.envs.sets import MAX_NATURALS, ROWS

I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

OTHERS: Final = SEATS - 1
OPPOSITE: Final = 2  # column of the 对头
FRIEND: Final[F32] = np.array([0, 1, 0, 1, 0], np.float32)
FULL: Final = 36
_DECK: Final = count_ranks(four_packs(marked_r=False).counts).astype(np.int64)
_MEMBERS: Final = members(SEATS).astype(bool)
_RELATIVE: Final = (np.arange(SEATS)[:, None] + np.arange(1, SEATS)) % SEATS


def asked_later(state: Any) -> I64:
    """``[N]`` seats, as bits, that are still to be asked about the standing set after the actor."""
    queue = state.queue.astype(np.int64)
    out = np.zeros(len(queue), np.int64)
    for place in range(SEATS):
        seat = queue >> 3 * place & GAP
        out |= np.where(seat == GAP, 0, 1 << seat)
    owner = np.maximum(state.owner, 0).astype(np.int64)
    entitled = 1 << (owner + SEATS // 2) % SEATS | state.headless & ~state.passed
    burns = (state.burning == 1) & (state.kind != 2)
    entitled = entitled & state.alive & ~(1 << owner)
    return np.where(burns, out | entitled, out)


class Count:
    """Cards of N players and what is out against each.

    Attributes:
        own, unseen: ``[N, 15]`` own cards, and those in the other hands, by rank.
        seats, sizes: ``[N, 5]`` the other seats and their hand sizes; ``my_size [N]``.
        alive: ``[N, 5]`` who holds cards and plays.
        free: ``[N]`` no 够级 for this player: he is 无头, or it is 四人乱缠.
        may, later: ``[2, N, 5]`` who may answer his set, ordinary (0) or 够级 (1), played now; and
            in a later trick. Burners do not count.
        bigs, smalls, twos: ``[N]`` unseen.
        can: ``[N, 5, 14, SIZES]`` chance that each holds so many naturals below 2 of some rank
            above a row.
        help: ``[2, N, 5]`` chance that each holds at least one, at least two of 2s and jokers.
        joker_tail, big_tail: ``[N, 5, SIZES]`` chance of at least so many jokers, big jokers.
        exact: ``[N, 12, SIZES]`` expected other hands with just so many of a rank.
        most_above: ``[N, 14]`` unseen copies of the best-stocked rank below 2 above a row.
        largest: ``[N]`` largest hand of another one.
    """

    def __init__(self, state: Any, me: npt.NDArray[np.intp]) -> None:
        row = np.arange(len(me))
        played = count_ranks(state.played.sum(axis=1, dtype=np.int8)).astype(np.int64)
        self.me = me
        self.own = state.ranks[row, me].astype(np.int64)
        self.unseen = _DECK - played - self.own
        self.seats = _RELATIVE[me]
        self.sizes = state.sizes[row[:, None], self.seats].astype(np.int64)
        self.my_size = state.sizes[row, me].astype(np.int64)
        alive = np.where(state.phase < Phase.PLAY, ALL, state.alive)
        self.alive = self.among(alive)
        # who beats the 底牌 of 头科, or lets it stand, makes his 对头 headless
        beheaded = 1 << (np.maximum(state.owner, 0) + SEATS // 2) % SEATS
        behead = state.headless | np.where(state.bottom == 1, beheaded, 0)
        headless = self.among(behead)
        self.free = (state.melee == 1) | (behead >> me & 1 == 1)
        spent = self.among(state.passed) & (state.melee == 0)[:, None]
        opposite = np.arange(OTHERS) == OPPOSITE
        protected = (state.deaths > 0) & (state.revolter == (me + SEATS // 2) % SEATS)
        entitled = self.alive & (opposite | headless) & ~protected[:, None]
        free = self.free[:, None]
        self.may = np.stack(
            [
                self.alive & (~spent | opposite & ~free),
                np.where(free, self.alive & ~spent, entitled & (opposite | ~spent)),
            ]
        )
        self.later = np.stack([self.alive, np.where(free, self.alive, entitled)])
        self.largest = np.where(self.alive, self.sizes, 0).max(axis=1)
        self.bigs, self.smalls = self.unseen[:, RANK_R], self.unseen[:, RANK_B]
        self.twos = self.unseen[:, ROW_TWOS]
        self._chances()

    def among(self, mask: npt.NDArray[Any]) -> Bools:
        """``[N, 5]``: which of the other seats belong to sets of seats ``[N]``, given as bits."""
        found: Bools = _MEMBERS[mask.astype(np.intp)[:, None], self.seats]
        return found

    def _chances(self) -> None:
        n = len(self.me)
        # a revolter's cards are unseen too, but he holds no 2 and no joker
        held = self.sizes / np.maximum(self.sizes.sum(axis=1), 1)[:, None]
        live = self.sizes * self.alive
        level = np.rint(held * LEVELS).astype(np.intp)
        special = np.rint(live / np.maximum(live.sum(axis=1), 1)[:, None] * LEVELS).astype(np.intp)
        copies = np.clip(self.unseen[:, :ROW_TWOS], 0, MAX_NATURALS)
        can = np.zeros((n, OTHERS, ROWS, SIZES), np.float32)
        above = can[:, :, : ROW_TWOS - 1]
        index = level[:, :, None] * (MAX_NATURALS + 1) + copies[:, None, 1:]
        log_misses().reshape(-1, SIZES).take(index, axis=0, out=above, mode="clip")
        for rank in range(ROW_TWOS - 3, -1, -1):
            above[:, :, rank] += above[:, :, rank + 1]
        np.exp(above, out=above)
        np.subtract(1, above, out=above)
        can[..., 0] = 1
        can *= self.alive[:, :, None, None]
        self.can = can
        tail = tails()
        alive = self.alive[:, :, None]
        jokers = np.minimum(self.bigs + self.smalls, 8)
        self.joker_tail = tail[special, jokers[:, None]] * alive
        self.big_tail = tail[special, self.bigs[:, None]] * alive
        twos = tail[special, np.clip(self.twos, 0, MAX_NATURALS)[:, None]] * alive
        j = self.joker_tail
        one = 1 - (1 - twos[..., 1]) * (1 - j[..., 1])
        two = 1 - (1 - twos[..., 2]) * (1 - j[..., 2]) * (1 - twos[..., 1] * j[..., 1])
        self.help = np.stack([one, two])
        # as if all other hands were of the mean size
        players = np.maximum(self.alive.sum(axis=1), 1)
        middle = np.rint(LEVELS / players).astype(np.intp)
        self.exact = tail.reshape(-1, SIZES)[middle[:, None] * (MAX_NATURALS + 1) + copies]
        self.exact[..., :-1] -= self.exact[..., 1:]
        self.exact *= players[:, None, None].astype(np.float32)
        most = np.zeros((n, ROWS), np.int64)
        for rank in range(ROW_TWOS - 2, -1, -1):
            most[:, rank] = np.maximum(most[:, rank + 1], self.unseen[:, rank + 1])
        self.most_above = most

    def beaten(self, at: I64, row: I64, m: I64, b: I64, r: I64, nat: F32, hung: F32) -> F32:
        """Chance ``[C, 5]`` that each other player can and wants to beat a set, if he may.

        Args:
            at: ``[C]`` table of each set; then its row, cards of the row, small and big jokers.
            nat, hung: ``[N, 5]`` willingness to do so with naturals alone, and with 2s and jokers.
        """
        size = m + b + r
        plain = ((b == 0) & (r == 0))[:, None]
        low = np.minimum(size, SIZES - 1)
        below = row < ROW_TWOS
        natural = self.can[at, :, row, low] * (nat[at] * plain)
        rest = np.clip(size - 1, 0, SIZES - 1)
        helped = self.can[at, :, row, rest] * self.help[0, at]
        two = self.can[at, :, row, np.clip(size - 2, 0, SIZES - 1)] * self.help[1, at]
        helped = 1 - (1 - helped) * (1 - two * (size > 1)[:, None])
        # against small jokers: as many big ones, with what beats the rest
        few = np.minimum(m, SIZES - 1)
        under = self.can[at, :, row, few]
        fewer = self.can[at, :, row, np.maximum(few - 1, 0)] * self.help[0, at]
        against = self.big_tail[at, :, np.minimum(b, 5)] * (1 - (1 - under) * (1 - fewer))
        helped = np.where(plain, helped, against)
        # against 2s and jokers alone: jokers alone
        alone = np.minimum(self.joker_tail[at, :, low], self.big_tail[at, :, np.minimum(b, 5)])
        helped = np.where(below[:, None], helped, alone)
        some: F32 = 1 - (1 - natural) * (1 - helped * hung[at])
        some *= (self.sizes[at] >= size[:, None]) & (r == 0)[:, None]
        return some

    def sure(self, at: I64, row: I64, m: I64, b: I64, r: I64) -> Bools:
        """``[C] bool``: sets that no other hand can beat, whatever it holds of the unseen cards."""
        size = m + b + r
        spare = np.where(row < ROW_TWOS, self.twos[at], 0) + self.bigs[at] + self.smalls[at]
        good: Bools = (r > 0) | (b > self.bigs[at]) | (self.largest[at] < size)
        good |= self.most_above[at, row] + spare < size
        return good


# [13, SIZES]: whether so many cards of a row make a 够级牌 without a joker.
NATURAL_GOUJI: Final[Bools] = np.arange(SIZES) >= GOUJI_FROM[:NATURAL_RANKS, None]
