"""Agents that play in a known way, for tests of who sat where and who was asked what."""

from __future__ import annotations

import contextlib
import time

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.view import Views

# Short hands: what matters here is who plays, not how long.
_CARDS = " ".join(rank + suit for rank in "TJQ" for suit in "shcd" for _ in range(4))
SMALL = str(load_rules({"preset": "qingdao", "deck": [*_CARDS.split(), "B", "B", "R", "R*"]}))


class Loser:
    """Never answers and leads one low card at a time: it goes out last, if at all."""

    name = "loser"

    def reset(self, seed=None):
        pass

    def act(self, view):
        return view.move_of(int(self.act_batch(Views(view.engine, view.state, view.seat))[0]))

    def act_batch(self, views):
        ids, offsets = views.legal.ids()
        chosen = ids[offsets[:-1]].copy()  # pass has the lowest id of an answer
        calm = GreedyAgent().act_batch(views)
        early = views.state.phase < views.engine.phases.index("play")
        return np.where(early, calm, chosen).astype(np.int32)


class OnlyInSeat(Loser):
    """``greedy`` in one seat, the loser in all others."""

    def __init__(self, seat=2):
        self.seat = seat
        self.name = f"only{seat}"

    def act_batch(self, views):
        lost, sensible = super().act_batch(views), GreedyAgent().act_batch(views)
        return np.where(views.seats == self.seat, sensible, lost).astype(np.int32)


class Slip(RandomAgent):
    """``greedy`` that plays any move now and then; with lanes."""

    name = "slip"
    share = 0.2

    def act_lanes(self, views, lanes):
        any_move, best = super().act_lanes(views, lanes), GreedyAgent().act_batch(views)
        draws = super().act_lanes(views, lanes + (1 << 40)) % 1000
        return np.where(draws < 1000 * self.share, any_move, best).astype(np.int32)


class PlaySlip(Slip):
    """Slips in play alone, and bids like ``greedy``."""

    share = 0.05

    def act_lanes(self, views, lanes):
        early = views.state.phase < views.engine.phases.index("play")
        calm = GreedyAgent().act_batch(views)
        return np.where(early, calm, super().act_lanes(views, lanes)).astype(np.int32)


class Plain:
    """Has ``act`` alone; what it does with the view is a function."""

    def __init__(self, move=lambda view: view.legal[0], name="plain"):
        self.move, self.name = move, name
        self.asked = 0

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)

    def act(self, view):
        self.asked += 1
        return self.move(view)


def fail(view):
    raise ZeroDivisionError("no idea")


def doze(view):
    time.sleep(0.01)
    return view.legal[0]


def hang(view):
    while True:
        with contextlib.suppress(Exception):  # it does not want to be woken
            time.sleep(5)
