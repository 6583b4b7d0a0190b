"""Fit the value networks of ``search`` to hands that ``tactical`` plays against itself.

    python tools/fit_value.py --rules qingdao --hands 15000

Writes agents/search/value_PRESET.npz. Needs torch. Some moves are drawn from the best few instead
of the best, so that the network knows the tables to which the moves lead that a search compares:
tables right behind such a move are kept, and so are first leads and some others.

The target of a table are the finishing places at the end of its hand, which are known but noisy,
mixed with what a first network says of the tables that came next (a lambda-return). Two blocks of
a thousand hands in twenty are held out of the fit and say how good it is.

Hands are played in blocks of a thousand, each from its own seed. With ``--data FOLDER`` blocks are
kept there, and those that are there already are not played again; several processes with different
``--first`` may fill it. The same options give the same file.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from lupai.agents.search import files
from lupai.agents.search.value import FEATURES, LAYOUT, features
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_PLAY, SEATS
from lupai.envs.view import Views

BLOCK = 1000  # hands
KEEP = 0.10  # of the decisions in play
STRAY = 0.08  # of the moves and bids are drawn from the best few
FEW = 5
TRUST = 0.6  # lambda: weight of the following table's own target against the network's word
HELD_OUT = 20  # two blocks of so many
# every other block without the calls that leave the emperor alone, which else are most hands
OTHER = {"qingdao": ";grab=false", "shiwei": ";grab=false", "weihai": ";open_solo=false"}
WIDTHS = (160, 64)
BATCH, RATE = 1024, 4e-3

Block = dict[str, np.ndarray]


def labels(state: Any) -> np.ndarray:
    """``[N, S, S]`` which place each seat took at ended tables; open places are shared alike."""
    places = state.places
    out = np.zeros((len(places), SEATS, SEATS), np.float32)
    for place in range(1, SEATS + 1):
        out[:, :, place - 1] = places == place
    free = 1 - out.sum(axis=1)
    free /= np.maximum(free.sum(axis=1, keepdims=True), 1)
    return out + (places == 0)[:, :, None] * free[:, None, :]


def play(rules: str, block: int, seed: int) -> Block:
    """Tables of a block of hands, in the order in which they came.

    Returns:
        ``inputs [N, F]``, ``targets [N, S * S]`` (places of the seats from the asked one on),
        ``hand [N]`` and ``seat [N]``, the asked one.
    """
    engine, agent = Engine(rules + OTHER[rules] * (block % 2)), TacticalAgent()
    rng = np.random.default_rng([seed, block])
    state = engine.reset(rng.integers(1 << 62, size=BLOCK))
    astray = np.zeros(BLOCK, bool)
    seen, who, seats = [], [], []
    while True:
        rows = np.flatnonzero(~state.over)
        if not rows.size:
            break
        playing = state.phase[rows] == PHASE_PLAY
        first = playing & (state.played[rows].sum(axis=(1, 2)) == 0)  # where a search of bids ends
        kept = rows[first | (playing & (astray[rows] | (rng.random(len(rows)) < KEEP)))]
        if kept.size:
            some = state.take(kept)
            seen.append(features(some, supreme=engine.rules.supreme).astype(np.float16))
            who.append(kept)
            seats.append(some.actor.astype(np.int8))
        views = Views(engine, state, state.actor[rows].astype(np.intp), rows)
        ids, offsets = views.legal.ids()
        prices = agent.prices(engine.rules, views.state, views.seats, ids, offsets)
        counts = np.diff(offsets)
        best_first = np.lexsort((-prices, np.repeat(np.arange(len(rows)), counts)))
        stray = rng.random(len(rows)) < STRAY
        pick = np.where(stray, rng.random(len(rows)) * np.minimum(counts, FEW), 0).astype(int)
        engine.step(state, ids[best_first[offsets[:-1] + pick]], rows, legal=views.legal)
        astray[rows] = stray & (pick > 0)
    hand, seat = np.concatenate(who), np.concatenate(seats).astype(np.intp)
    order = (seat[:, None] + np.arange(SEATS)) % SEATS
    targets = labels(state)[hand[:, None], order].reshape(len(hand), -1)
    return {
        "inputs": np.concatenate(seen),
        "targets": targets.astype(np.float16),
        "hand": hand.astype(np.int16),
        "seat": seat.astype(np.int8),
    }


def gather(arguments: argparse.Namespace) -> list[Block]:
    """All blocks, from the folder where they are there."""
    out, start = [], time.monotonic()
    first, count = arguments.first, -(-arguments.hands // BLOCK)
    for block in range(first, first + count):
        name = f"{arguments.rules}-{arguments.seed}-{block}.npz"
        path = None if arguments.data is None else arguments.data / name
        if path is not None and path.exists():
            with np.load(path) as file:
                out.append({key: file[key] for key in file.files})
            continue
        out.append(play(arguments.rules, block, arguments.seed))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.stem}.new.npz")
            np.savez(new, **out[-1])
            new.replace(path)
        took = time.monotonic() - start
        print(
            f"block {block}: {len(out[-1]['hand'])} rows, {took:.0f} s", file=sys.stderr, flush=True
        )
    return out


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
        optimiser = torch.optim.AdamW(self.net.parameters(), lr=RATE, weight_decay=1e-3)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=epochs * steps)
        for epoch in range(epochs):
            order = torch.randperm(len(inputs), generator=self.generator)
            mean = 0.0
            for i in range(steps):
                rows = order[i * BATCH : (i + 1) * BATCH]
                loss = self._loss(inputs[rows], wanted[rows])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                mean += loss.item() / steps
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


def fit(blocks: list[Block], epochs: int, seed: int) -> Fit:
    """First to the true places, then to targets that the first network has smoothed."""
    network = Fit(seed)
    network.run(blocks, [block["targets"] for block in blocks], epochs)
    network.run(blocks, [network.mixed(block) for block in blocks], epochs)
    return network


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", default="qingdao", help="preset")
    parser.add_argument("--hands", type=int, default=15_000)
    parser.add_argument("--epochs", type=int, default=4, help="of each of two fits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="folder in which blocks are kept")
    parser.add_argument("--first", type=int, default=0, help="first block")
    parser.add_argument("--only-play", action="store_true", help="fill the folder, fit nothing")
    arguments = parser.parse_args()
    blocks = gather(arguments)
    if arguments.only_play:
        return
    path = Path("agents/search") / f"value_{arguments.rules}.npz"
    layers = fit(blocks, arguments.epochs, arguments.seed).layers()
    files.write(path, layers, arguments.rules, LAYOUT)
    print(f"{path}: {path.stat().st_size} bytes from {sum(len(b['hand']) for b in blocks)} rows")


if __name__ == "__main__":
    main()
