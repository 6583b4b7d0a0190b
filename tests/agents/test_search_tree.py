"""The tree of `search`: a node is what the asked player has seen, no more and no less."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from lupai.agents.search import Options, imagine, tree
from lupai.agents.search.judge import Judge
from lupai.agents.tactical import TacticalAgent
from lupai.envs.baohuang.actions import ACTIONS, CALL, SET
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_PLAY, Solo
from lupai.envs.packed import RECENT
from tests.envs.side_by_side import small


class Watched(tree._Tree):
    """Notes what stood behind each edge that was taken: what everybody had seen, who was asked,
    whether he had called secretly, his move."""

    def __init__(self, *args):
        super().__init__(*args)
        self.edges_of, self.seen_at = defaultdict(set), defaultdict(set)

    def _choices(self, state, rows, descents, depth):
        before = []
        for row in rows:
            moves, actor = int(state.moves[row]), int(state.actor[row])
            events = [tuple(state.recent[row, (moves - 1 - i) % RECENT]) for i in range(depth)]
            secret = state.solo[row] == Solo.SECRET and state.emperor[row] == actor
            before.append((tuple(events), actor, bool(secret)))
        actions, goes_on = super()._choices(state, rows, descents, depth)
        for row, seen, action in zip(rows, before, actions.tolist(), strict=True):
            edge = descents[row].path[-1]
            self.edges_of[seen, action].add(edge)
            self.seen_at[edge].add((seen, action))
        return actions, goes_on


def watched(engine, state, **options):
    """A tree for the first table's asked player."""
    seat, legal = int(state.actor[0]), engine.legal(state)
    ids, offsets = legal.ids()
    masked, seats = engine.mask_hidden(state, [seat]), np.array([seat])
    tactical = TacticalAgent()
    prices = tactical.prices(engine.rules, masked, seats, ids, offsets)
    rng = np.random.default_rng(1)
    decision = imagine.Decision(masked, seat, ids, prices, 0 * prices, rng)
    chosen = Options(method="tree", exploration=20.0, **options)
    return Watched(engine, decision, Judge(engine, chosen, tactical), chosen)


def test_worlds_in_which_others_are_asked_share_no_node():
    """Under weihai the guard is asked by himself, so that all know him; the tree took the answers
    of different seats for the same move, and scored it for whoever came."""
    engine = Engine("weihai")
    state = engine.reset([4])
    while state.phase[0] < PHASE_PLAY and len(engine.legal(state).ids()[0]) < 2:
        engine.step(state, engine.legal(state).ids()[0][:1])
    found = watched(engine, state, depth=16)
    for _ in range(6):
        found.grow(256)
    assert all(len(seen) == 1 for seen in found.seen_at.values())
    assert all(len(edges) == 1 for edges in found.edges_of.values())
    askers = defaultdict(set)
    for (events, actor, _), _ in found.edges_of:
        askers[events].add(actor)
    assert max(map(len, askers.values())) > 1  # there were such worlds


def test_a_secret_call_leads_others_to_the_node_of_a_call(monkeypatch):
    """What they do behind it was learned apart, as if they knew that nobody is guard."""
    aside = ("As Ah Ad Ac 7c", "2s 2h 2d 2c 7d")
    rules = {"preset": "qingdao", "grab": False}
    three = ("R* 9c 9c 8c 8d", "3c Kh Kc Kd 9c", *aside, "3c 3c 3c 4d 5h")
    four = ("R* 9c 9c 8c 8d", "5h Kh Kc Kd 9c", *aside, "3c 3c 3c 3c 4d")
    engine, one = small(*three, rules=rules)
    _, two = small(*four, rules=rules)
    monkeypatch.setattr(imagine, "draw", lambda *_: imagine.join([one.copy(), two.copy()] * 32))
    monkeypatch.setattr(tree, "SHARP", 1e6)  # all moves are tried
    found = watched(engine, one, depth=8)
    for _ in range(12):
        found.grow(64)
    assert all(len(edges) == 1 for edges in found.edges_of.values())
    assert all(len(seen) == 1 for seen in found.seen_at.values())
    secret = ACTIONS.offsets["call_secret"]
    calls = {action for (_, _, _), action in found.edges_of if CALL <= action < SET}
    hidden = {action for action in calls if action >= secret}
    assert hidden
    assert {action - secret + CALL for action in hidden} & calls  # both ways to one node
    # the caller himself knows
    assert {secret for (_, actor, secret), _ in found.edges_of if actor == 4} == {False, True}
