"""Policy and value networks that score the legal moves by their features.

Letters in shapes: ``N`` rows (decisions), ``D`` observation length, ``A`` action ids, ``F`` static
features of an action, ``T`` legal moves of all rows together, ``H`` hidden units.

Legal moves are *ragged*: ``ids [T] int64`` holds the moves of all rows one after another and
``rows [T] int64`` (ascending) says whose each is. Nothing is padded and nothing is cut off, and no
tensor ``[N, A]`` is ever made. A move is seen through its features only, so a set that was never
tried shares what was learned about its like.

Pure torch, no Ray: this is what a saved agent needs to play.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from lupai.agents.advice import ADVISING, BEHIND
from lupai.agents.card import NetworkConfig
from lupai.agents.history import history_encoder
from lupai.envs.actions import ActionLayout
from lupai.envs.baohuang.actions import ACTIONS
from lupai.envs.cards import NUM_RANKS, RANK_OF_KIND
from lupai.envs.game import Game
from lupai.envs.layout import Layout

__all__ = [
    "DRAW",
    "LOSS",
    "OUTCOMES",
    "WIN",
    "MoveScorer",
    "MoveTable",
    "NetworkConfig",
    "ValueNetwork",
    "advised_moves",
    "combined",
    "head_columns",
    "in_words",
    "mlp",
    "move_table",
    "offsets_to_rows",
    "pack_legal",
    "pack_words",
    "packed_width",
    "segment_argmax",
    "segment_chosen",
    "segment_entropy",
    "segment_log_softmax",
    "segment_sample",
    "unpack_legal",
    "unpack_words",
]

DYNAMIC_FEATURES: Final = 6  # and one more where 2s can be attached to other ranks
LOSS, DRAW, WIN = range(3)  # classes of a win head: the sign of the seat's final score
OUTCOMES: Final = 3
MOST_ACTIONS: Final = 1 << 19  # ids in words
_WORD_BYTES: Final = 8  # packed rows are whole 64-bit words, so that empty words are skipped fast


# --- legal moves as bits: the fixed-size exact form that crosses process borders -----------------


def packed_width(actions: int) -> int:
    """Bytes of one packed legal row for ``actions`` ids."""
    return -(-actions // (8 * _WORD_BYTES)) * _WORD_BYTES


def pack_legal(
    ids: npt.NDArray[np.integer], offsets: npt.NDArray[np.integer], actions: int
) -> npt.NDArray[np.uint8]:
    """Bits ``[N, packed_width(actions)] uint8`` of ragged ids; bit 7 of byte 0 is action 0.

    Args:
        ids: ``[T]`` action ids.
        offsets: ``[N + 1]``; row ``i`` owns ``ids[offsets[i]:offsets[i + 1]]``.
        actions: ``A``.
    """
    count = len(offsets) - 1
    packed = np.zeros((count, packed_width(actions)), dtype=np.uint8)
    rows = np.repeat(np.arange(count), np.diff(offsets))
    bits = np.right_shift(128, ids & 7).astype(np.uint8)
    np.bitwise_or.at(packed, (rows, ids >> 3), bits)
    return packed


def unpack_legal(packed: Tensor) -> tuple[Tensor, Tensor]:
    """``(rows [T] int64, ids [T] int64)`` of packed rows ``[N, W] uint8``; ids ascend in a row."""
    if packed.shape[0] == 0:
        nothing = torch.zeros(0, dtype=torch.int64, device=packed.device)
        return nothing, nothing.clone()
    packed = packed.contiguous()
    words = packed.view(torch.int64)
    row, word = torch.nonzero(words, as_tuple=True)
    # [K, 8] bytes of the words that hold anything, then their bits from high to low.
    some = packed.view(packed.shape[0], -1, _WORD_BYTES)[row, word]
    shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=packed.device)
    bits = (some.unsqueeze(-1) >> shifts) & 1
    which, place = torch.nonzero(bits.reshape(len(row), 8 * _WORD_BYTES), as_tuple=True)
    return row[which], word[which] * (8 * _WORD_BYTES) + place


# --- and as those words of the bits that are not empty: as narrow as the widest row allows --------
# A word is an int32: in its low half the bits of 16 ids, the lowest id in the lowest bit, above
# them its number. An empty place is 0.


def pack_words(
    ids: npt.NDArray[np.integer], offsets: npt.NDArray[np.integer]
) -> npt.NDArray[np.int32]:
    """Words ``[N, K] int32`` of ragged ids, each row's one after another, then zeros.

    Args:
        ids: ``[T]`` action ids below :data:`MOST_ACTIONS`, ascending in each row.
        offsets: ``[N + 1]``; row ``i`` owns ``ids[offsets[i]:offsets[i + 1]]``.
    """
    count = len(offsets) - 1
    rows = np.repeat(np.arange(count), np.diff(offsets))
    number = ids >> 4
    first = np.ones(len(ids), np.bool_)
    first[1:] = (number[1:] != number[:-1]) | (rows[1:] != rows[:-1])
    begins = np.flatnonzero(first)
    row = rows[begins]
    sizes = np.bincount(row, minlength=count)
    packed = np.zeros((count, max(sizes, default=0)), np.int32)
    if len(begins):
        place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        bits = np.add.reduceat(np.left_shift(1, ids & 15), begins)
        packed[row, place] = number[begins] << 16 | bits
    return packed


def unpack_words(packed: Tensor) -> tuple[Tensor, Tensor]:
    """``(rows [T] int64, ids [T] int64)`` of words ``[N, K] int32``; ids ascend in a row."""
    row, place = torch.nonzero(packed, as_tuple=True)
    words = packed[row, place]
    bits = words.unsqueeze(-1) >> torch.arange(16, dtype=torch.int32, device=packed.device) & 1
    which, low = torch.nonzero(bits, as_tuple=True)
    return row[which], (words >> 16 << 4)[which] + low


def in_words(
    packed: npt.NDArray[np.int32], actions: npt.NDArray[np.integer]
) -> npt.NDArray[np.bool_]:
    """``[N]``: is the one id given for each row ``[N, K]`` among those packed there."""
    here = packed >> 16 == actions[:, None] >> 4
    found: npt.NDArray[np.bool_] = (here & (packed >> (actions[:, None] & 15) & 1 == 1)).any(axis=1)
    return found


def advised_moves(ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``(rows [T] int64, ids [T] int64, features [T, F])`` of the candidates of an advice.

    Args:
        ids: ``[N, K] int32``, -1 where there is none. features: ``[N, K, F]``.
    """
    rows, places = (ids >= 0).nonzero(as_tuple=True)
    return rows, ids[rows, places].to(torch.int64), features[rows, places]


def offsets_to_rows(offsets: Tensor) -> Tensor:
    """``[N + 1]`` offsets to the row number ``[T] int64`` of each entry."""
    counts = offsets[1:] - offsets[:-1]
    return torch.repeat_interleave(torch.arange(len(counts), device=offsets.device), counts)


# --- softmax over ragged rows --------------------------------------------------------------------
# Rows without any entry are allowed everywhere (RLlib's bootstrap rows have none): they get 0 for
# a number and -1 for a place, never NaN, and no gradient flows from them.


def _row_max(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """``[count]`` maximum of each row, 0 for an empty one."""
    top = torch.zeros(count, dtype=values.dtype, device=values.device)
    return top.scatter_reduce(0, rows, values, "amax", include_self=False)


def _row_sum(values: Tensor, rows: Tensor, count: int) -> Tensor:
    total = torch.zeros(count, dtype=values.dtype, device=values.device)
    return total.index_add(0, rows, values)


def segment_log_softmax(logits: Tensor, rows: Tensor, count: int) -> Tensor:
    """``[T]`` log-probabilities of each entry within its row.

    Args:
        logits: ``[T] float``, finite.
        rows: ``[T] int64`` in ``0 … count - 1``.
        count: number of rows.
    """
    shifted = logits - _row_max(logits.detach(), rows, count)[rows]
    total = _row_sum(shifted.exp(), rows, count)  # at least 1 wherever a row has an entry
    return shifted - total.clamp_min(1.0).log()[rows]


def segment_entropy(log_probs: Tensor, rows: Tensor, count: int) -> Tensor:
    """``[count]`` entropy in nats of each row, 0 for an empty one."""
    return -_row_sum(log_probs.exp() * log_probs, rows, count)


def segment_chosen(log_probs: Tensor, rows: Tensor, ids: Tensor, chosen: Tensor) -> Tensor:
    """``[N]`` log-probability of ``chosen [N]``; 0 in a row that does not offer it."""
    hit = ids == chosen[rows]
    return _row_sum(torch.where(hit, log_probs, torch.zeros_like(log_probs)), rows, len(chosen))


def segment_argmax(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """``[count] int64`` place in ``values`` of each row's maximum (the first of equals), or -1."""
    best = values == _row_max(values, rows, count)[rows]
    size = len(values)
    place = torch.where(best, torch.arange(size, device=values.device), size)
    first = torch.full((count,), size, dtype=torch.int64, device=values.device)
    first = first.scatter_reduce(0, rows, place, "amin")
    return torch.where(first < size, first, -1)


def segment_sample(log_probs: Tensor, rows: Tensor, count: int, uniform: Tensor) -> Tensor:
    """``[count] int64`` place of one entry drawn from each row's distribution, or -1.

    Args:
        log_probs: ``[T]`` from :func:`segment_log_softmax`.
        rows: ``[T] int64``, ascending.
        count: number of rows.
        uniform: ``[count] float64`` one draw in [0, 1) for each row; the entry is the inverse of
            the row's cumulative distribution there.
    """
    size = torch.bincount(rows, minlength=count)
    end = size.cumsum(0)
    if len(rows) == 0:
        return torch.full_like(end, -1)
    probability = log_probs.to(torch.float64).exp()
    total = probability.cumsum(0)  # over all rows together: one pass for everything
    first = (end - size).clamp_max(len(rows) - 1)
    below = total[first] - probability[first]
    mass = total[(end - 1).clamp_min(0)] - below
    place = torch.searchsorted(total, below + uniform * mass, right=True)
    # Rounding may point just beyond the row.
    place = torch.minimum(torch.maximum(place, first), end - 1)
    return torch.where(size > 0, place, -1)


# --- the networks --------------------------------------------------------------------------------


@dataclass(frozen=True)
class MoveTable:
    """What the networks know of the game: constants made from its layouts, no weights.

    Attributes:
        scale: ``[D] float32``; model input is ``observation * scale``.
        features: ``[A, F] float32`` static features of each action.
        cards: ``[A, R] float32``: how many cards of each rank the action takes from the hand.
        hand: ``[D, R] float32``: ``observation @ hand`` is the own hand's count of each rank.
        recent: first column, number of moves and numbers of each in the section of the latest
            moves; None where the layout has none.
        roles: columns of the observer's own role (emperor, guard, rebel) and of the three kinds
            of solo; None where the layout has none.
        advice: F, numbers that an advice has for a move.

    The last three of the ``R`` ranks are 2, the small and the big joker.
    """

    scale: npt.NDArray[np.float32]
    features: npt.NDArray[np.float32]
    cards: npt.NDArray[np.float32]
    hand: npt.NDArray[np.float32]
    recent: tuple[int, int, int] | None = None
    roles: tuple[slice, slice] | None = None
    advice: int = ADVISING["baohuang"].features

    @cached_property
    def in_parts(
        self,
    ) -> tuple[npt.NDArray[np.uint8 | np.float32], npt.NDArray[np.float32]]:
        """:func:`in_parts` of the features, found once for all networks that are built of it."""
        return in_parts(self.features)


def move_table(
    layout: Layout, actions: ActionLayout = ACTIONS, game: str = "baohuang"
) -> MoveTable:
    """Constants of a game's action ids under an observation layout with a section ``own_hand``."""
    hand = np.zeros((layout.size, NUM_RANKS), np.float32)
    columns = layout.slice("own_hand")
    hand[columns.start + np.arange(len(RANK_OF_KIND)), RANK_OF_KIND] = 1
    recent = roles = None
    if "recent" in layout.by_name:
        moves, fields = layout.by_name["recent"].shape
        recent = (layout.offsets["recent"], moves, fields)
    if "seat_roles" in layout.by_name:
        own = layout.offsets["seat_roles"]  # seats are counted from the observer: he comes first
        roles = (slice(own, own + 3), layout.slice("solo"))
    # A rank as one number beside the one-hot: what was learned of a 9 helps with a T.
    features = np.concatenate([actions.features, actions.ordinal[:, None]], axis=1)
    advice = ADVISING[game].features
    return MoveTable(layout.scale, features, actions.cards, hand, recent, roles, advice)


def table_of(engine: Game) -> MoveTable:
    """Constants of a game's action ids under its observation."""
    return move_table(engine.observation_layout, engine.actions, engine.game)


def in_parts(
    features: npt.NDArray[np.floating],
) -> tuple[npt.NDArray[np.uint8 | np.float32], npt.NDArray[np.float32]]:
    """``(numbers [A, F] uint8, parts [F] float32)`` with ``features = numbers / parts``, exactly in
    float32: a quarter of the bytes in memory and files. Float32 and ones where there are no such.
    """
    features = features.astype(np.float32)
    parts = np.ones(features.shape[1], np.float32)
    for column, values in enumerate(features.T):
        unlike = np.unique(values)
        for part in range(1, 256):
            numbers = np.rint(unlike * np.float32(part))
            fits = (numbers >= 0) & (numbers <= 255) & (numbers / np.float32(part) == unlike)
            if fits.all():
                parts[column] = part
                break
        else:
            return features, np.ones_like(parts)
    return np.rint(features * parts).astype(np.uint8), parts


class _Constants(nn.Module):
    """A MoveTable as buffers: they follow the module to its device but are not saved with it."""

    scale: Tensor
    features: Tensor
    parts: Tensor
    rank: Tensor
    naturals: Tensor
    jokers: Tensor
    total: Tensor
    twos: Tensor
    hand: Tensor

    def __init__(self, table: MoveTable) -> None:
        super().__init__()
        cards = torch.from_numpy(table.cards.astype(np.float32))
        natural = cards[:, :-2]
        rank = (natural > 0).int().argmax(1)  # the lowest: 2s may be attached to it
        self.attached = bool(((natural > 0).sum(1) > 1).any())
        self.dynamic_features = DYNAMIC_FEATURES + self.attached
        # The own hand is one section: keep its columns only.
        used = np.flatnonzero(table.hand.any(1))
        features, parts = table.in_parts
        self.first, self.last = int(used[0]), int(used[-1]) + 1
        for name, value in {
            "scale": torch.from_numpy(table.scale.astype(np.float32)),
            "features": torch.from_numpy(features),
            "parts": torch.from_numpy(parts),
            "rank": rank,
            "naturals": natural.gather(1, rank[:, None]).squeeze(1),
            "jokers": cards[:, -2:].contiguous(),
            "total": cards.sum(1),
            "twos": natural[:, -1].contiguous(),
            "hand": torch.from_numpy(table.hand[self.first : self.last].astype(np.float32)),
        }.items():
            self.register_buffer(name, value, persistent=False)

    def static(self, ids: Tensor | None = None) -> Tensor:
        """``[T, F] float32`` features of these actions; None: of all."""
        features = self.features if ids is None else self.features.index_select(0, ids)
        return features.to(torch.float32) / self.parts

    def dynamic(self, observation: Tensor, rows: Tensor, ids: Tensor) -> Tensor:
        """``[T, F] float32``: what the hand looks like after each move.

        Columns: cards of the move's rank left, whether its rank is used up, small jokers left,
        big jokers left, hand size left, whether the hand is empty; in games in which 2s may be
        attached to other ranks also 2s left. Counts are scaled to about 1;
        a move that is no set has zeros.
        """
        hand = observation[:, self.first : self.last].to(torch.float32) @ self.hand
        total = self.total[ids]
        is_set, natural = (total > 0).float(), self.naturals[ids]
        left = hand[rows, self.rank[ids]] - natural
        jokers = hand[:, -2:][rows] - self.jokers[ids]
        size = hand.sum(1)[rows] - total
        columns = [
            left * (natural > 0) / 8.0,
            ((left <= 0) & (natural > 0)).float(),
            jokers[:, 0] / 4.0 * is_set,
            jokers[:, 1] / 4.0 * is_set,
            size / 44.0 * is_set,
            (size <= 0).float() * is_set,
        ]
        if self.attached:
            twos = hand[:, -3][rows] - self.twos[ids]
            columns.append(twos / 4.0 * is_set)
        return torch.stack(columns, 1)


def mlp(inputs: int, sizes: tuple[int, ...]) -> nn.Sequential:
    """Layers of ``sizes`` units with ReLU after each."""
    layers: list[nn.Module] = []
    for size in sizes:
        linear = nn.Linear(inputs, size)
        nn.init.orthogonal_(linear.weight, 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
        inputs = size
    return nn.Sequential(*layers)


def head_columns(config: NetworkConfig) -> int:
    """Columns of :meth:`MoveScorer.heads`."""
    return 1 + (OUTCOMES if config.heads == "both" else 0)


def combined(heads: Tensor, win_weight: float) -> Tensor:
    """``[T] float32`` by which moves are chosen: value + win_weight * (P(win) - P(loss)).

    Args:
        heads: ``[T, C]`` of :meth:`MoveScorer.heads`. win_weight: in the unit of the values.
    """
    if heads.shape[1] == 1:
        return heads.squeeze(-1)
    if not win_weight:
        return heads[:, 0]
    chances = heads[:, 1:].softmax(1)
    return heads[:, 0] + win_weight * (chances[:, WIN] - chances[:, LOSS])


class MoveScorer(nn.Module):
    """Policy: one logit (or value) for each legal (state, move) pair.

    ``logit = head(relu(state(h[row]) + move(features[id]) + change(dynamic[row, id])))``, ``h`` is
    what :meth:`embed` makes of the observation. With advice ``a [T, F]`` its features join the sum,
    a second layer follows, and the price has a way of its own to the logit, so that the first moves
    of an untrained network are those of who advises. A win head reads the layer that ``head`` does.
    """

    def __init__(self, table: MoveTable, config: NetworkConfig) -> None:
        super().__init__()
        self.constants = _Constants(table)
        inputs, features = len(table.scale), table.features.shape[1]
        self._recent = None
        if config.history != "none":
            if table.recent is None:
                raise ValueError(f"history {config.history!r}: the observation has no latest moves")
            self._recent = table.recent
            _, moves, fields = table.recent
            self.history = history_encoder(config.history, moves, fields, config.history_units)
            inputs += config.history_units - moves * fields
        self.trunk = mlp(inputs, config.hidden)
        self.state = nn.Linear(config.hidden[-1], config.move_hidden)
        self.move = nn.Linear(features, config.move_hidden, bias=False)
        self.change = nn.Linear(self.constants.dynamic_features, config.move_hidden, bias=False)
        self.head = nn.Linear(config.move_hidden, 1, bias=False)
        nn.init.normal_(self.head.weight, std=0.01)  # start close to uniform over the legal moves
        self.advised = config.advice != "none"
        if self.advised:
            self.advice = nn.Linear(table.advice, config.move_hidden, bias=False)
            self.again = nn.Linear(config.move_hidden, config.move_hidden)
            self.gate = nn.Linear(config.hidden[-1], config.move_hidden, bias=False)
            self.direct = nn.Linear(table.advice, 1, bias=False)
            nn.init.zeros_(self.direct.weight)
            nn.init.constant_(self.direct.weight[:, BEHIND], 0.1)
        self.win_weight = config.win_weight
        self.win_head: nn.Linear | None = None
        if config.heads == "both":
            # Nothing is drawn for it: all other first weights are those of a network without it.
            empty = nn.Linear(config.move_hidden, OUTCOMES, device="meta")
            self.win_head = empty.to_empty(device="cpu")
            nn.init.zeros_(self.win_head.weight)  # start from "all alike"
            nn.init.zeros_(self.win_head.bias)

    def which(self, observation: Tensor) -> Tensor:
        """``[N] int64`` zeros: the number of the policy that decides each row; here is one."""
        return torch.zeros(len(observation), dtype=torch.int64, device=observation.device)

    def embed(self, observation: Tensor) -> Tensor:
        """State vectors ``[N, hidden[-1]] float32`` of ``observation [N, D] int8``."""
        inputs = observation.to(torch.float32) * self.constants.scale
        if self._recent is not None:
            first, moves, fields = self._recent
            last = first + moves * fields
            latest = self.history(inputs[:, first:last].reshape(-1, moves, fields))
            inputs = torch.cat([inputs[:, :first], inputs[:, last:], latest], 1)
        embedding: Tensor = self.trunk(inputs)
        return embedding

    def score(
        self,
        embedding: Tensor,
        observation: Tensor,
        rows: Tensor,
        ids: Tensor,
        advice: Tensor | None = None,
    ) -> Tensor:
        """Logits ``[T] float32`` from :meth:`embed`'s vectors; the rest as in :meth:`forward`."""
        return combined(self.heads(embedding, observation, rows, ids, advice), self.win_weight)

    def heads(
        self,
        embedding: Tensor,
        observation: Tensor,
        rows: Tensor,
        ids: Tensor,
        advice: Tensor | None = None,
    ) -> Tensor:
        """What each head says, ``[T, 1] float32`` logits or values; with a win head ``[T, 4]``:
        value, then logits of LOSS, DRAW and WIN. Arguments as of :meth:`score`."""
        if (advice is not None) != self.advised:
            raise ValueError(f"advice is {'needed' if self.advised else 'not wanted'} here")
        constants = self.constants
        state = self.state(embedding)
        # Embed each move once: the whole table where that is less work than the moves asked for. A
        # file that is exported has it as a constant.
        if torch.compiler.is_exporting() or len(ids) > len(constants.features):
            move = self.move(constants.static()).index_select(0, ids)
        else:
            move = self.move(constants.static(ids))
        change = self.change(constants.dynamic(observation, rows, ids))
        hidden = state.index_select(0, rows) + move + change
        if advice is None:
            hidden = torch.relu(hidden)
            out: Tensor = self.head(hidden)
        else:
            advice = advice.to(torch.float32)
            hidden = self.again(torch.relu(hidden + self.advice(advice)))
            hidden = torch.relu(hidden + self.gate(embedding).index_select(0, rows))
            out = self.head(hidden) + self.direct(advice)
        return out if self.win_head is None else torch.cat([out, self.win_head(hidden)], 1)

    def forward(
        self, observation: Tensor, rows: Tensor, ids: Tensor, advice: Tensor | None = None
    ) -> Tensor:
        """Logits ``[T] float32``; with a win head what :func:`combined` makes of its outputs.

        Args:
            observation: ``[N, D] int8`` as the engine gives it.
            rows: ``[T] int64``, ascending.
            ids: ``[T] int64`` legal action ids; with advice its candidates.
            advice: ``[T, F]`` their features, see :class:`lupai.agents.advice.Advice`; None: this
                network takes none.

        Raises:
            ValueError: advice is missing, or not wanted.
        """
        return self.score(self.embed(observation), observation, rows, ids, advice)


class ValueNetwork(nn.Module):
    """Expected (scaled) score of the observing seat."""

    def __init__(self, table: MoveTable, config: NetworkConfig) -> None:
        super().__init__()
        self.constants = _Constants(table)
        self.trunk = mlp(len(table.scale), config.value_hidden)
        self.head = nn.Linear(config.value_hidden[-1], 1)
        nn.init.zeros_(self.head.weight)

    def forward(self, observation: Tensor) -> Tensor:
        """Values ``[N] float32`` of ``observation [N, D] int8``."""
        scaled = observation.to(torch.float32) * self.constants.scale
        value: Tensor = self.head(self.trunk(scaled)).squeeze(-1)
        return value
