"""Fit the value networks of ``search`` to hands that ``tactical`` plays against itself.

    python tools/fit_value.py --rules qingdao

Writes agents/search/value_PRESET.npz. Needs torch and some 10 GB of memory. The network learns from
hands of ``greedy`` first, which are cheap and teach it what beats what, then from those of
``tactical``. Some moves are drawn from the best few instead of the best, so that the network knows
the tables to which the moves lead that a search compares: tables right behind such a move are kept,
and so are first leads and some others.

The target of a table are the finishing places at the end of its hand, which are known but noisy,
mixed with what a first network says of the tables that came next (a lambda-return). Two blocks of
a thousand hands in twenty are held out of the fit and say how good it is.

Hands are played in blocks of a thousand, each from its own seed. With ``--data FOLDER`` blocks of
``tactical`` are kept there, and those that are there already are not played again; several
processes with different ``--first`` may fill it. The same options give the same file.
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
from value_data import BLOCK, Block, Greedy, gather, play, prepare

from lupai.agents.search import files
from lupai.agents.search.value import FEATURES, LAYOUT
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import SEATS

TRUST = 0.6  # lambda: weight of the following table's own target against the network's word
HELD_OUT = 20  # two blocks of so many
TOGETHER = 8  # blocks of greedy
WIDTHS = (256, 96)
BATCH, RATE = 1024, 3e-3


class Fit:
    """A network on its way: fits itself to blocks, and mixes its word into their targets."""

    def __init__(self, seed: int) -> None:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        sizes = (FEATURES, *WIDTHS, SEATS * SEATS)
        steps: list[nn.Module] = []
        for into, out_of in itertools.pairwise(sizes):
            steps += [nn.Linear(into, out_of), nn.ReLU()]
        self.net = nn.Sequential(*steps[:-1])
        self.generator = torch.Generator().manual_seed(seed)

    def _loss(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logits = self.net(inputs.float()).view(-1, SEATS, SEATS).log_softmax(2)
        return -(targets.float().view(-1, SEATS, SEATS) * logits).sum(2).mean()

    def _optimiser(self, steps: int) -> Callable[[torch.Tensor, torch.Tensor], float]:
        """What does one step of so many, and gives its loss."""
        optimiser = torch.optim.AdamW(self.net.parameters(), lr=RATE, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps + 1)

        def step(inputs: torch.Tensor, targets: torch.Tensor) -> float:
            loss = self._loss(inputs, targets)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            return float(loss.item())

        return step

    def before(self, rules: str, hands: int, seed: int) -> None:
        """Learn from hands of ``greedy``, each seen once."""
        blocks = range(0, hands // BLOCK, TOGETHER)
        supreme = Engine(rules).rules.supreme
        probe = prepare(play(rules, 0, seed, Greedy), supreme)
        each = TOGETHER * len(probe["hand"]) * 3 // 4 // BATCH  # steps for blocks played at once
        step = self._optimiser(len(blocks) * each)
        for first in blocks:
            some = [
                prepare(play(rules, block, seed, Greedy), supreme)
                for block in range(first, first + TOGETHER)
            ]
            inputs = torch.from_numpy(np.concatenate([block["inputs"] for block in some]))
            wanted = torch.from_numpy(np.concatenate([block["targets"] for block in some]))
            order = torch.randperm(len(inputs), generator=self.generator)
            mean = 0.0
            for i in range(each):
                rows = order[i * BATCH : (i + 1) * BATCH]
                if len(rows):
                    mean += step(inputs[rows], wanted[rows]) / each
            text = f"greedy, {first + TOGETHER},000 hands: loss {mean:.4f}"
            print(text, file=sys.stderr, flush=True)

    def run(self, blocks: list[Block], targets: list[np.ndarray], epochs: int) -> None:
        """Fit to ``targets`` of the blocks; each epoch says the loss against true places."""
        kept = [i for i in range(len(blocks)) if i % HELD_OUT >= 2]
        inputs = torch.from_numpy(np.concatenate([blocks[i]["inputs"] for i in kept]))
        wanted = torch.from_numpy(np.concatenate([targets[i] for i in kept]))
        held = [
            torch.from_numpy(
                np.concatenate([block[name] for i, block in enumerate(blocks) if i % HELD_OUT < 2])
            )
            for name in ("inputs", "targets")
        ]
        steps = len(inputs) // BATCH
        step = self._optimiser(epochs * steps)
        for epoch in range(epochs):
            order = torch.randperm(len(inputs), generator=self.generator)
            mean = 0.0
            for i in range(steps):
                rows = order[i * BATCH : (i + 1) * BATCH]
                mean += step(inputs[rows], wanted[rows]) / steps
            with torch.no_grad():
                apart = self._loss(*held).item()
            text = f"epoch {epoch + 1}: loss {mean:.4f}, held out {apart:.4f}"
            print(text, file=sys.stderr, flush=True)

    def mixed(self, block: Block) -> np.ndarray:
        """Lambda-returns ``[N, S * S]`` of a block: from the last table of each hand back, the
        next one's target and what the network says of it, mixed."""
        with torch.no_grad():
            logits = self.net(torch.from_numpy(block["inputs"]).float())
            said = logits.view(-1, SEATS, SEATS).softmax(2).numpy()
        seat = block["seat"].astype(np.intp)
        absolute = (np.arange(SEATS) - seat[:, None]) % SEATS
        row = np.arange(len(seat))[:, None]
        said = said[row, absolute]
        target = block["targets"].astype(np.float32).reshape(-1, SEATS, SEATS)[row, absolute]
        # k-th last tables of all hands, then those before them
        hand = block["hand"]
        order = np.lexsort((-np.arange(len(hand)), hand))
        start = np.flatnonzero(np.diff(hand[order], prepend=-1))
        place = np.arange(len(hand)) - np.repeat(start, np.diff(np.append(start, len(hand))))
        for k in range(1, int(place.max()) + 1):
            at = np.flatnonzero(place == k)
            now, after = order[at], order[at - 1]
            target[now] = TRUST * target[after] + (1 - TRUST) * said[after]
        back = (np.arange(SEATS) + seat[:, None]) % SEATS
        return target[row, back].reshape(len(seat), -1).astype(np.float16)

    def layers(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weights ``[I, O]`` and biases."""
        linear = [module for module in self.net if isinstance(module, nn.Linear)]
        return [(m.weight.detach().numpy().T, m.bias.detach().numpy()) for m in linear]


def fit(blocks: list[Block], epochs: int, seed: int, rules: str, before: int) -> Fit:
    """First to the true places, then to targets that the first network has smoothed."""
    network = Fit(seed)
    network.before(rules, before, seed)
    network.run(blocks, [block["targets"] for block in blocks], epochs)
    network.run(blocks, [network.mixed(block) for block in blocks], epochs)
    return network


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="qingdao", help="preset")
    parser.add_argument("--hands", type=int, default=50_000, help="hands of tactical")
    parser.add_argument("--before", type=int, default=80_000, help="hands of greedy")
    parser.add_argument("--epochs", type=int, default=2, help="of each of two fits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder in which blocks are kept")
    parser.add_argument("--first", type=int, default=0, help="first block")
    parser.add_argument("--only-play", action="store_true", help="fill the folder, fit nothing")
    arguments = parser.parse_args()
    blocks = gather(arguments)
    if arguments.only_play:
        return
    supreme = Engine(arguments.rules).rules.supreme
    blocks = [prepare(block, supreme) for block in blocks]
    path = Path("agents/search") / f"value_{arguments.rules}.npz"
    network = fit(blocks, arguments.epochs, arguments.seed, arguments.rules, arguments.before)
    files.write(path, network.layers(), arguments.rules, LAYOUT)
    print(f"{path}: {path.stat().st_size} bytes from {sum(len(b['hand']) for b in blocks)} rows")


if __name__ == "__main__":
    main()
