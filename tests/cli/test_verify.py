"""`lupai verify`: what it reports and where."""

import json

import pytest

from tests.cli.running import CASES, HAND_CASES, PRESETS, lupai

LINES = HAND_CASES.read_text("utf-8").splitlines()


def with_fields(line=LINES[0], **fields):
    return json.dumps(json.loads(line) | fields)


@pytest.mark.smoke
@pytest.mark.parametrize("preset", PRESETS)
def test_case_file_passes(preset):
    done = lupai("verify", CASES / f"hands_{preset}.jsonl")
    assert (done.status, done.out, done.err) == (0, "16 hands, 0 faults\n", "")


@pytest.mark.smoke
def test_fault_is_named_by_file_line_and_move(tmp_path):
    record = json.loads(LINES[0])
    record["moves"][20] = "0 pass"
    path = tmp_path / "hands.jsonl"
    path.write_text("\n".join([LINES[1], json.dumps(record), LINES[2], "nonsense"]), "utf-8")
    done = lupai("verify", path)
    first, second, last = done.out.splitlines()
    assert done.status == 1
    assert first.startswith(f"{path}:line 2: move 21 '0 pass': seat 2 is asked")
    assert second.startswith(f"{path}:line 4: no JSON")
    assert last == "4 hands, 2 faults"


def test_many_files_and_standard_input(tmp_path):
    path = tmp_path / "one.jsonl"
    path.write_text(LINES[0] + "\n", "utf-8")
    done = lupai("verify", path, "-", path, stdin=LINES[1].encode())
    assert done.out == "3 hands, 0 faults\n"
    assert lupai("verify", "-").out == "0 hands, 0 faults\n"


def test_a_missing_file_is_told_before_any_work(tmp_path):
    done = lupai("verify", HAND_CASES, tmp_path / "none")
    assert (done.status, done.out) == (2, "")
    assert "No such file" in done.err


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"extra": 1}, "field 'extra': unknown field"),
        ({"format": "lupai/2"}, "field 'format'"),
        ({"game": "chess"}, "field 'game'"),
        ({"rules": {"preset": "nowhere"}}, "unknown preset"),
        ({"rules": {"preset": "qingdao", "yield": False}}, "'yield' (action 1) is illegal"),
        ({"rules": {"preset": "shiwei"}}, "move"),
        ({"rules": {"preset": "weihai"}}, "the deck"),
        ({"rules": {"preset": "qingdao", "yield": None}}, "'yield' cannot be None"),
        ({"rules": {"preset": "qingdao", "deck": "x"}}, "option 'deck'"),
        ({"rules": {"preset": "a.yaml"}}, "unknown preset 'a.yaml'"),
        ({"rules": "qingdao"}, "field 'rules'"),
        ({"seed": -1}, "field 'seed'"),
        ({"seed": 5}, "seed 5"),
        ({"start": 5}, "start 5"),
        ({"start": True}, "field 'start'"),
        ({"hands": ["9c"] * 5}, "the deck"),
        ({"hands": []}, "five hands"),
        ({"moves": []}, "the hand goes on"),
        ({"moves": ["0"]}, "move 1"),
        ({"moves": ["x y z"]}, "move 1"),
        ({"moves": ["1 play " + "9c " * 5000]}, "move 1"),
        ({"roles": {"emperor": 0}}, "field 'roles.guard'"),
        ({"roles": {"emperor": 0, "guard": None, "solo": "alone"}}, "field 'roles.solo'"),
        ({"finish": [0, 1, 2, 3, "4"]}, "field 'finish.4'"),
        ({"scores": [0, 0, 0, 0, 0]}, "field 'scores'"),
        ({"scores": [0.0] * 5}, "field 'scores.0'"),
        ({"redeals": 100}, "field 'redeals'"),
        ({"players": ["a"]}, "field 'players'"),
        ({"meta": []}, "field 'meta'"),
    ],
)
def test_wrong_fields(fields, says):
    done = lupai("verify", "-", stdin=with_fields(**fields).encode())
    assert done.status == 1
    assert done.err == ""
    fault, summary = done.out.splitlines()
    assert fault.startswith("-:line 1: ")
    assert says in fault or (says == "five hands" and "hands" in fault)
    assert summary == "1 hand, 1 fault"


def test_unknown_fields_of_meta_are_kept_silently():
    done = lupai("verify", "-", stdin=with_fields(meta={"mine": [1, {"two": None}]}).encode())
    assert (done.status, done.err) == (0, "")


def test_record_of_another_version_is_noted():
    record = json.loads(lupai("record", "-o", "-").out)
    record["meta"]["lupai"]["action_layout"] = "0" * 16
    done = lupai("verify", "-", stdin=json.dumps(record).encode())
    assert done.out == "1 hand, 0 faults\n"
    assert done.err.startswith("lupai: note: -:line 1: written with action_layout 0000")


def test_small_decks_are_verified():
    deck = ["R*", *[f"{r}s" for r in "3456789TJQKA2" for _ in range(4)]]
    rules = json.dumps(deck)
    done = lupai("record", "--rules", f"qingdao;deck={rules}", "--hands", "20", "-o", "-")
    assert done.status == 0
    assert lupai("verify", "-", stdin=done.out.encode()).out == "20 hands, 0 faults\n"
