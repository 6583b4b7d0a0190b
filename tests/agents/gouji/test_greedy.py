"""`greedy` and `random` in Gouji."""

import numpy as np
import pytest

from lupai.agents.gouji import GreedyAgent
from lupai.agents.gouji.greedy import LATE
from lupai.agents.random_agent import RandomAgent
from lupai.agents.rollout import rollout
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERB_ID
from lupai.envs.gouji.sets import PARTS, ROW_TWOS
from lupai.envs.gouji.state import Phase
from lupai.envs.view import Views
from tests.agents.gouji.tables import OPTIONS, asked, fresh, new_engine, play, table, turns

ENGINE = new_engine()
OTHERS = ["3456789TJQKA"] * 5


@pytest.mark.parametrize(
    ("hand", "standing", "move"),
    [
        ("9555K2BR", None, "555"),  # all of the lowest rank
        ("9K2BR", None, "9"),
        ("22BBR", None, "22BBR"),  # empties the hand
        ("992BR", None, "992BR"),
        ("9K24", "8", "9"),
        ("99K4", "8", "K"),  # rather than break the pair
        ("99KK4", "8", "9"),  # breaks the lower pair
        ("994", "K", "pass"),
        ("9994", "88", "99"),
        ("3456782", "A", "2"),  # 2 alone is a rank like any other
        ("34567899TT2", "88", "99"),
        ("3456789TJ2", "88", "92"),  # ten cards: the lowest that a 2 helps
        ("3456789TJQ2", "88", "pass"),  # eleven
        ("3456789TJQB", "A", "pass"),
        ("3456789TJB", "A", "B"),
        ("34R", "2", "R"),
        ("34BR", "2", "B"),  # the smaller joker
    ],
)
def test_greedy_plays(hand, standing, move):
    state = table([hand, *OTHERS], leader=0)
    if standing is not None:
        state = table([hand, *OTHERS[:2], standing + "3" * 9, *OTHERS[:2]], leader=3)
        play(ENGINE, state, f"3 {standing}")
        while int(state.actor[0]) or state.burning[0]:
            play(ENGINE, state, f"{state.actor[0]} {'silent' if state.burning[0] else 'pass'}")
    assert asked(GreedyAgent(), ENGINE, state) == move


def price(state, seat, action):
    """What a legal move of a table of one costs; the cheapest is played, the lowest of equals."""
    if action < OFFER:
        calm = [VERB_ID[verb] for verb in ("take", "silent", "pass")]
        return (2, calm.index(action)) if action in calm else (4,)
    if action < SET:
        return (0,)
    row, n, t, b, r = PARTS[action - SET].tolist()
    size, lead = int(state.sizes[0, seat]), state.standing[0] < 0
    if n + t + b + r == size:
        return (0,)
    helps = (t if row < ROW_TWOS else 0) + 2 * b + 3 * r
    if state.burning[0] or (helps and not lead and size > LATE):
        return (3,)
    left = int(state.ranks[0, seat, row]) - max(n, t * (row == ROW_TWOS)) if row < 13 else 0
    return (1, helps, left > 0 and not lead, row, left)


@pytest.mark.parametrize("rules", OPTIONS[::5])
def test_greedy_is_the_cheapest_by_id(rules):
    engine, checked = new_engine(rules), 0
    for state, rows, views, actions in turns(engine, GreedyAgent(), 4):
        ids, offsets = views.legal.ids()
        for i in range(len(rows)):
            if offsets[i + 1] - offsets[i] > 1:
                one = state.take([rows[i]])
                own = ids[offsets[i] : offsets[i + 1]]
                seat = views.seats[i]
                assert min(own.tolist(), key=lambda a: price(one, seat, a)) == actions[i]
                checked += 1
    assert checked > 200


def test_greedy_beats_random():
    engine, deals = ENGINE, np.arange(40)
    greedy, some = GreedyAgent(), RandomAgent(1)
    for sign, seats in ((1, [greedy, some] * 3), (-1, [some, greedy] * 3)):
        assert sign * rollout(seats, engine.reset(deals), engine)[:, 0].mean() > 6


def test_random_is_uniform_over_all_legal_moves():
    state = table(["344B", *OTHERS], leader=0)
    views = Views(ENGINE, state.take(np.zeros(4500, int)), 0)
    moves = [ACTIONS.text(action)[5:] for action in RandomAgent(0).act_batch(views).tolist()]
    legal = ["3", "4", "B", "3B", "44", "4B", "44B"]
    assert sorted(set(moves)) == sorted(legal)
    for move in legal:
        assert abs(moves.count(move) - 4500 / 7) < 4 * (4500 / 7) ** 0.5


def test_greedy_before_play():
    """It does not revolt, waives nothing, gives its lowest rank back and takes what it is given."""
    engine, said = new_engine("shandong;tribute=true"), set()
    state = fresh(engine, 200)
    while (rows := np.flatnonzero(state.phase < Phase.PLAY)).size:
        legal = engine.legal(state, rows)
        chosen = GreedyAgent().choose(engine, state, legal, rows, rows)
        for row, action in zip(rows, chosen.tolist(), strict=True):
            verb = ACTIONS.decode(action).verb
            said.add(verb)
            if verb == "offer":
                lowest = state.ranks[row, state.actor[row]].nonzero()[0][0]
                refused = state.refused[row] >> lowest & 1
                assert refused or action == OFFER + lowest
        engine.step(state, chosen, rows, legal=legal)
    assert said == {"silent", "take", "offer"}
