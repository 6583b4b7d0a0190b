"""Tables of Gouji made from hands, and hands played by agents."""

import itertools
import re

import numpy as np

from lupai.envs.cards import NUM_KINDS, RANK_OF_KIND, count_ranks, four_packs
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import State
from lupai.envs.view import View, Views

LETTERS = "3456789TJQKA2BR"
DECK = four_packs(marked_r=False).counts
OPTIONS = [
    f"shandong;revolution={revolution};burn_fail={fail};tribute={tribute};end={end}"
    for revolution, fail, tribute, end in itertools.product(
        ("true", "false"), ("null", "last_place"), ("true", "false"), ("side_out", "last_player")
    )
]


def table(hands, leader=0, engine=None, places=(), **columns):
    """A table of one whose seats hold these cards (``KK2B``, without suits) and nothing else is
    out; ``leader`` leads. ``places``: seats that are out already, in order."""
    state = State(1)
    left = DECK.copy()
    for seat, text in enumerate(hands):
        for letter in text.replace(" ", ""):
            kind = int(((left > 0) & (LETTERS.index(letter) == RANK_OF_KIND)).argmax())
            assert left[kind], f"too many {letter}"
            left[kind] -= 1
            state.hands[0, seat, kind] += 1
    state.played[0, 0] = left
    state.ranks[:] = count_ranks(state.hands)
    state.sizes[:] = state.hands.sum(axis=2)
    state.actor = leader
    state.first_leader = leader
    for place, seat in enumerate(places, 1):
        state.places[0, seat] = place
    state.left = len(places)
    state.alive = sum(1 << seat for seat in range(6) if hands[seat])
    if places:
        state.headless = (1 << (places[0] + 3) % 6) & int(state.alive[0])
    state.melee = len(places) >= 2
    for name, value in columns.items():
        setattr(state, name, value)
    return state


def play(engine, state, *moves):
    """Play ``"0 KK"``, ``"1 pass"`` …, sets without the verb; the seat must be the one asked."""
    for move in moves:
        seat, word = move.split(" ")
        assert int(state.actor[0]) == int(seat), f"{move}: seat {state.actor[0]} is asked"
        text = f"play {word}" if re.fullmatch(f"[{LETTERS}]+", word) else word
        engine.step(state, [engine.action_of(state, 0, text)])


def asked(agent, engine, state):
    """Move of an agent in the seat that is asked at a table of one, without ``play``."""
    move = agent.act(View.of(engine, state, int(state.actor[0])))
    return move.removeprefix("play ")


def fresh(engine, tables, seed=0):
    """Dealt tables, after a hand where there is tribute."""
    previous = None
    if engine.rules.tribute:
        rng = np.random.default_rng(seed)
        previous = np.stack([rng.permutation(6) for _ in range(tables)])
    return engine.reset(np.arange(seed, seed + tables), previous_finish=previous)


def turns(engine, agent, tables, seed=0):
    """``(state, rows, views, actions)`` of each step of hands that an agent plays with itself;
    the moves are made after each."""
    state = fresh(engine, tables, seed)
    while (rows := np.flatnonzero(~state.over)).size:
        views = Views(engine, state, state.actor[rows].astype(np.intp), rows)
        actions = agent.act_batch(views)
        yield state, rows, views, actions
        engine.step(state, actions, rows)


def other_worlds(state, seat, rng):
    """A copy of tables in which the cards that a seat does not see are dealt anew."""
    out = state.copy()
    for at in range(len(state)):
        viewer = int(seat[at])
        others = [s for s in range(6) if s != viewer]
        unseen = np.repeat(np.arange(NUM_KINDS), state.hands[at, others].sum(axis=0))
        rng.shuffle(unseen)
        start = 0
        for other in others:
            size = int(state.sizes[at, other])
            out.hands[at, other] = np.bincount(unseen[start : start + size], minlength=NUM_KINDS)
            start += size
    out.ranks[:] = count_ranks(out.hands)
    return out


def new_engine(rules="shandong"):
    """An engine."""
    return Engine(rules)
