"""Scores over all 120 finishing orders: against the oracle, the tables of rules §6, S0's rhymes.

And when a hand stops: at every stopping point of every finishing order, against brute force.
"""

import itertools
from typing import Any

import numpy as np
import pytest

from lupai.envs.baohuang import play
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import Rules, load_rules
from lupai.envs.baohuang.scoring import final_scores
from lupai.envs.baohuang.state import Phase, Solo, State
from tests.envs import side_by_side
from tests.oracle.qingdao import score
from tests.oracle.scores import camp_is_out

ORDERS = list(itertools.permutations(range(5)))
PAIRS = list(itertools.permutations(range(5), 2))
QINGDAO, SHIWEI, WEIHAI = (load_rules(preset) for preset in ("qingdao", "shiwei", "weihai"))
SOLO_NAME = {Solo.NONE: None, Solo.SECRET: "secret", Solo.OPEN: "open", Solo.GRAB: "grab"}

# 6/4/2/0/-2/-4/-6 of the emperor by the pair of places, from S4's table of ten (whose ninth row,
# printed 三客/四客, is 三客/五客)
TEN_PAIRS = {
    (1, 2): 6, (1, 3): 4, (1, 4): 2, (1, 5): 0, (2, 3): 2,
    (2, 4): 0, (2, 5): -2, (3, 4): -2, (3, 5): -4, (4, 5): -6,
}  # fmt: skip


def ended(emperor: int, guard: int | None, solo: Solo, multiplier: int) -> State:
    """All 120 finishing orders as tables that are over."""
    state = State(len(ORDERS))
    state.phase = Phase.OVER
    state.emperor = emperor
    state.guard = -1 if guard is None else guard
    state.solo = solo
    state.multiplier = multiplier
    for table, order in enumerate(ORDERS):
        state.places[table, list(order)] = range(1, 6)
    return state


@pytest.mark.parametrize("rules", [QINGDAO, SHIWEI, WEIHAI], ids=str)
@pytest.mark.parametrize("multiplier", [1, 2])
@pytest.mark.parametrize(("emperor", "guard"), PAIRS)
def test_with_guard(emperor: int, guard: int, multiplier: int, rules: Rules) -> None:
    scores = final_scores(ended(emperor, guard, Solo.NONE, multiplier), rules)
    assert np.issubdtype(scores.dtype, np.integer)
    assert (scores.sum(axis=1) == 0).all()
    for order, row in zip(ORDERS, scores.tolist(), strict=True):
        assert row == score(emperor, guard, None, multiplier, list(order), rules.roles_by)
        camp = {order.index(emperor) + 1, order.index(guard) + 1}
        mine, his = row[emperor], row[guard]
        rebels = [row[seat] for seat in range(5) if seat not in (emperor, guard)]
        assert mine == 2 * his
        assert rebels == [-his] * 3
        assert mine == TEN_PAIRS[tuple(sorted(camp))] * multiplier  # type: ignore[index]
        # S0's rhymes (附一)
        if 1 in camp:
            assert mine == 0 if 5 in camp else mine > 0
        elif camp == {2, 3}:
            assert mine > 0
        elif camp == {2, 4}:
            assert mine == 0
        else:  # 二科 with 大落, or neither 头科 nor 二科
            assert mine < 0


@pytest.mark.parametrize("multiplier", [4, 8])
@pytest.mark.parametrize(("emperor", "guard"), PAIRS)
def test_from_niu_on_emperor_and_guard_share(emperor: int, guard: int, multiplier: int) -> None:
    """扭 (x4) and 踢 (x8): the same camp sum, in equal parts; a rebel as before."""
    scores = final_scores(ended(emperor, guard, Solo.NONE, multiplier), WEIHAI)
    for order, row in zip(ORDERS, scores.tolist(), strict=True):
        assert row == score(emperor, guard, None, multiplier, list(order), "marks")
        camp = tuple(sorted((order.index(emperor) + 1, order.index(guard) + 1)))
        points = TEN_PAIRS[camp] * multiplier  # type: ignore[index]
        assert row[emperor] == row[guard] == points * 3 // 4
        assert [row[s] for s in range(5) if s not in (emperor, guard)] == [-points // 2] * 3


@pytest.mark.parametrize("emperor", range(5))
@pytest.mark.parametrize(
    ("rules", "solo", "multiplier", "by_place"),
    [
        (QINGDAO, Solo.SECRET, 1, (16, 4, 0, -4, -16)),
        (QINGDAO, Solo.OPEN, 1, (32, 8, 0, -8, -32)),
        (QINGDAO, Solo.GRAB, 1, (40, -40, -40, -40, -40)),
        (SHIWEI, Solo.SECRET, 1, (16, 4, 0, -4, -16)),
        (SHIWEI, Solo.OPEN, 1, (32, 8, 0, -8, -32)),
        (SHIWEI, Solo.GRAB, 1, (40, -40, -40, -40, -40)),
        # S4: 暗度; 暗度被反; 暗度被反又被踢; 明度; 明度被踢
        (WEIHAI, Solo.SECRET, 1, (12, 0, -12, -12, -12)),
        (WEIHAI, Solo.SECRET, 2, (24, 0, -24, -24, -24)),
        (WEIHAI, Solo.SECRET, 4, (48, 0, -48, -48, -48)),
        (WEIHAI, Solo.OPEN, 1, (24, -24, -24, -24, -24)),
        (WEIHAI, Solo.OPEN, 2, (48, -48, -48, -48, -48)),
    ],
)
def test_alone(
    emperor: int, rules: Rules, solo: Solo, multiplier: int, by_place: tuple[int, ...]
) -> None:
    scores = final_scores(ended(emperor, None, solo, multiplier), rules)
    assert (scores.sum(axis=1) == 0).all()
    for order, row in zip(ORDERS, scores.tolist(), strict=True):
        mine = by_place[order.index(emperor)]
        assert row == [mine if seat == emperor else -mine // 4 for seat in range(5)]
        assert row == score(emperor, None, SOLO_NAME[solo], multiplier, list(order), rules.roles_by)
        if rules is not WEIHAI and solo is not Solo.GRAB:
            # S0's rhymes (附二): 1st, 2nd win, 3rd draws, 4th, 5th lose
            assert np.sign(mine) == (1, 1, 0, -1, -1)[order.index(emperor)]


@pytest.mark.parametrize("giver", range(5))
@pytest.mark.parametrize("penalty", [0, 4, 12, 40])
def test_a_crown_that_nobody_takes(giver: int, penalty: int) -> None:
    state = State(1)
    state.phase = Phase.OVER
    state.emperor = giver
    state.abandoned = 1
    rules = load_rules({"preset": "weihai", "abandon_penalty": penalty})
    expected = [-penalty if seat == giver else penalty // 4 for seat in range(5)]
    assert final_scores(state, rules)[0].tolist() == expected


def test_many_kinds_of_hands_in_one_call() -> None:
    """Tables with a guard, alone, void and unfinished side by side: each as by itself."""
    parts = [
        ended(0, 3, Solo.NONE, 2),
        ended(1, None, Solo.GRAB, 1),
        ended(2, None, Solo.SECRET, 1),
        ended(-1, None, Solo.NONE, 1),
        ended(4, 2, Solo.NONE, 1),
        ended(4, 0, Solo.NONE, 8),
    ]
    parts[4].phase = Phase.PLAY
    for rules in (QINGDAO, WEIHAI):
        mixed = State(6)
        for table, part in enumerate(parts):
            mixed.put([table], part.take([table * 20]))
        expected = [
            final_scores(part, rules)[table * 20].tolist() for table, part in enumerate(parts)
        ]
        assert final_scores(mixed, rules).tolist() == expected
        assert expected[3] == expected[4] == [0] * 5
        assert any(expected[5])


# ---- when a hand stops

# every way in which the emperor can have company or none, with every multiplier it can have
CALLED_WAYS = [(True, Solo.NONE, m) for m in (1, 2)]
CALLED_WAYS += [(False, solo, 1) for solo in (Solo.GRAB, Solo.OPEN, Solo.SECRET)]
MARKS_WAYS = [(True, Solo.NONE, m) for m in (1, 2, 4, 8)]
MARKS_WAYS += [(False, Solo.OPEN, m) for m in (1, 2)]
MARKS_WAYS += [(False, Solo.SECRET, m) for m in (1, 2, 4)]
WAYS = [("qingdao", *way) for way in CALLED_WAYS] + [("weihai", *way) for way in MARKS_WAYS]
ENDS = ("last_player", "camp_out", "decided")


def stopped_at(state: State, gone: int) -> State:
    """The finishing orders as tables in play, ``gone`` players out."""
    out = state.copy()
    out.phase = Phase.PLAY
    out.places = np.where(state.places <= gone, state.places, 0).astype(np.int8)
    out.out_count = gone
    out.alive = ((state.places > gone) << np.arange(5)).sum(axis=1)
    return out


@pytest.mark.parametrize("preset_and_way", WAYS)
def test_every_stopping_point_of_every_finishing_order(
    preset_and_way: tuple[str, bool, Solo, int],
) -> None:
    """For all orders and each number of players out: whether the hand stops by each ``end``, and
    that it has the scores of every completion, which are the same wherever it stops."""
    preset, company, solo, multiplier = preset_and_way
    rules = {end: load_rules({"preset": preset, "end": end}) for end in ENDS}
    pairs = PAIRS if company else [(emperor, None) for emperor in range(5)]
    for emperor, guard in pairs:
        complete = ended(emperor, guard, solo, multiplier)
        full = final_scores(complete, rules["decided"])
        by_start: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for order, row in zip(ORDERS, full.tolist(), strict=True):
            for gone in range(6):
                by_start.setdefault(order[:gone], set()).add(tuple(row))
        for gone in range(1, 5):
            state = stopped_at(complete, gone)
            decided = [len(by_start[order[:gone]]) == 1 for order in ORDERS]
            expected = {
                "last_player": [gone == 4] * len(ORDERS),
                "camp_out": [
                    gone == 4 or camp_is_out(emperor, guard, list(order[:gone])) for order in ORDERS
                ],
                "decided": decided,
            }
            for end in ENDS:
                found = play._ended(state.numbers, rules[end])
                assert found.tolist() == expected[end], (emperor, guard, gone, end)
                stops = np.flatnonzero(found)
                assert all(decided[i] for i in stops)  # whatever ends it, the scores are fixed
                over = state.take(stops)
                over.phase = Phase.OVER
                assert np.array_equal(final_scores(over, rules[end]), full[stops])


DEAL = ["R* 7s", "7h 9s", "8s 8h", "9h 8d", "Ts 7d"]
MARKED_DEAL = ["R* 7s", "B* 9s", "8s 8h", "9h 8d", "Ts 7d"]
ROADS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "grab": ({"preset": "qingdao", "claim": False, "yield": False}, DEAL, ["0 grab"]),
    "marks": (
        {"preset": "weihai", "open_solo": False, "oppose": False, "declare": False},
        MARKED_DEAL,
        ["0 keep"],
    ),
    "doubled": (
        {"preset": "weihai", "open_solo": False, "oppose": False, "votes_needed": 1},
        MARKED_DEAL,
        ["0 keep", "1 declare", "2 niu", "0 ti"],
    ),
    "open solo": (
        {"preset": "weihai", "doubling": False},
        MARKED_DEAL,
        ["0 decline", "1 decline", "2 solo"],
    ),
    "secret solo": (
        {"preset": "weihai", "open_solo": False, "oppose": False, "declare": False},
        ["R* B* 7s", "R 7h", "8s 8h", "R 9h", "9s Ts"],
        ["0 keep"],
    ),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("end", ENDS)
def test_a_hand_stops_at_the_first_decided_moment(road: str, end: str) -> None:
    """All ways in which a deal of ten cards can be played: which of them stop, and with what."""
    options, deal, moves = ROADS[road]
    rules = {**options, "end": end}
    engine, state = side_by_side.small(*deal, rules=rules)
    side_by_side.play(engine, state, *moves)
    assert state.phase[0] == Phase.PLAY
    emperor, guard = int(state.emperor[0]), int(state.guard[0])
    company = None if guard < 0 else guard
    solo, multiplier = Solo(int(state.solo[0])), int(state.multiplier[0])
    complete = final_scores(ended(emperor, company, solo, multiplier), engine.rules).tolist()
    starts: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for order, row in zip(ORDERS, complete, strict=True):
        for gone in range(6):
            starts.setdefault(order[:gone], set()).add(tuple(row))
    found: set[tuple[int, ...]] = set()
    for layer in all_states(engine, state):
        over = layer.over
        scores = engine.scores(layer)
        for table, places in enumerate(layer.places.tolist()):
            order = tuple(sorted((s for s in range(5) if places[s]), key=lambda s: places[s]))
            if not order:
                assert not over[table]
                continue
            camp_out = len(order) >= 4 or camp_is_out(emperor, company, list(order))
            stop = {
                "last_player": len(order) >= 4,
                "camp_out": camp_out,
                "decided": len(starts[order]) == 1,
            }[end]
            assert over[table] == stop, order
            if stop:
                assert {tuple(scores[table].tolist())} == starts[order]
                found.add(order)
    assert len(found) >= 5


def all_states(engine: Engine, state: State) -> list[State]:
    """Every state that can follow, one list entry for each number of moves; equal ones once."""
    layers = [state]
    while not layers[-1].over.all():
        open_ = layers[-1].take(np.flatnonzero(~layers[-1].over))
        flat, offsets = engine.legal(open_).ids()
        new = open_.take(np.repeat(np.arange(len(open_)), np.diff(offsets)))
        engine.step(new, flat)
        new.recent[:] = -1
        new.moves = 0
        key = np.concatenate([new.numbers, new.hands.reshape(len(new), -1), new.places], axis=1)
        _, first = np.unique(key, axis=0, return_index=True)
        layers.append(new.take(np.sort(first)))
    return layers
