"""`tactical` in Gouji: evident moves, arithmetic against the engine and brute force, no leaks."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import lupai.agents
from lupai.agents.gouji import GreedyAgent, TacticalAgent
from lupai.agents.gouji.tactical.agent import NO_LOOK
from lupai.agents.gouji.tactical.counting import Count, asked_later
from lupai.agents.gouji.tactical.planning import Plan
from lupai.agents.gouji.tactical.play import Trick
from lupai.agents.gouji.tactical.weights import TERMS, WEIGHTS, Wills
from lupai.agents.random_agent import RandomAgent
from lupai.agents.streams import table_lanes
from lupai.envs.errors import LupaiError
from lupai.envs.gouji.actions import SET, VERB_ID
from lupai.envs.gouji.sets import DEAD, IS_GOUJI, PARTS, GoujiSet
from lupai.envs.gouji.state import Kind, Phase
from lupai.envs.view import View, Views
from lupai.train.arena.run import run_arena
from tests.agents.gouji.tables import (
    OPTIONS,
    asked,
    fresh,
    new_engine,
    other_worlds,
    play,
    table,
    turns,
)
from tests.envs.gouji.definition import literally_beats, sets_within

AGENT = TacticalAgent()
ENGINE = new_engine()
JUNK = "3344556677889TJ"


def move(state):
    """What tactical plays in the seat that is asked at a table of one."""
    return asked(AGENT, ENGINE, state)


# --- evident moves -------------------------------------------------------------------------------


def test_goes_out_when_it_can():
    assert move(table(["33", *["AA22B"] * 4, JUNK])) == "33"
    state = table(["KK", "JJ66", *[JUNK] * 4], leader=1)
    play(ENGINE, state, "1 JJ", *(f"{seat} pass" for seat in (2, 3, 4, 5)))
    assert move(state) == "KK"


def test_runs_out_by_sets_that_nobody_can_beat():
    """Two losers and R: R takes one along, the other is the last set."""
    state = table(["344R", *["AAKK225B"] * 4, "AAKK22"])
    first = move(state)
    assert first in ("3R", "44R")
    play(ENGINE, state, f"0 {first}")
    play(ENGINE, state, f"0 {move(state)}")
    assert state.places[0, 0] == 1


def test_lets_a_mate_through():
    """Seat 4, a mate, has two cards left beside the pair on the table."""
    state = table(["QQAA33456789", *[JUNK] * 3, "TT99", JUNK], leader=4)
    play(ENGINE, state, "4 TT", "5 pass")
    assert move(state) == "pass"


def test_beats_the_same_set_of_an_opponent():
    state = table(["QQAA33456789", *[JUNK] * 4, "TT99"], leader=5)
    play(ENGINE, state, "5 TT")
    assert move(state) in ("QQ", "AA")


def test_stops_its_opposite():
    """Nobody else may answer 够级 of seat 3."""
    state = table(["AA334455678", JUNK, JUNK, "KK99", JUNK, JUNK], leader=3)
    play(ENGINE, state, "3 KK", *(f"{seat} silent" for seat in (5, 1, 4, 2)))
    assert move(state) == "AA"


def test_breaks_no_gouji_for_a_single():
    """A lone King is there to beat a Jack; the pair of Aces is 够级."""
    state = table(["KAA334455789", *[JUNK + "QQKKAA"] * 4, "J" + JUNK], leader=5)
    play(ENGINE, state, "5 J")
    assert move(state) == "K"


def test_yields_rather_than_passes():
    state = table(["3456789", JUNK, JUNK, "QQ" + JUNK, JUNK, JUNK], leader=3)
    play(ENGINE, state, "3 QQ", "4 pass", "5 pass")
    assert move(state) == "yield"


def test_burns_when_it_can_run_out():
    """AA on the Kings of seat 1, who is not its 对头; then 55R, which is dead, and 66."""
    state = table(["AAR5566", "KK" + JUNK, *[JUNK + "Q"] * 4], leader=1)
    play(ENGINE, state, "1 KK")
    while int(state.actor[0]):
        play(ENGINE, state, f"{state.actor[0]} silent")
    assert state.burning[0] == 1
    assert move(state) == "AA"
    play(ENGINE, state, "0 AA")
    while int(state.actor[0]):
        play(ENGINE, state, f"{state.actor[0]} {'silent' if state.burning[0] else 'pass'}")
    while not state.places[0, 0]:
        play(ENGINE, state, f"0 {move(state)}")


def test_does_not_burn_a_mate_who_is_about_to_go_out():
    state = table(["AABB5534", JUNK, "KK9", *[JUNK + "RQQAA"] * 3], leader=2)
    play(ENGINE, state, "2 KK", "4 silent")
    assert "play AA" in View.of(ENGINE, state, 0).legal
    assert move(state) == "silent"


def test_kills_the_last_set_of_the_second_out():
    """够死级: seat 3 leaves with 99; whoever beats it leads at once, else an opponent, seat 5."""
    state = table(["TT33456", JUNK, JUNK, "99", "", JUNK], leader=3, places=(4,))
    play(ENGINE, state, "3 99", "5 pass")
    assert state.bottom[0] == 2
    assert move(state) == "TT"
    play(ENGINE, state, "0 TT")
    assert (state.kind[0], state.owner[0]) == (Kind.DEATH, 0)


def test_holds_up_the_third_of_a_sweep():
    """Seats 1 and 3 are out; seat 5, with one card left, would make it 串三户."""
    hands = ["A2B3344556677", "", JUNK, "", JUNK, "9T"]
    state = table(hands, leader=5, places=(1, 3))
    play(ENGINE, state, "5 9")
    assert move(state) in ("A", "2", "B")


def test_lets_a_mate_out_of_the_melee():
    """Seat 4 has one card left and would be third."""
    state = table(["A2B3344556677", "", JUNK, "", "9T", JUNK], leader=4, places=(1, 3))
    play(ENGINE, state, "4 9", "5 pass")
    assert move(state) == "pass"


def test_keeps_twos_and_jokers_at_the_start():
    spent = Counter()
    state = ENGINE.reset(np.arange(150))
    state = state.take(np.flatnonzero(state.phase != Phase.OVER))
    while (rows := np.flatnonzero(state.phase == Phase.REVOLT)).size:
        ENGINE.step(state, np.full(len(rows), VERB_ID["silent"]), rows)
    views = Views(ENGINE, state, state.actor.astype(np.intp))
    for action in AGENT.act_batch(views).tolist():
        _, _, t, b, r = PARTS[action - SET].tolist()
        spent["lead"] += 1
        spent["helped"] += t + b + r > 0
    assert spent["lead"] == 150
    assert spent["helped"] < 8


# --- before play ---------------------------------------------------------------------------------


def poll(hand):
    """The answer of seat 0 with this hand to the poll about a revolution."""
    others = ["3344556677889TJQKA22B"] * 2 + ["3344556677889TJQKA22R"] * 2 + ["AAKK22BBRR"]
    return move(table([hand, *others], phase=Phase.REVOLT))


def test_revolts_with_a_weak_hand_only():
    assert poll("334456778899TTJQ" + "3455667899TJQK") == "revolt"
    assert poll("33334444" + "TTTTTTTQQQQQKKKKKKKAAAAAAAAA") == "silent"


def offering(hand, giver="5566KKAA"):
    state = table([hand, JUNK, JUNK, giver, JUNK, JUNK], phase=Phase.OFFER)
    state.owes[0, 0], state.giver[0, 0] = 1, 3
    return state


def test_offers_the_least_useful_card():
    engine = new_engine("shandong;tribute=true")
    assert asked(AGENT, engine, offering("4477777AAAA222BR3")) == "offer 3"
    assert asked(AGENT, engine, offering("447777735AAAA22")) in ("offer 3", "offer 5")


@pytest.mark.parametrize(("hand", "answer"), [("3AA2", "refuse"), ("A33", "take"), ("444", "take")])
def test_refuses_what_is_one_set_more(hand, answer):
    """Seat 3 holds fours and no other of these: a fourth one is welcome, and so is an Ace."""
    engine = new_engine("shandong;tribute=true")
    state = offering(hand, giver="44455KK")
    lowest = {"3AA2": "3", "A33": "A", "444": "4"}[hand]
    engine.step(state, [engine.action_of(state, 0, f"offer {lowest}")])
    assert asked(AGENT, engine, state) == answer


# --- arithmetic ----------------------------------------------------------------------------------


def bits(seats):
    """A set of seats as bits."""
    return sum(1 << seat for seat in seats)


def who_is_asked(engine, state):
    """Seats asked about the standing set of a table of one, until it is closed, if nobody plays;
    those asked whether they burn it apart."""
    state, burners, asked_seats = state.copy(), [], []
    standing = int(state.standing[0])
    while not state.over[0] and int(state.standing[0]) == standing and standing >= 0:
        (burners if state.burning[0] else asked_seats).append(int(state.actor[0]))
        word = "silent" if state.burning[0] else "pass"
        engine.step(state, [VERB_ID[word]])
    return burners, asked_seats


@pytest.mark.parametrize("agent", [RandomAgent(2), GreedyAgent()], ids=lambda agent: agent.name)
def test_who_may_answer_is_whom_the_engine_asks(agent):
    engine, seen = new_engine("shandong;end=last_player"), Counter()
    for number, (state, rows, views, actions) in enumerate(turns(engine, agent, 8)):
        if number % 4:
            continue
        masked, count = views.state, Count(views.state, views.seats)
        later = asked_later(masked)
        for i, row in enumerate(rows):
            if masked.phase[i] != Phase.PLAY:
                continue
            one = state.take([row])
            if masked.standing[i] >= 0:
                burners, others = who_is_asked(engine, one)
                every = (burners + others)[1:]
                assert later[i] == bits(every)
                seen["answer"] += 1
            place = int(actions[i]) - SET
            if place < 0 or DEAD[place]:
                continue
            answers = masked.standing[i] >= 0
            gouji = IS_GOUJI[place] or (answers and masked.kind[i] > 0)
            death = masked.bottom[i] > 0 and (masked.owner[i] - views.seats[i]) % 6 == 3
            engine.step(one, [int(actions[i])])
            if one.over[0] or death or masked.sizes[i, views.seats[i]] == PARTS[place, 1:].sum():
                continue
            _, others = who_is_asked(engine, one)
            may = count.may[int(gouji and not masked.melee[i]), i]
            expected = bits(count.seats[i, may])
            assert expected == bits(others)
            seen["gouji" if gouji else "ordinary"] += 1
            seen["melee"] += int(masked.melee[i])
    assert min(seen[kind] for kind in ("answer", "gouji", "ordinary", "melee")) > 10


def test_sure_sets_are_those_that_no_hand_can_beat():
    """Random late positions; ``sure`` may miss one, and may never be wrong."""
    rng, seen = np.random.default_rng(1), Counter()
    for number, (_, _, views, _) in enumerate(turns(ENGINE, GreedyAgent(), 20)):
        late = np.flatnonzero((views.state.phase == Phase.PLAY) & (views.state.left > 0))
        if number % 4 or not late.size:
            continue
        count = Count(views.state.take(late), views.seats[late])
        for at in range(min(len(late), 3)):
            row, m = int(rng.integers(14)), int(rng.integers(1, 6))
            b, r = (int(v) for v in rng.integers(0, 3, 2) * (rng.random(2) < 0.3))
            n, t = (m, 0) if row < 12 else (0, m if row == 12 else 0)
            if n + t + b + r == 0:
                continue
            parts = (np.array([v]) for v in (at, row, n + t, b, r))
            sure = bool(count.sure(*parts)[0])
            largest = int(count.largest[at])
            beaten = any(
                answer.size <= largest and literally_beats(answer, GoujiSet(row, n, t, b, r))
                for answer in sets_within(count.unseen[at].tolist())
                if answer.size == n + t + b + r
            )
            assert not (sure and beaten)
            seen[sure, beaten] += 1
    assert seen[True, False] > 20
    assert seen[False, True] > 20
    assert seen[False, False] < 0.05 * seen.total()


def test_who_surely_runs_out_does():
    """Once tactical sees a sure way out nobody else plays before it is out."""
    other, found = RandomAgent(3), 0
    sure = np.full(24, -1)
    for state, rows, views, actions in turns(ENGINE, AGENT, 24):
        wild = np.flatnonzero((views.seats % 2 == 0) & (sure[rows] != views.seats))
        if wild.size:
            some = Views(ENGINE, state, views.seats[wild], rows[wild])
            actions[wild] = other.act_batch(some)
        plays = actions >= SET
        for row, seat, lays in zip(rows, views.seats, plays, strict=True):
            assert not (lays and sure[row] not in (-1, seat))
        tame = np.flatnonzero(plays & (views.state.phase == Phase.PLAY) & (views.seats % 2 == 1))
        if tame.size:
            trick = Trick(views.state.take(tame), views.seats[tame], Wills())
            terms = trick.terms(actions[tame], np.arange(len(tame)))
            runs = (terms["runs_out"] == 1) & (terms["goes_out"] == 0)
            sure[rows[tame[runs]]] = views.seats[tame[runs]]
            found += int(runs.sum())
            gone = tame[terms["goes_out"] == 1]
            sure[rows[gone]] = np.where(sure[rows[gone]] == views.seats[gone], -1, sure[rows[gone]])
    assert found > 10


def test_a_plan_counts_what_it_says():
    state = table(["KKKK334442B", *[JUNK] * 5])
    view = View.of(ENGINE, state, 0)
    count = Count(view.state, np.array([0]))
    plan = Plan(count, *Wills().blend(count.sizes / 36))
    assert plan.sets.tolist() == [3]
    assert plan.hold[0, 10, 4] == 1  # nobody has a higher card
    assert plan.weak[0, 10, 4] == 0
    assert 0.5 < plan.strong[0] <= 1
    assert 1 < plan.losers[0] <= 2
    assert plan.weak[0, 0, 2] > plan.weak[0, 0, 5]  # five 3s are seldom to be beaten


# --- the agent -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", OPTIONS)
def test_batches_are_single_decisions_and_always_legal(rules):
    engine = new_engine(rules)
    for state, rows, views, actions in turns(engine, AGENT, 2, seed=len(rules)):
        legal = engine.legal(state, rows)
        assert actions.dtype == np.int32
        assert legal.contains(actions).all()
        for view, action in zip(views, actions.tolist(), strict=True):
            if len(view.legal_ids) > 1:
                assert AGENT.act(view) == view.move_of(action)


def test_the_same_hands_are_played_alike():
    first, second = (
        [actions.tolist() for *_, actions in turns(ENGINE, TacticalAgent(), 3)] for _ in range(2)
    )
    assert first == second


def test_moves_do_not_depend_on_what_is_hidden():
    rng, changed = np.random.default_rng(4), 0
    for state, rows, views, actions in turns(new_engine("shandong;tribute=true"), AGENT, 6):
        world = other_worlds(state.take(rows), views.seats, rng)
        changed += int((world.hands != state.hands[rows]).any())
        again = Views(views.engine, world, views.seats)
        assert (AGENT.act_batch(again) == actions).all()
    assert changed > 100


def test_terms_and_prices_agree():
    """The price is the weighted sum of the terms; what is not worth a look has none."""
    looked = Counter()
    for number, (_, _, views, _) in enumerate(turns(ENGINE, AGENT, 4)):
        if number % 5:
            continue
        ids, offsets = views.legal.ids()
        terms = np.zeros((len(ids), len(TERMS)), np.float32)
        prices = AGENT.prices(ENGINE.rules, views.state, views.seats, ids, offsets, terms)
        rows = np.repeat(np.arange(len(views)), np.diff(offsets))
        playing = (views.state.phase == Phase.PLAY)[rows]
        away = prices == NO_LOOK
        assert not terms[away | ~playing].any()
        assert not (away & (ids < SET)).any()
        assert (np.add.reduceat(~away, offsets[:-1]) > 0).all()
        stage = np.where((views.state.melee == 1)[rows, None], *(
            np.array([weights[name] for name in TERMS]) for weights in (WEIGHTS.melee, WEIGHTS.race)
        ))  # fmt: skip
        some = playing & ~away
        expected = (terms * stage).sum(axis=1)
        assert np.allclose(prices[some], expected[some], atol=1e-2)
        looked["some"] += int(some.sum())
        looked["away"] += int(away.sum())
    assert looked["some"] > 500
    assert looked["away"] > 500


# --- names and matches ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "greedy", "tactical"])
def test_names_stand_for_the_agent_of_the_game(name):
    agent = lupai.agents.load(name)
    state = fresh(ENGINE, 4)
    views = Views(ENGINE, state, state.actor.astype(np.intp))
    assert views.legal.contains(agent.act_batch(views)).all()
    assert agent.act(views[0]) in views[0].legal
    if name == "greedy":
        lanes = table_lanes(state.seeds[:, 0], views.seats)
        assert (agent.act_lanes(views, lanes) == GreedyAgent().act_batch(views)).all()


def test_who_does_not_play_this_game_says_so():
    state = fresh(ENGINE, 1)
    view = View.of(ENGINE, state, int(state.actor[0]))
    with pytest.raises(LupaiError, match=r"'bayes' does not play gouji; it plays baohuang"):
        lupai.agents.load("bayes").act(view)


@pytest.mark.slow
def test_tactical_beats_greedy():
    outcome = run_arena(["tactical"], ["greedy"], game="gouji", formats=["side"], deals=40)
    (side,) = (m for m in outcome.result["matches"] if m["format"] == "side")
    assert side["low"] > 2
