"""Moments of mini-deals at which the guard is not known, with exact answers."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from lupai.agents.belief.behaviour import NoisyAgent, Population, UniformPlay
from lupai.agents.belief.exact import ExactPosterior
from lupai.agents.greedy import GreedyAgent
from lupai.envs.errors import LupaiError
from lupai.envs.view import Views
from tests.belief.brute import positions, views_of

PRESETS = ("qingdao", "shiwei", "weihai")
MIXED = Population((UniformPlay(), NoisyAgent(GreedyAgent(), 0.1)), (0.3, 0.7))

# nearly deterministic players and suits in order: few drawn worlds have any weight
SHARP = Population((NoisyAgent(GreedyAgent(), 0.02),), suits="order")


@dataclass(frozen=True)
class Question:
    """A view of one, who is guard for sure of a known population, and for the grounded."""

    views: Views
    exact: np.ndarray
    grounded: np.ndarray


@cache
def questions(preset: str, count: int, population: Population = MIXED) -> list[Question]:
    """So many, each of another deal, after some sets were played, where how people play tells
    something."""
    exact = ExactPosterior(population, limit=4000)
    out: list[Question] = []
    deck = None
    for party, story in positions(preset, 500, 3):
        if deck == party.rules["deck"]:
            continue
        rebels = set(range(5)) - {int(party.state.emperor[0]), int(party.state.guard[0])}
        viewer = (int(party.state.emperor[0]), min(rebels), -1)[len(out) % 3]
        views = views_of(party, story, viewer)
        grounded = party.engine.guard_chances(party.state, viewer)[0]
        if grounded.max() == 1:
            continue
        try:
            chances = exact.predict(views)[0]
        except LupaiError:
            continue
        if np.abs(chances - grounded).max() < 0.02:
            continue
        out.append(Question(views, chances, grounded))
        deck = party.rules["deck"]
        if len(out) == count:
            return out
    raise AssertionError("no position")
