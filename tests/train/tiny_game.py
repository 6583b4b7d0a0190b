"""A game small enough to be solved: fifteen cards, a few deals, four opponents who play `greedy`.

What is solved is the best response of one seat: the others are deterministic, and every hand of the
deals tells which deal it is, so the best score of a seat is the highest one that any sequence of
its own moves leads to. All sequences are played.
"""

from __future__ import annotations

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.view import Views

_DECK = "3s 4s 5s 6s 7s 8s 9s Ts Js Qs Ks 5h 8h B* R*"
RULES = str(load_rules({"preset": "weihai", "deck": _DECK.split()}))
SEEDS = np.arange(4, dtype=np.uint64)
SEATS = 5


def roots(engine):
    """Every deal for every seat: ``(state of 30 tables, seats [30])``."""
    seats = np.tile(np.arange(SEATS), len(SEEDS))
    return engine.reset(np.repeat(SEEDS, SEATS)), seats


def others_play(engine, state, seats):
    """Play `greedy` everywhere until ``seats`` are asked or the hand is over."""
    while True:
        actor = np.asarray(state.actor)
        rows = np.flatnonzero(~state.over & (actor != seats))
        if not len(rows):
            return
        views = Views(engine, state, actor[rows].astype(np.intp), rows)
        engine.step(state, GreedyAgent().act_batch(views), rows)


def best_scores(engine):
    """``[30]`` the best score of each root's seat."""
    state, seats = roots(engine)
    best = np.full(len(seats), -1000)
    root = np.arange(len(seats))
    while len(state):
        others_play(engine, state, seats)
        over = np.asarray(state.over)
        ended = np.flatnonzero(over)
        scores = engine.scores(state.take(ended))[np.arange(len(ended)), seats[ended]]
        np.maximum.at(best, root[ended], scores)
        asked = np.flatnonzero(~over)
        ids, offsets = engine.legal(state, asked).ids()
        parents = np.repeat(asked, np.diff(offsets))
        state, seats, root = state.take(parents), seats[parents], root[parents]
        if len(state):
            engine.step(state, ids)
    return best


def scores_of(agent, engine):
    """``[30]`` what an agent in each root's seat reaches."""
    state, seats = roots(engine)
    while True:
        others_play(engine, state, seats)
        rows = np.flatnonzero(~np.asarray(state.over))
        if not len(rows):
            return engine.scores(state)[np.arange(len(seats)), seats]
        views = Views(engine, state, seats[rows].astype(np.intp), rows)
        engine.step(state, agent.act_batch(views), rows)


def make_engine():
    """The rules."""
    return Engine(RULES)
