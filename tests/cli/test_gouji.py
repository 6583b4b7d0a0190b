"""The command line for Gouji: play, replay, legal, record, verify, rules, bench."""

import json
import random
import re

import numpy as np
import pytest

from lupai.envs import gouji_v0
from lupai.envs.cards import KIND_TEXTS, four_packs
from lupai.envs.gouji.actions import VERBS as ACTION_VERBS
from lupai.envs.gouji.state import PHASE_NAMES
from lupai.envs.records import dump_record, load_record
from lupai.envs.replay import Replay
from lupai.train.bench import loops
from lupai.train.cli import bench
from lupai.train.cli.play import read_choice
from lupai.train.cli.replay import show_step
from lupai.train.cli.replay_page import make_page
from lupai.train.cli.table import show_question, show_table
from lupai.train.cli.tables import gouji_words
from lupai.train.cli.words import Words, width
from tests.cli.running import HAND_CASES, lupai

FINISH = [0, 2, 1, 4, 3, 5]
CARD = r"(?<![\w)])(?:[3-9TJQKA2][shcd]|B|R)(?!\w)"


def play_on(env, rng, calm=0.6):
    """Random moves to the end, sets rather than passes."""
    while not env.terminations["player_0"]:
        legal = env.legal_moves()
        sets = [move for move in legal if move.startswith("play ")]
        env.step(env.action_of(rng.choice(sets if sets and rng.random() < calm else legal)))


def burning(view, rng):
    """A move of players who revolt, burn if they can, and let a burner go on."""
    legal = view.legal
    free = view.state.duty[0] in (-1, view.seat)
    bold = [m for m in legal if m == "revolt" or (free and m.startswith("play "))]
    quiet = [m for m in legal if m in ("pass", "silent")]
    if bold and (rng.random() < 0.7 or view.state.burning[0]):
        return rng.choice(bold)
    return rng.choice((quiet if not free else []) or legal)


def stacked(seat, mine):
    """A deal that gives a seat, which starts, these 36 kinds, and the others the rest."""
    codes = list(four_packs(marked_r=False).codes)
    for code in mine:
        codes.remove(code)
    rest = [codes[i] for i in np.random.default_rng(1).permutation(len(codes))]
    hands = [rest[36 * i : 36 * i + 36] for i in range(5)]
    hands.insert(seat, list(mine))
    return {"hands": [" ".join(KIND_TEXTS[c] for c in hand) for hand in hands], "start": seat}


def revolution():
    """Seat 2 alone can revolt."""
    low = [code for code in range(12 * 4) for _ in range(4)]
    return stacked(2, [low[i] for i in np.random.default_rng(1).permutation(len(low))[:36]])


def burner():
    """Seat 4 holds all jokers, all aces and twelve kings: he can burn and go on."""
    return stacked(4, [*range(40, 43), *range(44, 48), 52, 53] * 4)


@pytest.fixture(scope="module")
def records():
    """An ordinary hand, one with tribute, one with a revolution."""
    out = []
    for rules, options in (
        ("shandong", None),
        ("shandong;tribute=true;end=last_player", {"previous_finish": FINISH}),
        ("shandong;hand_sizes=always", revolution()),
    ):
        env = gouji_v0.raw_env(rules)
        env.reset(seed=3, options=options)
        if options and "hands" in options:
            while env.infos["player_0"]["phase"] == "revolt":
                legal = env.legal_moves()
                env.step(env.action_of("revolt" if "revolt" in legal else "silent"))
        play_on(env, random.Random(1))
        out.append(env.record())
    return out


@pytest.fixture
def file(tmp_path, records):
    """All of them as a file."""
    path = tmp_path / "hands.jsonl"
    path.write_text("".join(dump_record(record) + "\n" for record in records), "utf-8")
    return path


# --- play ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_whole_hand(lang):
    script = b"?\nh\nm\nno such move\n1\n2\n1\n" * 100
    words = ("--lang", lang, "--seed", "3", "--seat", "5", "--against", "random,greedy,random,"
             "greedy,random")  # fmt: skip
    done = lupai("play", "--game", "gouji", *words, stdin=script)
    assert (done.status, done.err) == (0, "")
    assert max(width(line) for line in done.out.splitlines()) <= 80
    assert done.out.splitlines()[-1].endswith("--seed 3")
    assert ("Gouji (shandong)", "够级 (shandong)")[lang == "zh"] in done.out
    tail = done.out[done.out.rindex("\n" + ("result", "结果")[lang == "zh"] + "\n") :]
    scores = [int(score) for score in re.findall(r" ([+-]\d+)(?: |$)", tail, re.MULTILINE)]
    assert len(scores) == 6
    assert sum(scores) == 0


@pytest.mark.parametrize("rules", ["shandong", "shandong;hand_sizes=always"])
def test_only_the_own_cards_and_announced_sizes_are_shown(rules):
    done = lupai("play", "--rules", rules, "--seed", "5", "--seat", "4", stdin=b"1\nq\n")
    env = gouji_v0.raw_env(rules)
    env.reset(seed=5)
    own = sorted(env.record()["hands"][4].split(" "))
    first = done.out.split("your hand (36):")[1].split("revolution:")[0]
    assert sorted(re.findall(CARD, first)) == own
    others = re.findall(r"^. seat \d +(?:even|odd) +(\S+ cards)", done.out, re.MULTILINE)
    assert set(others) == ({"36 cards", "33 cards"} if "always" in rules else {">10 cards"})


def test_sizes_are_told_from_ten_down():
    """To everybody else; to oneself always, and at the end all."""
    env, rng, seen = gouji_v0.raw_env(), random.Random(0), set()
    env.reset(seed=1)
    while not env.terminations["player_0"]:
        view = env.view()
        for seat, size in enumerate(view.state.sizes[0].tolist()):
            (line,) = (x for x in show_table(view, Words("en", "gouji")) if f" seat {seat} " in x)
            told = seat == view.seat or size <= 10
            assert (f"{size} cards" in line.replace(">10 cards", "")) == told
            seen.add((told, size in (10, 11)))
        legal = env.legal_moves()
        sets = [move for move in legal if move.startswith("play ")]
        env.step(env.action_of(rng.choice(sets or legal)))
    assert len(seen) >= 3
    assert ">10" not in "".join(show_table(env.view(), Words("en", "gouji")))


def test_every_phase_has_its_question():
    """In both languages; a burner and one who goes on to burn are asked in their own words."""
    asked, rng = {"en": set(), "zh": set()}, random.Random(2)
    tables = [({"previous_finish": FINISH}, "shandong;tribute=true", s) for s in range(3)]
    tables += [(revolution(), "shandong", 0), (burner(), "shandong", 0)]
    for options, rules, seed in tables:
        env = gouji_v0.raw_env(rules)
        env.reset(seed=seed, options=options)
        while not env.terminations["player_0"]:
            view = env.view()
            burns = bool(view.state.burning[0])
            duty = view.state.duty[0] == view.seat and view.state.standing[0] < 0
            for lang, told in asked.items():
                words = Words(lang, "gouji")
                question = show_question(view, words)
                assert question
                assert words.phase(view.phase)
                assert all(words.move(move) for move in view.legal)
                told.add((view.phase, burns, duty, question.split(" ")[0][:4]))
            env.step(env.action_of(burning(view, rng)))
    for told in asked.values():
        assert {phase for phase, *_ in told} == set(PHASE_NAMES) - {"over"}
        assert {("play", True, False), ("play", False, True)} <= {row[:3] for row in told}


def test_all_phases_and_verbs_have_words():
    assert set(gouji_words.PHASES) == set(PHASE_NAMES)
    assert set(gouji_words.VERBS) == {*ACTION_VERBS, "offer"}
    assert len(set(gouji_words.VERBS.values())) == len(gouji_words.VERBS)
    assert set(gouji_words.NAMED.values()) <= set(gouji_words.VERBS)
    for english, chinese in gouji_words.TEXTS.values():
        assert english.isascii()
        assert sorted(re.findall(r"\{.*?\}", english)) == sorted(re.findall(r"\{.*?\}", chinese))


@pytest.mark.parametrize(
    ("typed", "move"),
    [
        ("kk2b", "play KK2B"),
        ("play KK2B", "play KK2B"),
        ("offer 9", "offer 9"),
        ("t", "offer T"),
        ("offer t", "offer T"),
        ("让牌", "yield"),
        ("不烧", "silent"),
        ("revolt", None),
    ],
)
def test_what_a_person_types(typed, move):
    legal = ["yield", "silent", "offer 9", "offer T", "play KK2B"]
    assert read_choice(typed, legal, legal, Words("en", "gouji"))[0] == move


# --- replay --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(3))
def test_every_step_for_every_seat(records, number):
    replay = Replay(records[number])
    assert replay.fault is None
    for lang in ("en", "zh"):
        words = Words(lang, "gouji")
        for step in range(len(replay)):
            for seat in (None, *range(6)):
                lines = show_step(replay, step, seat, words)
                assert max(map(width, lines)) <= 80
    last = "\n".join(show_step(replay, len(replay) - 1, 1, Words("en", "gouji")))
    for seat, score in enumerate(records[number]["scores"]):
        assert re.search(
            rf"^  seat {seat} .*(place \d|still in) +{re.escape(f'{score:+d}')}\b", last, re.M
        )
    assert ("records" in last) == any(records[number]["recorded"])


def test_the_texts_of_a_seat_hold_only_its_cards(records):
    """Before the first lead: the own hand and nobody else's."""
    replay = Replay(records[0])
    for seat in range(6):
        text = "\n".join(show_step(replay, 0, seat, Words("en", "gouji")))
        assert sorted(re.findall(CARD, text)) == sorted(records[0]["hands"][seat].split(" "))
        assert text.count(">10 cards") == 5
    text = "\n".join(show_step(replay, 0, None, Words("en", "gouji")))
    assert len(re.findall(CARD, text)) == 216
    assert text.count("36 cards") == 6


def test_nobody_sees_an_answer_before_all_are_given(records):
    replay = Replay(records[2])
    (at,) = (s.number for s in replay.steps if s.move == "2 revolt")
    assert records[2]["revolter"] == 2
    polled = next(s.number for s in replay.steps if s.state.revolter[0] == 2)
    assert polled > at
    for seat in set(range(6)) - {2}:
        for step in range(at, polled):
            text = "\n".join(show_step(replay, step, seat, Words("en", "gouji")))
            assert "revolted" not in text
            assert "seat 2 (unknown): revolt" not in text
    own = "\n".join(show_step(replay, at, 2, Words("en", "gouji")))
    assert "seat 2 (unknown): revolt" in own
    after = "\n".join(show_step(replay, polled, 0, Words("en", "gouji")))
    assert "revolution: seat 2" in after
    assert "revolted, place 4" in after


def test_sweep_void_and_draw_are_told():
    """串三户, a void deal, and a hand without points."""
    table = gouji_v0.Engine()
    from lupai.train.cli.tables import table_of

    state = table.reset([0])
    tell = lambda scores, recorded: "\n".join(  # noqa: E731
        table_of(table).result(
            state, {"scores": scores, "recorded": recorded, "revolter": None}, 0,
            Words("zh", "gouji"),
        )
    )  # fmt: skip
    assert "双号一方记12分（串三户）" in tell([12, -12] * 3, [12, 0])
    assert "单号一方记6分" in tell([-6, 6] * 3, [0, 6])
    assert "串三户" not in tell([-6, 6] * 3, [0, 6])
    assert "双方都不记分" in tell([0] * 6, [0, 0])
    state.void = 1
    assert "两家以上革命，不计分" in tell([0] * 6, [0, 0])


def page_data(page):
    inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(inside[1])


def test_the_page_of_a_seat_holds_only_its_knowledge(records):
    data = page_data(make_page(Replay(records[0]), 3, Words("en", "gouji")))
    (view,) = data["views"]
    assert all(list(step["hands"]) == ["3"] for step in view["steps"])
    assert view["steps"][0]["roles"] == [
        f"{side}, {'36 cards' if seat == 3 else '>10 cards'}"
        for seat, side in enumerate(["even", "odd"] * 3)
    ]
    assert not any(re.search(r"\d", text) for text in data["steps"][0]["sizes"])


def test_pages_do_not_know_what_the_seat_does_not(records):
    """Two hands that differ only in cards that nobody ever saw give one page, byte for byte."""
    record = records[0] | {"seed": None, "moves": records[0]["moves"][:60]}
    replay, words = Replay(record), Words("en", "gouji")
    held = replay.steps[-1].state.hands[0, :2, 4:48]  # no 3s, which make the first leader
    mine = KIND_TEXTS[4 + int(held[0].argmax())]
    theirs = next(KIND_TEXTS[4 + k] for k in held[1].nonzero()[0] if KIND_TEXTS[4 + k] != mine)
    hands = [hand.split(" ") for hand in record["hands"]]
    hands[0][hands[0].index(mine)] = theirs
    hands[1][hands[1].index(theirs)] = mine
    other = Replay(record | {"hands": [" ".join(hand) for hand in hands]})
    assert replay.fault == other.fault
    assert len(replay) == len(other) == 61
    for seat in range(2, 6):
        assert make_page(replay, seat, words) == make_page(other, seat, words)
    for seat in (0, 1, None):
        assert make_page(replay, seat, words) != make_page(other, seat, words)


def test_replay_by_the_command(file):
    for number, says in ((1, "result"), (2, "the hand before ended: 0 2 1 4 3 5"), (3, "records")):
        done = lupai("replay", file, "--all", "--hand", str(number), "--seat", "1")
        assert (done.status, done.err) == (0, "")
        assert says in done.out
    done = lupai("replay", file, "--html", "-", "--lang", "zh")
    assert (done.status, done.err) == (0, "")
    data = page_data(done.out)
    assert len(data["views"]) == 7
    assert len(data["views"][0]["steps"][0]["hands"]) == 6


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("replay {file} --belief grounded --all", "--belief: a hidden guard is Baohuang's"),
        ("replay {file} --seat 6 --all", "--seat 6: the seats of gouji are 0 … 5"),
        ("replay {cases} --seat 5 --all", "--seat 5: the seats of baohuang are 0 … 4"),
        ("play --seat 5", "--seat 5: the seats of baohuang are 0 … 4"),
        ("play --game gouji --seat 6", "--seat 6: the seats of gouji are 0 … 5"),
        ("play --game gouji --against random,random", "one agent for all, or 5 with commas"),
        ("play --game gouji --rules qingdao", "qingdao is a preset of baohuang"),
        ("play --game gouji --option grab=true", "grab"),
        ("bench --game gouji --peers", "--peers measures baohuang only, not gouji"),
        ("rules qingdao --game gouji", "qingdao is a preset of baohuang"),
        ("record --game gouji --players random,random -o -", "players"),
        ("legal --game gouji --hand 9c --circle 2", "--circle: there is none in gouji"),
        ("legal --hand 9c --burning --standing 8", "--burning: there is none in baohuang"),
        ("legal --game gouji --file x --melee", "--melee goes with --hand"),
    ],
)
def test_one_clear_error(file, words, says):
    done = lupai(*(w.format(file=file, cases=HAND_CASES) for w in words.split(" ")))
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("agent", ["search", "bayes"])
def test_agents_of_baohuang_say_so(agent):
    """Before a card is shown; search once ended in an internal error, the others in mid-hand."""
    words = ("record", "--game", "gouji", "--hands", "1", "-o", "-", "--players", agent)
    play = ("play", "--game", "gouji", "--seed", "1", "--against", agent)
    for done in (lupai(*play, stdin=b"1\n" * 9), lupai(*words)):
        assert done.status == 2
        assert done.out == ""
        assert f"agent '{agent}' plays baohuang, not gouji" in done.err
        assert done.err.count("\n") == 1


# --- legal ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"burning": True}, "burning without standing"),
        ({"may_yield": True}, "may_yield without standing"),
        ({"duty": True, "standing": "3"}, "duty with standing"),
        ({"burning": True, "melee": True, "standing": "3"}, "burning in the melee"),
        ({"duty": True, "melee": True}, "duty in the melee"),
        ({"may_yield": True, "melee": True, "standing": "3"}, "may_yield in the melee"),
        ({"burning": True, "headless": True, "standing": "3"}, "burning: a headless player"),
        ({"may_yield": True, "headless": True, "standing": "3"}, "may_yield: a headless player"),
        ({"burning": True, "may_yield": True, "standing": "3"}, "burning and may_yield"),
        ({"standing": "3R"}, "a dead set"),
        ({"standing": "32K"}, "32K"),
        ({"hand": "9c* 9d"}, "no marked card"),
        ({"hand": "9c 9c 9c 9c 9c"}, "more than 4 cards 9c"),
        ({"hand": ""}, "empty hand"),
    ],
)
def test_contradictions(flags, says):
    """By options and by a line of a file: the same error."""
    position = {"hand": "9c 9d B", "standing": None} | flags
    words = ["legal", "--game", "gouji", "--hand", position["hand"]]
    words += ["--standing", position["standing"]] if position["standing"] else []
    words += [f"--{k.replace('_', '-')}" for k, v in position.items() if v is True]
    done = lupai(*words)
    assert (done.status, done.out) == (2, "")
    assert says in done.err
    line = json.dumps(position)
    done = lupai("legal", "--game", "gouji", "--file", "-", stdin=line.encode())
    assert done.status == 1
    assert says in json.loads(done.out)["error"]


@pytest.mark.parametrize(
    ("position", "says"),
    [
        ({}, "'hand' is missing"),
        ({"hand": 7}, "cards as text"),
        ({"hand": "9c", "standing": 8}, "a set or null"),
        ({"hand": "9c", "melee": 1}, "true or false"),
        ({"hand": "9c", "rules": "qingdao"}, "qingdao"),
        ({"hand": "9c", "rules": "house.yaml"}, "a line names no file"),
    ],
)
def test_bad_lines(position, says):
    lines = f'{json.dumps(position)}\n{{"hand": "9c"}}\n'
    done = lupai("legal", "--game", "gouji", "--file", "-", stdin=lines.encode())
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert done.status == 1
    assert says in first["error"]
    assert second == ["play 9"]


def test_legal_of_positions_is_what_the_engine_asks():
    """Every decision of some hands, told as a position in each of the three ways."""
    positions, legal, met = [], [], set()
    tables = [("shandong", s, None) for s in range(4)]
    tables += [(rules, 0, burner()) for rules in ("shandong", "shandong;burn_fail=last_place")]
    for rules, seed, options in tables:
        env, rng = gouji_v0.raw_env(rules), random.Random(seed)
        env.reset(seed=seed, options=options)
        while not env.terminations["player_0"]:
            view, moves = env.view(), env.legal_moves()
            state, seat = view.state, view.seat
            if view.phase == "play":
                lead = state.standing[0] < 0
                beat = None if lead else view.move_of(22 + int(state.standing[0]))
                flags = {
                    "burning": bool(state.burning[0]),
                    "duty": bool(lead and state.duty[0] == seat),
                    "may_yield": "yield" in moves,
                    "melee": bool(state.melee[0]),
                }
                plain = not (flags["burning"] or flags["may_yield"])
                flags["headless"] = bool(state.headless[0] >> seat & 1) and plain
                met |= {name for name, value in flags.items() if value}
                standing = beat and beat.removeprefix("play ")
                hand = " ".join(view.hand)
                positions.append({"rules": rules, "hand": hand, "standing": standing} | flags)
                legal.append(moves)
            env.step(env.action_of(burning(view, rng)))
    assert met == {"burning", "duty", "may_yield", "melee", "headless"}
    lines = "\n".join(map(json.dumps, positions)).encode()
    done = lupai("legal", "--game", "gouji", "--file", "-", stdin=lines)
    assert (done.status, done.err) == (0, "")
    assert [json.loads(line) for line in done.out.splitlines()] == legal
    chosen = random.Random(0).sample(range(len(legal)), 12)
    for position, moves in ((positions[i], legal[i]) for i in chosen):
        words = ["--rules", position["rules"], "--hand", position["hand"]]
        words += ["--standing", position["standing"]] if position["standing"] else []
        words += [f"--{k.replace('_', '-')}" for k, v in position.items() if v is True]
        assert lupai("legal", *words).out.splitlines() == moves
        assert json.loads(lupai("legal", *words, "--json").out) == moves


# --- record, verify, rules, bench ----------------------------------------------------------------


def test_what_record_writes_verify_accepts():
    words = ("record", "--game", "gouji", "--hands", "4", "--seed", "7", "-o", "-")
    players = "random,greedy,random,greedy,random,greedy"
    done = lupai(*words, "--players", players)
    assert (done.status, done.err) == (0, "")
    assert lupai(*words, "--players", players).out == done.out
    checked = lupai("verify", "-", stdin=done.out.encode())
    assert (checked.status, checked.out) == (0, "4 hands, 0 faults\n")
    for line in done.out.splitlines():
        record = load_record(line)
        assert dump_record(record) == line
        assert "roles" not in record
        assert record["players"] == players.split(",")
        assert len(record["recorded"]) == 2
        assert max(record["recorded"]) == max(record["scores"])


def test_records_of_all_kinds_are_possible_hands(file):
    done = lupai("verify", file)
    assert (done.status, done.out) == (0, "3 hands, 0 faults\n")


@pytest.mark.parametrize(
    ("number", "fields", "says"),
    [
        (0, {"recorded": [1, 2]}, "recorded"),
        (0, {"revolter": 4}, "revolter"),
        (0, {"revolter": 6}, "field 'revolter"),
        (0, {"roles": {}}, "field 'roles': unknown field"),
        (0, {"scores": [0] * 5}, "scores"),
        (0, {"rules": {"preset": "qingdao"}}, "qingdao"),
        (1, {"meta": {"lupai": {"previous_finish": [0, 1, 2, 3, 4, 4]}}}, "previous_finish"),
        (1, {"meta": {"lupai": {"previous_finish": [5, 3, 4, 1, 2, 0]}}}, "move"),
        (1, {"meta": {}}, "move"),
        (2, {"revolter": None}, "revolter"),
    ],
)
def test_faults_are_named(records, number, fields, says):
    line = json.dumps(records[number] | fields)
    done = lupai("verify", "-", stdin=line.encode())
    assert done.status == 1
    first, last = done.out.splitlines()
    assert first.startswith("-:line 1: ")
    assert says in first
    assert last == "1 hand, 1 fault"


def test_rules_of_gouji():
    done = lupai("rules", "--game", "gouji")
    assert (done.status, done.err) == (0, "")
    assert "burn_fail" in done.out
    assert "guard_by" not in done.out
    done = lupai("rules", "shandong", "--option", "tribute=true", "--json")
    assert json.loads(done.out)["rules"] == "shandong;tribute=true"
    done = lupai("rules", "shandong;end=last_player", "--diff", "shandong", "--json")
    assert list(json.loads(done.out)) == ["end"]


def test_bench(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "STAGGER", 40)
    monkeypatch.setattr(bench, "TABLES", (1, 4))
    monkeypatch.setattr(bench, "ROLLOUTS", 4)
    path = tmp_path / "bench.json"
    words = ("--repeats", "2", "--seconds", "0.001", "--json", path)
    done = lupai("bench", "--game", "gouji", *words)
    assert (done.status, done.err) == (0, "")
    data = json.loads(path.read_text("utf-8"))
    assert [row["case"] for row in data["results"]] == [
        "AEC env() loop",
        *(f"engine B={n}{extra}" for n in (1, 4) for extra in ("", " + observation", " + mask")),
    ]
    assert [row["case"] for row in data["rollouts"]] == [
        "rollouts of random", "rollouts of greedy",
    ]  # fmt: skip
    assert "guesses" not in data
    assert data["rules"] == "shandong"
    assert f"memory of a table: {data['bytes_per_table']} bytes" in done.out
    assert 1000 < data["bytes_per_table"] < 4096


def test_what_is_of_the_other_game_is_said_to_be():
    """The example agent once took a seat at Gouji, where each of its moves was a fault."""
    example = "lupai.agents.example_agent:LoyalAgent"
    for words in (
        ("arena", "--game", "gouji", "--players", example, "--against", "greedy", "--deals", "1"),
        ("play", "--game", "gouji", "--against", "lupai/qingdao-v1"),
    ):
        done = lupai(*words)
        assert (done.status, done.out) == (2, ""), words
        assert "baohuang, not " in done.err
    done = lupai("rules", "shandong", "--diff", "qingdao")
    assert done.status == 2
    assert "qingdao is of baohuang, shandong of gouji" in done.err


def test_the_list_of_agents_says_which_games_they_play():
    rows = {row["agent"]: row for row in json.loads(lupai("agents", "--json").out)}
    assert rows["tactical"]["games"] == ["baohuang", "gouji"]
    assert rows["bayes"]["games"] == ["baohuang"]
    assert rows["lupai/weihai-v1"]["games"] == ["baohuang"]
    lines = [line.split()[:2] for line in lupai("agents").out.splitlines()]
    assert ["agent", "game"] in lines
    assert ["tactical", "any"] in lines
    assert ["bayes", "baohuang"] in lines
