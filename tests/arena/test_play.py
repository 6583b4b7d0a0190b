"""Who sat where and was asked what: shown by agents that play in a known way."""

import json

import numpy as np
import pytest

from lupai.agents.greedy import GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.records import load_record, replay
from lupai.envs.verify import verify_records
from lupai.train.arena.asking import Asker
from lupai.train.arena.packs import make_pack
from lupai.train.arena.plans import ArenaError, Match, make_matches
from lupai.train.arena.play import play_deals
from lupai.train.arena.run import run_arena
from tests.arena.players import SMALL, Loser, OnlyInSeat, Slip
from tests.arena.test_evaluate import played


def by_format(outcome):
    return {(m["format"], m["player"]): m for m in outcome.result["matches"]}


def test_an_agent_that_plays_in_seat_2_only_does_so_in_the_arena():
    """Where it sits in seat 2 the hand is the one that five greedy players play; elsewhere not."""
    only = played("seat", 12, agents=[OnlyInSeat(2), GreedyAgent()])
    greedy = played("seat", 12, agents=[GreedyAgent(), GreedyAgent()])
    two = only.rotations == 2
    assert (only.scores[two] == greedy.scores[two]).all()
    assert (only.places[two] == greedy.places[two]).all()
    mine = only.places[np.arange(len(only)), only.rotations]
    assert (mine[~two] >= 4).all() or (mine[~two] == 0).any()
    assert set(mine[two].tolist()) == {1, 2, 3, 4, 5}


def test_the_seat_column_is_the_seat():
    """In seat 2 it scores what greedy scores there, in every other seat less."""
    seats = []
    for agent in (OnlyInSeat(2), GreedyAgent()):
        outcome = run_arena([agent], ["greedy"], formats=["seat"], deals=12, seed=3, rules=SMALL)
        (match,) = outcome.result["matches"]
        seats.append(match["mean_by_seat"])
        assert [v["value"] for v in match["seats"].values()] == match["mean_by_seat"]
    only, greedy = np.array(seats)
    assert only[2] == greedy[2]
    assert (np.delete(only, 2) < np.delete(greedy, 2)).all()


def test_an_agent_that_always_loses_does_so_in_every_seat_role_and_format():
    outcome = run_arena([Loser()], ["greedy"], formats=["seat", "camp"], deals=12, seed=4)
    found = by_format(outcome)
    for match in outcome.result["matches"]:
        assert match["high"] < 0
    for camp in ("emperor", "rebel"):
        lost = found[f"{camp}_camp", "loser"]["camps"]
        assert lost[camp]["lost"]["value"] == 1  # the whole camp
        assert list(lost) == [camp]
    assert found["seat", "loser"]["places"]["1"]["value"] == 0
    turned = run_arena(["greedy"], [Loser()], formats=["camp"], deals=12, seed=4)
    assert by_format(turned)["camp", "greedy"]["mean"] == -found["camp", "loser"]["mean"]


def test_the_deals_are_the_same_whoever_plays():
    """Agents, their seeds and the rotation change what is played and nothing of what is dealt."""
    seen = {}
    for agents, seeds in (
        ([RandomAgent(), RandomAgent()], (1, 2)),
        ([RandomAgent(), RandomAgent()], (3, 4)),
        ([GreedyAgent(), Loser()], (1, 2)),
    ):
        for name in ("seat", "rebel_camp", "mixed"):
            hands = played(name, 2, seeds, agents, records=True)
            for line, deal in zip(hands.records, hands.deals.tolist(), strict=True):
                record = json.loads(line)
                dealt = (tuple(record["hands"]), record["start"], record["seed"])
                # where nobody wants to be emperor the rules deal anew, for all players alike
                assert seen.setdefault((deal, record["redeals"]), dealt) == dealt
    assert len(set(seen.values())) == len(seen) >= 2


def test_agents_of_one_seed_repeat_and_of_another_do_not():
    one, again, other = (played("seat", 6, seeds) for seeds in ((1, 2), (1, 2), (1, 9)))
    assert (one.scores == again.scores).all()
    assert (one.scores != other.scores).any()


def test_a_hand_does_not_depend_on_what_is_played_beside_it():
    whole = played("mixed", 8)
    agents = [Asker(RandomAgent(), "a"), Asker(RandomAgent(), "b")]
    for agent, seed in zip(agents, (1, 2), strict=True):
        agent.start(seed)
    pack = make_pack(SMALL, 8, 5)
    part = play_deals(Engine(SMALL), pack, Match("mixed", (0, 1), 8), range(5, 6), agents, 5)
    assert (part.scores == whole.scores[10:12]).all()


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_mixed_tables_are_balanced(count):
    """On each deal every agent sits in each seat once, and no two copies meet if they need not."""
    match, deals = Match("mixed", tuple(range(10, 10 + count)), 30), np.repeat(np.arange(30), count)
    lineups = match.lineups(deals, np.tile(np.arange(count), 30), None, 5, 1)
    for deal in range(30):
        tables = lineups[deals == deal]
        for seat in range(5):
            assert sorted(tables[:, seat].tolist()) == list(range(10, 10 + count))
        for table in tables:
            most = np.bincount(table).max()
            assert most == -(-5 // count)
    if count > 5:  # neighbours are others on other deals
        assert len({tuple(sorted(table)) for table in lineups.tolist()}) > count


def test_everybody_meets_everybody():
    matches = make_matches(["round_robin"], [0, 1, 2], [], 10)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    for name in ("seat", "emperor_camp"):
        assert sorted(m.agents for m in matches if m.format == name) == pairs
    outcome = run_arena(
        ["greedy", Slip(), Loser()], formats=["round_robin"], deals=3, seed=1, rules=SMALL
    )
    camp = next(p for p in outcome.result["payoffs"] if p["format"] == "camp")
    mean = np.array(camp["mean"])
    assert (mean == -mean.T).all()
    alone = run_arena(["greedy"], [Loser()], formats=["camp"], deals=3, rules=SMALL)
    assert (
        by_format(alone)["camp", "greedy"]["mean"] == mean[0, 2]
    )  # as in a match of their own: neither draws


def test_a_name_means_one_agent():
    """`random` as player and as opponent are two, and where they could be mixed up are told so."""
    formats = ["camp", "mixed"]
    both = run_arena(["random", "random"], ["random"], formats=formats, deals=1, rules=SMALL)
    keys = [(m["format"], m["player"], m["opponent"]) for m in both.result["matches"]]
    assert len(set(keys)) == len(keys) == 2 * 3 + 2
    assert both.result["opponents"] == ["random#3"]


@pytest.mark.parametrize("rules", ["qingdao", "weihai"])
def test_records_of_the_arena_are_possible_hands(rules):
    hands = played("emperor_camp", 4, agents=[Slip(), Loser()], rules=rules, records=True)
    records = [load_record(line) for line in hands.records]
    assert verify_records(records) == [[]] * 4
    assert records[0]["meta"]["arena"]["calling"] == "neutral"
    for record, scores, lineup in zip(records, hands.scores, hands.lineups, strict=True):
        assert record["scores"] == scores.tolist()
        assert record["players"] == [("slip", "loser")[a] for a in lineup]


def test_packs_of_certain_deals_begin_at_the_first_lead():
    hands = played("seat", 5, only="secret_guard")
    assert (hands.guard >= 0).all()
    assert not (hands.said & 1).any()  # nobody grabbed, though random agents would
    asked = played("seat", 5, agents=[GreedyAgent(), GreedyAgent()], only="grab")
    assert (asked.solo == 1).all()


def test_the_guard_becomes_known_with_the_cards_that_he_still_has():
    """Against a replay of the records, move by move."""
    hands = played("emperor_camp", 40, agents=[GreedyAgent(), GreedyAgent()], records=True)
    for line, reveal, guard in zip(hands.records, hands.reveal, hands.guard, strict=True):
        held, hidden = -1, True
        for state in replay(load_record(line), Engine(SMALL)):
            if hidden and state.public[0] and state.guard[0] >= 0:
                hidden = False
                held = -1 if state.over[0] else int(state.sizes[0, guard])
        assert held == reveal
    assert len(set(hands.reveal.tolist())) > 3


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"formats": ["seats"]}, "seat, emperor_camp, rebel_camp, camp, round_robin, mixed"),
        ({"formats": ["mixed"], "opponents": []}, "at least two players"),
        ({"formats": ["seat"], "opponents": []}, "--against"),
        ({"formats": ["round_robin"], "players": ["random", "greedy"]}, "without opponents"),
        ({"formats": ["camp", "rebel_camp"]}, "stands twice"),
        ({"deals": 0}, "at least one hand"),
        ({"pack": make_pack("qingdao", 5, 1), "deals": 6}, "has 5 deals, not 6"),
    ],
)
def test_matches_that_cannot_be(options, part):
    options = {"players": ["random"], "opponents": ["random"], **options}
    with pytest.raises(ArenaError, match=part):
        run_arena(options.pop("players"), options.pop("opponents"), **options)
