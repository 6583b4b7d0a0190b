"""What a seat sees of Gouji, section by section in plain Python, at every kind of moment."""

import numpy as np
import pytest

from lupai.envs.cards import KIND_TEXTS
from lupai.envs.gouji.actions import ACTIONS
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.observation import EVENT_FIELDS, OBSERVATION, OPTION_FIELDS, STATE
from lupai.envs.gouji.orders import unpack
from lupai.envs.gouji.sets import GoujiSet
from lupai.envs.gouji.state import PHASE_NAMES, State

SEATS = 6


def one(place, count):
    return [int(i == place) for i in range(count)]


def event(seat, action, viewer):
    """One remembered move."""
    said = dict.fromkeys(EVENT_FIELDS, 0)
    if action >= 0:
        said[f"seat_{(seat - viewer) % SEATS}"] = 1
        move = ACTIONS.decode(action)
        if move.cards is not None:
            cards = move.cards
            said["play"] = 1
            said["jokers_only" if cards.row == 13 else f"rank_{'3456789TJQKA2'[cards.row]}"] = 1
            said |= {"n": cards.n, "twos": cards.t, "b": cards.b, "r": cards.r}
        elif move.verb == "offer":
            said["offer"] = 1
            name = "br"[move.rank - 13] if move.rank >= 13 else f"rank_{'3456789TJQKA2'[move.rank]}"
            said[name] = 1
        else:
            said[move.verb] = 1
    return list(said.values())


def expected(engine, state: State, t: int, me: int) -> dict[str, list[int]]:
    """All public sections for a seat at a table."""
    c = {name: int(getattr(state, name)[t]) for name in state.COLUMN}
    seats = [(me + i) % SEATS for i in range(SEATS)]
    over = PHASE_NAMES[c["phase"]] == "over"
    queue = [] if over else unpack(c["queue"])
    there = c["standing"] >= 0
    cards = GoujiSet.at(c["standing"]) if there else None
    moves = []
    for back in range(1, 17):
        slot = (c["moves"] - back) % 16
        moves.append(event(*state.recent[t, slot].tolist(), me))
    rules = engine.rules.model_dump()
    number = {"side_out": 0, "last_player": 1, None: 0, "last_place": 1}
    previous = state.previous[t].tolist()
    options = [rules[name] for name in OPTION_FIELDS]
    return {
        "phase": one(c["phase"], len(PHASE_NAMES)),
        "actor": [int(s == c["actor"]) for s in seats],
        "first_leader": [int(s == c["first_leader"]) for s in seats],
        "threes": [c["threes"] * (i == c["threes_suit"]) for i in range(4)],
        "next_asked": [queue.index(s) + 1 if s in queue else 0 for s in seats],
        "hand_sizes": [int(state.sizes[t, s]) for s in seats],
        "played": [state.played[t, s].tolist() for s in seats],
        "shown": [state.shown[t, s].tolist() for s in seats],
        "places": [one(int(state.places[t, s]) - 1, SEATS) for s in seats],
        "standing": one(cards.row, 14) if cards else [0] * 14,
        "standing_cards": [cards.n, cards.t, cards.b, cards.r] if cards else [0] * 4,
        "kind": one(c["kind"], 3) if there else [0] * 3,
        "bottom": [int(c["bottom"] == 1), int(c["bottom"] == 2)],
        **{name: [c[name]] for name in ("burning", "yielded", "melee", "deaths", "redeals")},
        **{
            name: [int(s == c[name]) for s in seats]
            for name in ("owner", "duty", "burned", "revolter")
        },
        **{name: [c[name] >> s & 1 for s in seats] for name in ("passed", "headless")},
        "offered": one(c["offered"], len(KIND_TEXTS)),
        "refused": [c["refused"] >> rank & 1 for rank in range(15)],
        "owes": [int(state.owes[t, s]) for s in seats],
        "giver": [[int(state.giver[t, s] == o) for o in seats] for s in seats],
        "previous": [one(previous.index(s) if s in previous else -1, SEATS) for s in seats],
        "options": [int(v) if isinstance(v, bool) else number[v] for v in options],
        "recent": moves,
    }


@pytest.mark.parametrize(
    "rules", ["shandong", "shandong;tribute=true;end=last_player", "shandong;burn_fail=last_place"]
)
def test_every_section_says_what_it_should(rules):
    engine, rng = Engine(rules), np.random.default_rng(4)
    order = rng.permutation(SEATS) if "tribute" in rules else None
    state = engine.reset(range(24), 0, order)
    step = 0
    while not state.over.all():
        live = np.flatnonzero(~state.over)
        for t in rng.choice(24, 2, replace=False).tolist():
            me = int(rng.integers(SEATS))
            row, god = engine.observe(state, me, [t])[0], engine.state_vector(state, [t])[0]
            seen, all_seen = OBSERVATION.split(row), STATE.split(god)
            poll = PHASE_NAMES[state.phase[t]] == "revolt"
            revolts = int(state.revolts[t]) * poll
            assert seen.pop("own_hand").tolist() == state.hands[t, me].tolist()
            assert seen.pop("own_revolt").tolist() == [revolts >> me & 1]
            assert all_seen.pop("hands").tolist() == state.hands[t].tolist()
            assert all_seen.pop("revolts").tolist() == [revolts >> s & 1 for s in range(SEATS)]
            for sections, viewer in ((seen, me), (all_seen, 0)):
                wanted = expected(engine, state, t, viewer)
                assert set(sections) == set(wanted)
                for name, values in sections.items():
                    assert values.tolist() == wanted[name], (name, step)
        legal = engine.legal(state, live)
        engine.step(state, legal.pick(rng.random(len(live))), live, legal=legal)
        step += 1


def test_many_rows_are_those_of_each_table_alone():
    engine, rng = Engine("shandong"), np.random.default_rng(1)
    state = engine.reset(range(300))
    for _ in range(80):
        legal = engine.legal(state)
        engine.step(state, legal.pick(rng.random(300)), legal=legal)
    viewer = rng.integers(0, SEATS, 300)
    alone = np.concatenate([engine.observe(state, [viewer[i]], [i]) for i in range(300)])
    assert (engine.observe(state, viewer) == alone).all()
    some = rng.integers(0, 300, 600)
    assert (engine.observe(state, viewer[some], some) == alone[some]).all()
