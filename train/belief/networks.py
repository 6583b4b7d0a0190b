"""Training of the networks that say who is guard, on the hands of data sets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from lupai.agents.belief.base import ALONE, BeliefError
from lupai.agents.belief.course import course_of, hands_of
from lupai.agents.belief.network import (
    HANDS_AT_ONCE,
    BeliefNet,
    Kind,
    NetworkPredictor,
    soften,
)
from lupai.agents.belief.sequences import TABLE_FIELDS, events, priors, tables
from lupai.agents.belief.views import PublicLog
from lupai.train.belief.bayes import WIDEST, lowest, one_rules
from lupai.train.belief.data import DataSet
from lupai.train.belief.decisions import OBSERVERS, decisions_of
from lupai.train.belief.scores import FLOOR

__all__ = ["Examples", "examples_of", "train_network"]

HANDS: Final = {"gru": 16, "transformer": 4}  # of a minibatch: more steps where each costs more
DECISIONS: Final = 24  # of each hand and observer in it, drawn anew each time
RATE: Final = 2e-3
DECAY: Final = 1e-3
CLIP: Final = 1.0
PATIENCE: Final = 6  # epochs without a better dev loss
_ROUNDS: Final = 4  # of temperature and factor
_MOST: Final = math.log(16)  # logarithm of a factor, up or down
LAYERS: Final = {"gru": 1, "transformer": 2}
Say = Callable[[str], object]


@dataclass
class Examples:
    """Hands with their decisions, ready for the network; lists are by hand.

    Attributes:
        logs: moves of each hand, a log of one.
        dealt: ``[H, S]`` cards held at the first lead.
        emperor: ``[H]``.
        counts: ``[n] int16`` moves seen at each answer.
        table: ``[n, S, F] float16``.
        prior: ``[n, S] float32`` by subject.
        label: ``[n] int8`` the subject that is right: the guard, or the emperor for nobody.
    """

    rules: Any
    logs: list[PublicLog]
    dealt: list[npt.NDArray[Any]]
    emperor: list[int]
    counts: list[npt.NDArray[np.int16]]
    table: list[npt.NDArray[np.float16]]
    prior: list[npt.NDArray[np.float32]]
    label: list[npt.NDArray[np.int8]]

    def __len__(self) -> int:
        return len(self.logs)

    def batch(self, hands: Sequence[int], rng: np.random.Generator | None) -> tuple[Tensor, ...]:
        """Moves ``[H, S, T, E]``, hand ``[N]``, counts ``[N]``, tables ``[N, S, F]``, logarithms
        of priors ``[N, S]`` and labels ``[N]`` of some hands; with ``rng`` of some decisions."""
        width = max(self.logs[h].seats.shape[1] for h in hands)
        log = PublicLog(
            np.concatenate([_wide(self.logs[h].seats, width) for h in hands]),
            np.concatenate([_wide(self.logs[h].actions, width) for h in hands]),
        )
        course = course_of(log, np.stack([self.dealt[h] for h in hands]), self.rules)
        moves = events(log, course, np.array([self.emperor[h] for h in hands]))
        parts = []
        most = DECISIONS * len(OBSERVERS)
        for place, h in enumerate(hands):
            rows = np.arange(len(self.counts[h]))
            if rng is not None and len(rows) > most:
                rows = rng.choice(rows, most, replace=False)
            with np.errstate(divide="ignore"):
                logs = np.log(self.prior[h][rows])
            parts.append(
                (
                    np.full(len(rows), place),
                    self.counts[h][rows].astype(np.int64),
                    self.table[h][rows].astype(np.float32),
                    logs,
                    self.label[h][rows].astype(np.int64),
                )
            )
        joined = [torch.from_numpy(np.concatenate(some)) for some in zip(*parts, strict=True)]
        return (torch.from_numpy(moves), *joined)


def _wide(moves: npt.NDArray[Any], width: int) -> npt.NDArray[Any]:
    return np.pad(moves, ((0, 0), (0, width - moves.shape[1])), constant_values=-1)


def examples_of(
    data: Sequence[DataSet],
    split: str,
    limit: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Examples:
    """Examples of all observers.

    Args:
        data: of one set of rules.
        split, limit: which hands of each.
        progress: called with the number of hands done since the last call.
    """
    out = Examples(data[0].engine().rules, [], [], [], [], [], [], [])
    for some in data:
        engine = some.engine()
        for records in some.records(split, limit):
            decisions = decisions_of(engine, records)
            parts = []
            for observer in OBSERVERS:
                rows = decisions.rows(observer)
                if not len(rows):
                    continue
                views = decisions.views(observer)
                emperor = views.state.emperor.astype(np.int64)
                label = np.where(decisions.label[rows] == ALONE, emperor, decisions.label[rows])
                parts.append(
                    (views.hand, views.counts.astype(np.int16), tables(views).astype(np.float16),
                     priors(views), label.astype(np.int8))
                )  # fmt: skip
            if parts:
                emperors, dealt = hands_of(decisions.views("spectator"))
                joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
                for h in np.unique(joined[0]).tolist():
                    mine = np.flatnonzero(joined[0] == h)
                    log = PublicLog(decisions.log.seats[[h]], decisions.log.actions[[h]])
                    out.logs.append(log.cut([(log.seats >= 0).sum()]))
                    out.dealt.append(dealt[h])
                    out.emperor.append(int(emperors[h]))
                    counts, table, prior, label = (column[mine] for column in joined[1:])
                    out.counts.append(counts)
                    out.table.append(table)
                    out.prior.append(prior)
                    out.label.append(label)
            if progress is not None:
                progress(len(records))
    return out


def logits_of(net: BeliefNet, batch: tuple[Tensor, ...]) -> Tensor:
    """Logarithms of chances ``[N, S]`` without a common constant."""
    moves, hand, counts, table, logs, _ = batch
    seen = net.read(moves)[hand, :, counts]
    logits: Tensor = net.say(seen, table) + logs
    return logits


def train_network(
    kind: Kind,
    data: Sequence[DataSet],
    *,
    name: str | None = None,
    seed: int = 1,
    limit: int | None = None,
    minutes: float | None = None,
    epochs: int = 12,
    units: int = 64,
    progress: Callable[[int], object] | None = None,
    say: Say | None = None,
) -> tuple[NetworkPredictor, str]:
    """Train on the split ``train``, keep the epoch that is best on ``dev``, set a temperature
    for each kind of observer there.

    Without a limit of time the same seed gives the same network on the same machine.

    Args:
        kind: ``gru`` or ``transformer``.
        data: of one set of rules.
        name: of the predictor.
        seed: of weights and minibatches.
        limit: the first so many hands of each split of each data set.
        minutes, epochs: when to stop, and by when the rate has fallen to zero; sooner after
            PATIENCE epochs without gain.
        units: of the network.
        progress: called with the number of hands read since the last call.
        say: called with a line for each epoch.

    Returns:
        The predictor, and one line on how it went.

    Raises:
        BeliefError: different rules, or no hands to train on or to choose by.
    """
    rules = one_rules(data)
    train = examples_of(data, "train", limit, progress)
    dev = examples_of(data, "dev", limit, progress)
    if not len(train) or not len(dev):
        raise BeliefError("a network needs hands in the splits train and dev: play more")
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = BeliefNet(kind, units, LAYERS[kind])
    optimiser = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    begun, best, best_epoch = time.monotonic(), math.inf, 0
    kept = {key: value.clone() for key, value in net.state_dict().items()}
    spent, epoch, steps = 0.0, 0, 0
    for epoch in range(1, epochs + 1):
        net.train()
        for batch in _batches(train, rng, HANDS[kind]):
            steps += 1
            done = steps / (epochs * math.ceil(len(train) / HANDS[kind]))
            done = done if minutes is None else max(done, spent / (60 * minutes))
            for group in optimiser.param_groups:
                group["lr"] = RATE * (0.5 + 0.5 * math.cos(math.pi * min(done, 1.0)))
            optimiser.zero_grad()
            loss = functional.cross_entropy(logits_of(net, batch), batch[-1])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), CLIP)
            optimiser.step()
            spent = time.monotonic() - begun
            if minutes is not None and spent > 60 * minutes:
                break
        lost = dev_loss(net, dev)
        if say is not None:
            say(f"epoch {epoch}: dev log loss {lost:.4f} nats, {spent / 60:.1f} min")
        if lost < best:
            best, best_epoch = lost, epoch
            kept = {key: value.clone() for key, value in net.state_dict().items()}
        late = minutes is not None and spent > 60 * minutes
        if late or epoch - best_epoch >= PATIENCE:
            break
    net.load_state_dict(kept)
    temperatures, nobody = calibrated(net, dev)
    told = (
        f"{len(train):,} hands, {epoch} epochs, {spent / 60:.1f} min; best {best_epoch}: dev log "
        f"loss {best:.4f} nats; temperatures "
        f"{', '.join(f'{t:.3f} ({o})' for t, o in zip(temperatures, OBSERVERS, strict=True))}"
    )
    return NetworkPredictor(net, rules, temperatures, name, nobody), told


def _batches(examples: Examples, rng: np.random.Generator, size: int) -> Any:
    """Minibatches of all hands in a random order, hands of like length together."""
    lengths = np.array([log.seats.shape[1] for log in examples.logs])
    order = np.argsort(lengths + rng.normal(0, 15, len(lengths)))
    starts = np.arange(0, len(order), size)
    rng.shuffle(starts)
    for start in starts.tolist():
        yield examples.batch(order[start : start + size].tolist(), rng)


def _all_logits(
    net: BeliefNet, examples: Examples
) -> tuple[
    npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.intp], npt.NDArray[np.bool_]
]:
    """Logits ``[N, S]``, labels ``[N]``, observers ``[N]`` and who stands for nobody ``[N, S]``, of
    all decisions."""
    net.eval()
    order = np.argsort([log.seats.shape[1] for log in examples.logs]).tolist()
    flags = [TABLE_FIELDS.index(name) for name in OBSERVERS]
    alone_at = TABLE_FIELDS.index("subject_is_emperor")
    logits, labels, observers, alone = [], [], [], []
    with torch.no_grad():
        for start in range(0, len(order), HANDS_AT_ONCE):
            batch = examples.batch(order[start : start + HANDS_AT_ONCE], None)
            logits.append(logits_of(net, batch).numpy())
            labels.append(batch[-1].numpy())
            observers.append(batch[3][:, 0, flags].argmax(dim=1).numpy())
            alone.append(batch[3][:, :, alone_at].numpy() > 0)
    return (
        np.concatenate(logits),
        np.concatenate(labels),
        np.concatenate(observers),
        np.concatenate(alone),
    )


def dev_loss(net: BeliefNet, examples: Examples) -> float:
    """Mean log loss in nats over all decisions of all observers."""
    logits, labels, _, _ = _all_logits(net, examples)
    return _loss(logits, labels, 1.0)


def calibrated(net: BeliefNet, examples: Examples) -> tuple[list[float], list[float]]:
    """By OBSERVERS temperatures and factors of "nobody"; 1 for an observer who is never asked."""
    logits, labels, observers, alone = _all_logits(net, examples)
    found = []
    for who in range(len(OBSERVERS)):
        rows = observers == who
        found.append(calibration(logits[rows], labels[rows], alone[rows]) if rows.any() else (1, 1))
    temperatures, nobody = zip(*found, strict=True)
    return list(temperatures), list(nobody)


def calibration(
    logits: npt.NDArray[Any], labels: npt.NDArray[Any], alone: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Temperature, 1/4 … 4, and factor of "nobody", 1/16 … 16, of the least log loss.

    Args:
        logits: ``[N, S]``. labels: ``[N]`` the true subject. alone: ``[N, S]`` which subject stands
            for nobody; where it is excluded everywhere the factor is 1.
    """
    logits = logits.astype(np.float64)
    possible = bool(np.isfinite(logits[alone]).any())
    widen = factor = 0.0  # logarithms

    def loss(wide: float, times: float) -> float:
        return _loss(logits + alone * times, labels, math.exp(wide))

    for _ in range(_ROUNDS if possible else 1):  # one after the other: the valley is convex
        widen = lowest(partial(loss, times=factor), -WIDEST, WIDEST)
        if possible:
            factor = lowest(partial(loss, widen), -_MOST, _MOST)
    return math.exp(widen), math.exp(factor)


def _loss(logits: npt.NDArray[Any], labels: npt.NDArray[Any], temperature: float) -> float:
    chances = np.take_along_axis(soften(logits, temperature), labels[:, None], axis=1)
    return float(-np.log(np.maximum(chances, FLOOR)).mean())
