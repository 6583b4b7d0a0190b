"""Gouji in the arena: sides, what is counted of a hand, packs, and files that name their game."""

import json
import re

import numpy as np
import pytest

from lupai.agents.folders import game_of
from lupai.agents.random_agent import RandomAgent
from lupai.envs.gouji.actions import VERB_ID
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import Phase
from lupai.envs.records import load_record, replay
from lupai.envs.verify import verify_records
from lupai.train.arena.asking import Asker
from lupai.train.arena.hands import Hands
from lupai.train.arena.leaderboard import add_result, boards, markdown, text_table
from lupai.train.arena.packs import SHIPPED, PackError, load_pack, make_pack, read_pack
from lupai.train.arena.plans import ArenaError, Match
from lupai.train.arena.play import play_deals
from lupai.train.arena.report import html_report, markdown_report
from lupai.train.arena.results import to_json, write_json
from lupai.train.arena.run import run_arena
from lupai.train.arena.terminal import table, variance_table
from lupai.train.evaluate import evaluate
from tests.cli.running import lupai

SIDES = ("even_side", "odd_side")


class Eager:
    """Plays the highest id: it never passes where it can beat, so hands are short; it revolts and
    waives where it can. It draws nothing."""

    name = "eager"

    def reset(self, seed=None):
        pass

    def act(self, view):
        return view.move_of(int(view.legal_ids[-1]))

    def act_batch(self, views):
        ids, offsets = views.legal.ids()
        return ids[offsets[1:] - 1]


class Calm(Eager):
    """The same, but that it is silent before the first lead."""

    name = "calm"

    def act_batch(self, views):
        ids, offsets = views.legal.ids()
        early = views.state.phase < Phase.PLAY
        return np.where(early, ids[offsets[:-1]], super().act_batch(views))


class Meek(Eager):
    """The same, but that it passes where it can."""

    name = "meek"

    def act_batch(self, views):
        ids, offsets = views.legal.ids()
        passes = np.logical_or.reduceat(ids == VERB_ID["pass"], offsets[:-1])
        return np.where(passes, VERB_ID["pass"], super().act_batch(views))


def played(name, deals, agents=None, only=None, **options):
    agents = agents or [Eager(), Eager()]
    askers = [Asker(agent, agent.name) for agent in agents]
    for asker in askers:
        asker.start(1)
    pack = make_pack("shandong", deals, 5, only, game="gouji")
    match = Match(name, (0, 1), deals)
    return play_deals(Engine(), pack, match, range(deals), askers, 5, **options)


@pytest.fixture(scope="module")
def everything():
    players = [Eager(), Meek(), Calm()]
    return run_arena(players, formats=["round_robin", "mixed"], deals=2, game="gouji")


@pytest.fixture(scope="module")
def single():
    return run_arena([Eager()], [Meek()], deals=6, game="gouji")


@pytest.mark.parametrize("name", ["seat", *SIDES])
def test_who_sits_where(name):
    hands = played(name, 4)
    assert not hands.scores.sum(axis=1).any()
    mine = hands.lineups == 0
    if name == "seat":
        assert (mine == np.tile(np.eye(6, dtype=bool), (4, 1))).all()
    else:
        even = np.arange(6) % 2 == 0
        assert (mine == (even if name == "even_side" else ~even)).all()


def test_a_duplicate_match_of_equal_players_is_a_draw():
    outcome = run_arena([Eager()], [Eager()], formats=["side"], deals=8, game="gouji")
    one, two, both = outcome.result["matches"]
    assert (one["format"], two["format"], both["format"]) == (*SIDES, "side")
    assert both["mean"] == both["deviation"] == 0
    assert one["mean"] == -two["mean"] != 0
    won = one["sides"]["even"]["won"]["value"]
    assert won == two["sides"]["odd"]["lost"]["value"] == one["won"]
    # the points of a side, not their sum over its members
    assert one["mean"] == pytest.approx(outcome.hands[0].scores[:, 0].mean())


def test_who_passes_loses_in_every_format(single):
    for match in single.result["matches"]:
        assert match["mean"] > 0, match["format"]


def test_what_is_counted_is_what_was_played():
    """Against a replay of the records, move by move."""
    hands = played("even_side", 12, [Eager(), RandomAgent()], records=True)
    records = [load_record(line) for line in hands.records]
    assert verify_records(records) == [[]] * len(hands)
    for row, record in enumerate(records):
        assert record["meta"]["arena"]["calling"] == "players"
        goujis, burns, burned = np.zeros((3, 6), int)
        last = None
        movers = [int(move.split()[0]) for move in record["moves"]]
        for number, state in enumerate(replay(record, Engine())):
            now = int(state.owner[0]), int(state.goujis[0]), int(state.burns[0])
            if last is not None:
                mover, owner = movers[number - 1], last[0]
                assert now[1] == last[1] or mover == (owner + 3) % 6
                goujis[mover] += now[1] - last[1]
                burns[mover] += now[2] - last[2]
                burned[owner] += now[2] - last[2]
            last = now
        assert goujis.tolist() == hands.goujis[row].tolist()
        assert burns.tolist() == hands.burns[row].tolist()
        assert burned.tolist() == hands.burned[row].tolist()
        if record["revolter"] is None:
            swept = len({seat % 2 for seat in record["finish"][:3]}) == 1
            assert swept == (max(record["scores"]) == 12)
    assert hands.goujis.sum() > 5


def test_shares_of_places_sweeps_and_strong_sets(single):
    by_name = {m["format"]: m for m in single.result["matches"]}
    for name, hands in zip(("seat", *SIDES), single.hands, strict=True):
        match, mine = by_name[name], hands.lineups == 0
        assert sum(v["value"] for v in match["places"].values()) == pytest.approx(1, abs=1e-3)
        scores = hands.scores[mine]
        assert match["sweeps"]["made"]["value"] == pytest.approx((scores == 12).mean(), abs=1e-4)
        assert match["sweeps"]["suffered"]["n"] == len(hands)
        sets = match["exchanges"]
        assert sets["goujis_won"]["value"] == pytest.approx(
            hands.goujis[mine].sum() / len(hands), abs=1e-4
        )
        theirs = np.roll(mine, 3, axis=1)
        assert sets["goujis_lost"]["value"] == pytest.approx(
            hands.goujis[theirs].sum() / len(hands), abs=1e-4
        )


def test_revolutions():
    pack = make_pack("shandong", 3, 2, "revolution", game="gouji")
    assert read_pack(pack.to_text(), "x") == pack
    engine = Engine()
    poor = []
    for seed in pack.hand_seeds(np.arange(3)).tolist():
        hands, _ = engine.dealt_hands(seed)
        held = [{card[0] for card in hand.split()} for hand in hands]
        poor.append([seat for seat, ranks in enumerate(held) if not ranks & {"2", "B", "R"}])
    assert [len(seats) for seats in poor] == [1, 1, 1]
    outcome = run_arena([Calm()], [Eager()], formats=["seat"], pack=pack)
    (match,), (hands,) = outcome.result["matches"], outcome.hands
    may, mine = hands.could_revolt, hands.lineups == 0
    assert may.sum(axis=1).tolist() == [1] * 18
    assert may.argmax(axis=1).tolist() == np.repeat([seats[0] for seats in poor], 6).tolist()
    # one of six hands Calm may revolt, in another it sits opposite the one who does
    revolts = ~(may & mine).any(axis=1)
    asked = (np.roll(may, 3, axis=1) & mine).any(axis=1)
    assert (hands.revolter == np.where(revolts, may.argmax(axis=1), -1)).all()
    assert (hands.waived == np.where(revolts, np.where(asked, 0, 1), -1)).all()
    behaviour = {key: (v["value"], v["n"]) for key, v in match["behaviour"].items()}
    assert behaviour == {"revolt": (0, 3), "waive": (0, 3)}
    (match,) = run_arena([Eager()], [Calm()], formats=["seat"], pack=pack).result["matches"]
    assert match["behaviour"]["revolt"]["value"] == 1
    assert "waive" not in match["behaviour"]  # nobody opposite revolted


def test_hands_read_back(tmp_path):
    hands = played("seat", 1)
    hands.save(tmp_path / "h.npz")
    again = Hands.load(tmp_path / "h.npz")
    assert set(again.columns) == set(hands.columns) >= {"goujis", "burns", "burned", "revolter"}
    for name, column in hands.columns.items():
        assert (again.columns[name] == column).all()
        assert again.columns[name].dtype == column.dtype
    joined = Hands.join([again, hands])
    assert len(joined.goujis) == 12
    with pytest.raises(AttributeError, match="emperor"):
        _ = joined.emperor


def test_texts_and_pages_speak_of_sides(everything, single):
    for outcome in (everything, single):
        for text in (table(outcome.result), variance_table(outcome.result)):
            assert max(map(len, text.splitlines())) <= 80
        page = markdown_report(outcome.result, outcome.timing)
        for word in (
            "gouji shandong",
            "串三户",
            "goujis_won",
            "by side",
            "each member of the side",
        ):
            assert word in page
        for word in ("emperor", "camp", "None", "nan"):
            assert word not in page
    assert "rating (sides as teams)" in table(everything.result)
    assert everything.result["ratings"]["situations"] == []
    assert [p["format"] for p in everything.result["payoffs"]] == ["seat", "side"]
    ranks = {a["label"]: a["rating"] for a in everything.result["ratings"]["agents"]}
    assert ranks["eager"] > ranks["meek"]


def test_html_has_plots(everything):
    pytest.importorskip("matplotlib")
    page = html_report(everything.result)
    assert len(re.findall(r"<svg.*?</svg>", page, re.S)) == 5  # scores, two matrices, seats, places


def test_a_result_names_its_game_and_repeats(single):
    assert single.result["game"] == "gouji"
    assert single.result["action_layout"] == Engine().actions.hash
    again = run_arena([Eager()], [Meek()], deals=6, game="gouji")
    assert to_json(again.result) == to_json(single.result)
    short = evaluate(Eager(), [Meek()], hands=2, game="gouji")
    assert [m["format"] for m in short["matches"]] == ["seat", *SIDES, "side"]


def test_boards_of_two_games(tmp_path, single):
    write_json(tmp_path / "g.json", single.result)
    other = run_arena(["greedy"], ["random"], formats=["camp"], deals=1)
    write_json(tmp_path / "b.json", other.result)
    for name in ("g", "b"):
        assert add_result(tmp_path / "board", tmp_path / f"{name}.json") is not None
    found = boards(tmp_path / "board")
    assert list(found) == ["gouji shandong", "qingdao"]
    assert "one among four or five" in markdown(found)
    assert "eager" in text_table("gouji shandong", found["gouji shandong"])


# --- packs and names -----------------------------------------------------------------------------


@pytest.mark.smoke
def test_the_packs_that_come_with_lupai():
    packs = [load_pack(name, game="gouji") for name in SHIPPED]
    seeds = [set(pack.hand_seeds(np.arange(pack.count)).tolist()) for pack in packs]
    assert all((p.game, p.rules, p.count) == ("gouji", "shandong", 10_000) for p in packs)
    assert not seeds[0] & seeds[1]
    assert packs[0].sha256.startswith("042d543b1d81083d")  # published numbers name it
    assert [json.loads(p.to_text())["game"] for p in packs] == ["gouji"] * 2
    assert "game" not in json.loads(load_pack("dev").to_text())


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"game": "bridge"}, "'bridge' is unknown to the arena; games: baohuang, gouji"),
        ({"rules": "qingdao"}, "presets: shandong"),
        ({"only": "solo"}, "not one of revolution"),
        ({"calling": "neutral"}, "not players"),
        ({"seed": 8}, "altered or damaged"),
    ],
)
def test_packs_that_are_none(change, part):
    data = json.loads(make_pack("shandong", 2, 7, game="gouji").to_text()) | change
    with pytest.raises(PackError, match=part):
        read_pack(json.dumps(data), "some")


def test_games_do_not_mix(tmp_path):
    (tmp_path / "p.json").write_text(make_pack("shandong", 2, 7, game="gouji").to_text())
    with pytest.raises(PackError, match="holds deals of gouji, not of baohuang"):
        load_pack(str(tmp_path / "p.json"), game="baohuang")
    with pytest.raises(PackError, match="there are revolution"):
        make_pack("shandong", 2, 7, "solo", game="gouji")
    with pytest.raises(PackError, match="none among 20,000"):
        make_pack("shandong;revolution=false", 2, 7, "revolution", game="gouji")
    for name in ("search", "bayes"):
        with pytest.raises(ArenaError, match=f"agent '{name}' plays baohuang, not gouji"):
            run_arena([name], ["random"], deals=1, game="gouji")
    formats = "seat, even_side, odd_side, side, round_robin, mixed"
    with pytest.raises(ArenaError, match=f"'camp' is unknown in gouji; formats: {formats}"):
        run_arena(["random"], ["random"], formats=["camp"], game="gouji")
    with pytest.raises(ArenaError, match="'side' is unknown in baohuang; formats: seat, emperor"):
        run_arena(["random"], ["random"], formats=["side"])


CARD = {
    "format": "lupai-agent/1", "game": "gouji", "rules": "shandong", "action_layout": "a",
    "observation_layout": "b", "weights_sha256": "c", "idle": "choose",
    "network": {"hidden": [8], "move_hidden": 8, "value_hidden": [8]},
}  # fmt: skip


def test_a_folder_knows_its_game(tmp_path):
    run = tmp_path / "run"
    agent = run / "checkpoints" / "000001" / "agent"
    agent.mkdir(parents=True)
    (run / "latest.json").write_text('{"checkpoint": "checkpoints/000001"}')
    assert game_of(run) is None  # not an agent yet
    (agent / "agent.json").write_text(json.dumps(CARD))
    assert game_of(run) == game_of(agent) == "gouji"
    assert game_of("random") is game_of("my_module:Agent") is None
    with pytest.raises(ArenaError, match=r"agent '.*run' plays gouji, not baohuang"):
        run_arena([run], ["random"], deals=1)
    done = lupai("arena", "--players", str(run), "--against", "random", "--rules", "qingdao")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "plays gouji, not baohuang" in done.err
    done = lupai("arena", "--players", str(run), "--against", "random", "--format", "camp")
    assert "'camp' is unknown in gouji" in done.err


def test_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "eager_one.py").write_text("from tests.arena.test_gouji import Eager, Meek\n")
    match = ("arena", "--players", "eager_one:Eager", "--against", "eager_one:Meek")
    done = run_in(*match, "--game", "gouji", "--pack", "dev", "--deals", "2", "-o", "r.json")
    assert "side          meek" in done.out
    result = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert [m["format"] for m in result["matches"]] == ["seat", *SIDES, "side"]
    # the preset tells the game
    done = run_in("deals", "make", "--rules", "shandong", "--deals", "2", "-o", "p.json")
    assert "rules gouji shandong" in run_in("deals", "show", "p.json").out
    assert run_in("deals", "show", "dev", "--game", "gouji").out.startswith("dev: 10,000 deals of")
    done = run_in(*match, "--pack", "p.json", "--format", "side")  # the pack tells it
    assert "gouji shandong" in done.out
    assert run_in("leaderboard", "add", "r.json").out.count("added") == 1
    assert "rules gouji shandong: 1 results" in run_in("leaderboard", "show").out
    assert "gouji" in run_in("leaderboard", "show", "--rules", "shandong").out
    done = run_in(
        "evaluate", "eager_one:Eager", "--against", "eager_one:Meek", "--hands", "2",
        "--rules", "shandong",
    )  # fmt: skip
    assert "odd_side" in done.out
    done = lupai(*match, "--game", "gouji", "--rules", "qingdao")
    assert done.status == 2
    assert "qingdao is a preset of baohuang" in done.err


def run_in(*words):
    done = lupai(*words)
    assert done.status == 0, done.err
    return done
