"""`lupai legal` against the case file and every error of the contract."""

import io
import json
import random
import subprocess

import pytest

from lupai.envs.errors import LupaiError
from lupai.train.cli import common
from tests.cli.running import CASES as FOLDER
from tests.cli.running import COMMAND, PRESETS, lupai


def cases_of(preset):
    """Positions of one preset's case file."""
    text = (FOLDER / f"legal_{preset}.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


CASES = {(preset, i): c for preset in PRESETS for i, c in enumerate(cases_of(preset))}


@pytest.mark.smoke
@pytest.mark.parametrize("preset", PRESETS)
def test_case_file_in_one_start(preset):
    done = lupai("legal", "--file", FOLDER / f"legal_{preset}.jsonl")
    assert (done.status, done.err) == (0, "")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert answers == [case["legal"] for case in cases_of(preset)]


def test_lines_of_one_file_may_have_different_rules():
    """Positions of all presets shuffled together, rules as name, string and object."""
    cases = list(CASES.values())
    random.Random(0).shuffle(cases)
    ways = (str, lambda name: f"{name};pass_scope=trick", lambda name: {"preset": name})
    lines = [json.dumps(c | {"rules": ways[i % 3](c["rules"])}) for i, c in enumerate(cases)]
    done = lupai("legal", "--file", "-", stdin="\n".join(lines).encode())
    assert (done.status, done.err) == (0, "")
    assert [json.loads(line) for line in done.out.splitlines()] == [c["legal"] for c in cases]


@pytest.mark.parametrize("number", CASES)
def test_case_by_options(number):
    case = CASES[number]
    words = ["legal", "--rules", case["rules"], "--hand", case["hand"]]
    if case["standing"] is not None:
        words += ["--standing", case["standing"], "--circle", str(case["circle"])]
    words += [f"--{name}" for name in ("claimable", "public") if case[name]]
    as_json, as_text = lupai(*words, "--json"), lupai(*words)
    assert (as_json.status, as_text.status) == (0, 0)
    assert as_json.out.endswith("]\n")
    assert as_json.out.count("\n") == 1
    assert json.loads(as_json.out) == case["legal"]
    assert as_text.out.splitlines() == case["legal"]


def test_example_of_the_contract():
    """A hidden guard with three 9s has 9, 9*, 99, 9*9 and 9*99 (formats.md)."""
    done = lupai("legal", "--hand", "9c* 9d 9s")
    assert done.out.split("\n")[:-1] == ["play 9", "play 9*", "play 99", "play 9*9", "play 9*99"]


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        # 特画 hangs and stands alone, in public too, and never counts as its natural rank
        ("--rules shiwei --hand 9c*+9d", "play 9, play X, play 9X"),
        ("--rules shiwei --hand 9c*+9d --public", "play 9, play X, play 9X"),
        ("--rules shiwei --hand 9c*+4d+4s --standing 3R", "pass, play 4X"),
        ("--rules shiwei --hand 9c*+R --standing R", "pass, play X"),
        ("--rules shiwei --hand 9c+R+R --standing X", "pass"),
        ("--rules shiwei --hand 9c+9d+R --standing 4X", "pass"),
        ("--rules shiwei --option guard_card=ordinary --hand 9c*+9d", "play 9, play 9*, play 9*9"),
        # marks: the identity card is B*
        ("--rules weihai --hand B*+B", "play B, play B*, play B*B"),
        ("--rules qingdao;guard_by=marked_small_joker --hand B*", "play B*"),
        # sixes leave the hand all at once, jokers with them
        ("--rules weihai --hand 6s+6d+7c", "play 7"),
        ("--rules weihai --hand 6s+6d+B", "play B, play 66B"),
        ("--rules weihai --hand 6s+6d+B*", "play B*, play 66B*"),
        ("--rules weihai --option hold_sixes=false --hand 6s+7d", "play 6, play 7"),
        ("--option yield=false --hand 9c --standing 8", "pass, play 9"),
        ("--option three_twos_beat_big=true --hand 2c+2d+2h --standing R", "pass, yield, play 222"),
        ("--option three_twos_beat_big=true --hand 2c+2d+2h --standing B", "pass, yield"),
    ],
)
def test_rules_matter(words, moves):
    done = lupai("legal", *(w.replace("+", " ") for w in words.split()))
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == moves.split(", ")


def test_sets_come_by_size_rank_small_and_big_jokers_star():
    done = lupai("legal", "--hand", "4c* 3d 4d B R", "--json")
    pairs = [move.removeprefix("play ") for move in json.loads(done.out) if len(move) < 9]
    assert pairs[:13] == [
        "3", "4", "4*", "R", "B",
        "3R", "3B", "4*4", "4R", "4*R", "4B", "4*B", "BR",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--hand 9c --circle 2", "circle 2 without standing"),
        ("--hand 9c --claimable", "claimable without standing"),
        ("--hand 9c --standing 8 --claimable --circle 2", "claimable in circle 2"),
        ("--hand 9c* --public", "the identity is public"),
        ("--hand 9c*+9d*", "two stars"),
        ("--hand 9c+9c+9c+9c+9c", "more than 4 cards 9c"),
        ("--hand R*+R+R+R+R", "more than 4 cards R"),
        ("--hand 9x", "unreadable card '9x'"),
        ("--hand 9c++9d", "unreadable card ''"),
        ("--hand 9c,9d", "unreadable card '9c,9d'"),
        ("--hand X", "unreadable card 'X'"),
        ("--hand=", "an empty hand"),
        ("--hand 9c --standing 98", "two natural ranks"),
        ("--hand 9c --standing B9", "out of order"),
        ("--hand 9c --standing 9*9", "without a star"),
        ("--hand 9c --standing 9X", "no X"),
        ("--hand 9c --standing=", "no card"),
        ("--hand 9c --standing RRRRR", "at most 4"),
        ("--hand 9c --circle 3", "invalid choice"),
        ("--hand 9c --rules london", "unknown preset 'london'"),
        ("--hand 9c --rules qingdao;pass_scope=ever", "pass_scope"),
        ("--hand 9c --rules qingdao;nonsense=1", "unknown option 'nonsense'"),
        ("--hand 9c --option nonsense=1", "unknown option 'nonsense'"),
        ("--hand 9c --option yield", "'yield' is not option=value"),
        ("--hand 9c --option yield=5", "'yield' cannot be 5"),
        ("--hand 9c --option preset=weihai", "--rules names the preset"),
        ("--hand 9c --option yield=true --option yield=false", "yield stands twice"),
        ("--hand 9c --option votes_needed=1", "no meaning with roles_by=called_card"),
        ("--hand 9c --rules /no/such/table.yaml", "No such file"),
        ("--rules weihai --hand 9c*", "the identity card is B*"),
        ("--rules weihai --hand R*", "the identity card is B*"),
        ("--rules weihai --hand B* --public", "the identity is public"),
        ("--rules weihai --hand 3s", "more than 0 cards 3s"),
        ("--rules weihai --hand 7s --standing 6 --circle 2", "no yield"),
        ("--rules shiwei --hand 7s --standing 6 --claimable", "no claim"),
        ("--rules shiwei --hand 7s* --standing 6X --option guard_card=ordinary", "have no X"),
        ("--rules shiwei --hand 7s*+8s*", "two stars"),
        ("--hand 9c --file x", "not allowed with"),
        ("--file x --standing 9", "--standing goes with --hand"),
        ("--file x --circle 2", "--circle goes with --hand"),
        ("--file /no/such/file", "No such file"),
        ("--file /", "Is a directory"),
        ("", "required"),
    ],
)
def test_wrong_words(words, says):
    done = lupai("legal", *(w.replace("+", " ") for w in words.split()))
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert says in done.err


BAD_LINES = {
    "": "no JSON",
    "[]": "a position is a JSON object",
    "{}": "'hand' is missing",
    '{"hand": 5}': "field 'hand'",
    '{"hand": "9c", "rules": 7}': "rules 7",
    '{"hand": "9c", "rules": {"preset": "qingdao", "yield": 5}}': "'yield' cannot be 5",
    '{"hand": "9c", "standing": 8}': "field 'standing'",
    '{"hand": "9c", "standing": "8", "circle": true}': "field 'circle'",
    '{"hand": "9c", "standing": "8", "circle": "1"}': "field 'circle'",
    '{"hand": "9c", "standing": "8", "claimable": 1}': "field 'claimable'",
    '{"hand": "9c", "public": null}': "field 'public'",
    '{"hand": "9c*", "public": true}': "the identity is public",
    '{"hand": "9c", "rules": "/etc/table.yaml"}': "a line names no file",
    '{"hand": "9c*", "rules": "weihai"}': "the identity card is B*",
    '{"hand": "9c", "rules": {"preset": "shiwei", "yield": null}}': "'yield' cannot be None",
    "[" * 100_000: "no JSON",
}


def test_bad_lines_are_answered_in_their_places():
    good = '{"rules": "qingdao", "hand": "9c", "standing": "8", "other": [1]}'
    lines = [good]
    for bad in BAD_LINES:
        lines += [bad, good]
    done = lupai("legal", "--file", "-", stdin="\n".join(lines).encode())
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 1
    assert done.err.startswith(f"lupai: error: {len(BAD_LINES)} lines are bad, first line 2: ")
    assert answers[::2] == [["pass", "yield", "play 9"]] * (len(BAD_LINES) + 1)
    for answer, says in zip(answers[1::2], BAD_LINES.values(), strict=True):
        assert list(answer) == ["error"]
        assert says in answer["error"]


def test_no_utf8_and_endless_lines_are_bad_lines_only(monkeypatch):
    monkeypatch.setattr(common, "LINE_LIMIT", 1000)
    good = b'{"hand": "9c"}'
    data = b"\n".join([good, b"\xff", good, b"x" * 700_000, good, b"y" * 2000])
    done = lupai("legal", "--file", "-", stdin=data)
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.status == 1
    assert answers[0] == answers[2] == answers[4] == ["play 9"]
    assert "no UTF-8" in answers[1]["error"]
    assert "longer than" in answers[3]["error"]
    assert "longer than" in answers[5]["error"]
    assert len(answers) == 6


def test_bom_and_dos_line_ends():
    data = b'\xef\xbb\xbf{"hand": "9c"}\r\n{"hand": "9d 9c"}\r\n'
    done = lupai("legal", "--file", "-", stdin=data)
    assert done.out == '["play 9"]\n["play 9", "play 99"]\n'


def test_empty_file():
    done = lupai("legal", "--file", "-")
    assert (done.status, done.out) == (0, "")


def test_rules_of_the_command_hold_for_lines_without():
    lines = b'{"hand": "6c 7c"}\n{"hand": "6c 7c", "rules": "qingdao"}\n'
    done = lupai("legal", "--rules", "weihai", "--file", "-", stdin=lines)
    assert done.out == '["play 7"]\n["play 6", "play 7"]\n'
    done = lupai("legal", "--rules", "nowhere", "--file", "-", stdin=lines)
    assert (done.status, done.out) == (2, "")


def test_a_pipe_is_answered_line_by_line():
    """A program may keep one `lupai legal` running and ask it again and again."""
    command = [*COMMAND, "legal", "--file", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for hand, answer in (("9c", b'["play 9"]\n'), ("Td", b'["play T"]\n')):
            running.stdin.write(json.dumps({"hand": hand}).encode() + b"\n")
            running.stdin.flush()
            assert running.stdout.readline() == answer
        running.stdin.close()
        assert running.wait(timeout=60) == 0


def test_lines_never_holds_more_than_a_chunk():
    """A file of any size is read in pieces: the largest piece is bounded."""
    data = b'{"hand": "9c"}\n' * 200_000
    sizes = [len(chunk) for chunk in common.lines(io.BytesIO(data))]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 1 + (1 << 18) // 15


def test_line_numbers_go_on_over_long_lines(monkeypatch):
    monkeypatch.setattr(common, "LINE_LIMIT", 10)
    monkeypatch.setattr(common, "_CHUNK", 7)
    data = b"a\n" + b"b" * 50 + b"\nc\n\n" + b"d" * 11
    got = [line for chunk in common.lines(io.BytesIO(data)) for line in chunk]
    assert [number for number, _ in got] == [1, 2, 3, 4, 5]
    assert [t if isinstance(t, str) else LupaiError for _, t in got] == [
        "a", LupaiError, "c", "", LupaiError,
    ]  # fmt: skip
