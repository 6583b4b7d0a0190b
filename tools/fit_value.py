"""Fit value networks to hands that ``tactical`` plays against itself.

    python tools/fit_value.py --rules qingdao

Writes value_PRESET.npz in agents/search, for Gouji in agents/gouji. Needs torch and some 10 GB of
memory. The network learns from hands of ``greedy`` first, which are cheap and teach it what beats
what, then from those of ``tactical``. Some moves are drawn from the best few instead of the best,
so that the network knows the tables to which the moves lead that are compared later: tables right
behind such a move are kept, and so are first leads and some others.

The target of a table are the finishing places at the end of its hand, which are known but noisy,
mixed with what a first network says of the tables that came next (a lambda-return). Two blocks of
a thousand hands in twenty are held out of the fit and say how good it is: by the log loss, and by
the squared error of the asked seat's score.

Hands are played in blocks of a thousand, each from its own seed. With ``--data FOLDER`` blocks of
``tactical`` are kept there, and those that are there already are not played again; several
processes with different ``--first`` may fill it, and a fit is given the numbers of all of them. The
same options give the same file.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn
from value_data import BLOCK, Greedy, Rows, gather, play

from lupai.agents.search import files
from lupai.agents.search.network import Sight, Value, sight_of
from lupai.envs.game import GAMES, game_of_preset, rules_class

TRUST = 0.6  # lambda: weight of the following table's own target against the network's word
HELD_OUT = 20  # two blocks of so many
TOGETHER = 8  # blocks of greedy
WIDTHS = {"baohuang": (256, 96), "gouji": (160, 96)}  # so that a file has less than 400 kB
BATCH, RATE = 1024, 3e-3


class Fit:
    """A network on its way: fits itself to tables, and mixes its word into their targets."""

    def __init__(self, sight: Sight, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        self.sight = sight
        sizes = (sight.inputs, *WIDTHS[sight.game], sight.outputs)
        steps: list[nn.Module] = []
        for into, out_of in itertools.pairwise(sizes):
            steps += [nn.Linear(into, out_of), nn.ReLU()]
        self.net = nn.Sequential(*steps[:-1])
        self.generator = torch.Generator().manual_seed(seed)

    def _logs(self, inputs: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Logarithms of the chances of places ``[N, S, S]`` and outcomes ``[N, E]``."""
        logits, seats = self.net(torch.from_numpy(inputs).float()), self.sight.seats
        places = logits[:, : seats**2].view(-1, seats, seats).log_softmax(2)
        return places, logits[:, seats**2 :].log_softmax(1)

    def _loss(self, inputs: np.ndarray, targets: np.ndarray) -> torch.Tensor:
        (places, outcomes), wanted = self._logs(inputs), torch.from_numpy(targets).float()
        seats = self.sight.seats
        loss = -(wanted[:, : seats**2].view(-1, seats, seats) * places).sum(2).mean()
        if self.sight.outcomes:
            loss = loss - (wanted[:, seats**2 :] * outcomes).sum(1).mean()
        return loss

    def _optimiser(self, steps: int) -> Callable[[np.ndarray, np.ndarray], float]:
        """What does one step of so many, and gives its loss."""
        optimiser = torch.optim.AdamW(self.net.parameters(), lr=RATE, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + 1)

        def step(inputs: np.ndarray, targets: np.ndarray) -> float:
            loss = self._loss(inputs, targets)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            return float(loss.item())

        return step

    def before(self, rules: str, hands: int, seed: int) -> None:
        """Learn from hands of ``greedy``, each seen once."""
        game = self.sight.game
        blocks = range(0, hands // BLOCK, TOGETHER)
        probe = play(game, rules, 0, seed, Greedy)
        each = TOGETHER * len(probe["hand"]) * 3 // 4 // BATCH  # steps for blocks played at once
        step = self._optimiser(len(blocks) * each)
        for first in blocks:
            some = range(first, first + TOGETHER)
            data = Rows([play(game, rules, i, seed, Greedy) for i in some], self.sight, rules)
            order = torch.randperm(len(data), generator=self.generator).numpy()
            mean = 0.0
            for i in range(each):
                rows = order[i * BATCH : (i + 1) * BATCH]
                if len(rows):
                    mean += step(data.inputs[rows], data.targets[rows]) / each
            text = f"greedy, {first + TOGETHER},000 hands: loss {mean:.4f}"
            print(text, file=sys.stderr, flush=True)

    def run(self, data: Rows, targets: np.ndarray, held: Rows, epochs: int) -> None:
        """Fit to ``targets`` of the tables; each epoch says the loss against true places."""
        steps = len(data) // BATCH
        step = self._optimiser(epochs * steps)
        for epoch in range(epochs):
            order = torch.randperm(len(data), generator=self.generator).numpy()
            mean = 0.0
            for i in range(steps):
                rows = order[i * BATCH : (i + 1) * BATCH]
                mean += step(data.inputs[rows], targets[rows]) / steps
            apart = 0.0
            with torch.no_grad():
                for rows in held.parts():
                    loss = self._loss(held.inputs[rows], held.targets[rows])
                    apart += loss.item() * len(rows) / len(held)
            text = f"epoch {epoch + 1}: loss {mean:.4f}, held out {apart:.4f}"
            print(text, file=sys.stderr, flush=True)

    def mixed(self, data: Rows) -> np.ndarray:
        """Lambda-returns ``[N, O]``: from the last table of each hand back, the next one's target
        and what the network says of it, mixed."""
        seats = self.sight.seats
        absolute = (np.arange(seats) - data.seat[:, None]) % seats
        back = (np.arange(seats) + data.seat[:, None]) % seats
        row = np.arange(len(data))[:, None]

        def seen(values: np.ndarray, order: np.ndarray) -> np.ndarray:
            places = values[:, : seats**2].reshape(-1, seats, seats)[row, order]
            outcomes = data.turned(values[:, seats**2 :])
            return np.concatenate([places.reshape(len(data), -1), outcomes], axis=1)

        words = []
        with torch.no_grad():
            for rows in data.parts():
                places, outcomes = self._logs(data.inputs[rows])
                words.append(torch.cat([places.flatten(1).exp(), outcomes.exp()], 1).numpy())
        said = seen(np.concatenate(words), absolute)
        target = seen(data.targets.astype(np.float32), absolute)
        # k-th last tables of all hands, then those before them
        hand = data.hand
        order = np.lexsort((-np.arange(len(hand)), hand))
        start = np.flatnonzero(np.diff(hand[order], prepend=-1))
        place = np.arange(len(hand)) - np.repeat(start, np.diff(np.append(start, len(hand))))
        for k in range(1, int(place.max()) + 1):
            at = np.flatnonzero(place == k)
            now, after = order[at], order[at - 1]
            target[now] = TRUST * target[after] + (1 - TRUST) * said[after]
        return seen(target, back).astype(np.float16)

    def layers(self) -> files.Layers:
        """Weights ``[I, O]`` and biases."""
        linear = [module for module in self.net if isinstance(module, nn.Linear)]
        return [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in linear]


def tell(layers: files.Layers, held: Rows) -> None:
    """How far expected scores of the asked seat are from those at the end, by how much of the
    cards is left."""
    value = Value(layers, held.sight)
    said, left = np.zeros(len(held)), np.zeros(len(held))
    for rows in held.parts():
        state = held.state(rows)
        said[rows] = value.scores(state, held.engine.rules)[np.arange(len(rows)), held.seat[rows]]
        left[rows] = state.sizes.sum(axis=1)
    left /= len(held.engine.rules.cards.codes)
    for low, high in ((0, 1), (0.75, 1), (0.5, 0.75), (0.25, 0.5), (0, 0.25)):
        some = (left > low) & (left <= high)
        error = ((said - held.points)[some] ** 2).mean()
        explained = 1 - error / held.points[some].var()
        text = f"{low:.0%} to {high:.0%} of the cards left: {some.sum()} tables, squared error "
        print(f"{text}{error:.2f}, explained {explained:.3f}")


def fit(data: Rows, held: Rows, arguments: argparse.Namespace) -> Fit:
    """First to the true places, then to targets that the first network has smoothed."""
    network = Fit(data.sight, arguments.seed)
    network.before(arguments.rules, arguments.before, arguments.seed)
    network.run(data, data.targets, held, arguments.epochs)
    network.run(data, network.mixed(data), held, arguments.epochs)
    return network


def main() -> None:
    """Command line."""
    presets = [preset for game in GAMES for preset in rules_class(game).presets]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="qingdao", choices=presets, help="preset")
    parser.add_argument("--hands", type=int, default=50_000, help="hands of tactical")
    parser.add_argument("--before", type=int, default=80_000, help="hands of greedy")
    parser.add_argument("--epochs", type=int, default=2, help="of each of two fits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder in which blocks are kept")
    parser.add_argument(
        "--first",
        type=int,
        nargs="+",
        default=[0],
        help="first block; several: they share the hands",
    )
    parser.add_argument("--only-play", action="store_true", help="fill the folder, fit nothing")
    arguments = parser.parse_args()
    arguments.game = game_of_preset(arguments.rules)
    blocks = gather(arguments)
    if arguments.only_play:
        return
    sight = sight_of(arguments.game)
    apart = [i % HELD_OUT < 2 for i in range(len(blocks))]
    data, held = (
        Rows([b for b, out in zip(blocks, apart, strict=True) if out == which], sight,
             arguments.rules)
        for which in (False, True)
    )  # fmt: skip
    path = Path(*sight.package.split(".")[1:]) / f"value_{arguments.rules}.npz"
    network = fit(data, held, arguments)
    files.write(path, network.layers(), arguments.rules, sight.layout)
    print(f"{path}: {path.stat().st_size} bytes from {len(data) + len(held)} rows")
    layers = files.read(path, arguments.rules, sight.layout, sight.inputs, sight.outputs)
    tell(layers, held)


if __name__ == "__main__":
    main()
