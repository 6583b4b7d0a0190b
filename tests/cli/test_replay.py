"""`lupai replay`: forward and back, what a seat may see, and the page that needs nothing else."""

import json
import re
import subprocess

import pytest

from lupai.envs.replay import Replay
from lupai.train.cli.replay import show_step
from lupai.train.cli.words import Words, width
from tests.cli.hands import FILES, RECORDS, secret_solo
from tests.cli.running import COMMAND, PRESETS, lupai

CARD = re.compile(r"(?<![\w*])(?:[3-9TJQKA2][shcd]|B|R)\*?(?![\w*])")


# --- stepping ------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_every_move_is_a_step(preset):
    for record in RECORDS[preset][::5]:
        replay = Replay(record)
        assert [step.move for step in replay.steps] == [None, *record["moves"]]
        assert replay.fault is None
        assert replay.outcome == {k: record[k] for k in ("roles", "finish", "scores")}
        played = sum(m.count(" ") - 1 for m in record["moves"] if " play " in m)
        assert replay.steps[-1].state.played.sum() == played
        assert replay.steps[0].state.played.sum() == 0


@pytest.mark.smoke
def test_forward_and_back():
    done = lupai("replay", FILES["qingdao"], stdin=b"n\n\np\n7\nf\nl\nn\np\nq\n")
    assert (done.status, done.err) == (0, "")
    total = len(RECORDS["qingdao"][0]["moves"])
    steps = [int(n) for n in re.findall(r"^step (\d+) of", done.out, re.MULTILINE)]
    assert steps == [0, 1, 2, 1, 7, 0, total, total - 1]
    assert f"there is no step {total + 1}" in done.out


@pytest.mark.parametrize("keys", [b"", b"?\nq\n", b"\xff\xfe\nxx\n-1\n1e3\n" + b"9" * 5000])
def test_any_keys(keys):
    done = lupai("replay", FILES["weihai"], "--seat", "1", stdin=keys)
    assert (done.status, done.err) == (0, "")
    assert re.findall(r"^step (\d+) of", done.out, re.MULTILINE) == ["0"]


def test_hand_is_the_number_of_the_line():
    done = lupai("replay", FILES["weihai"], "--hand", "3", "--all")
    assert done.out.count("\nBaohuang") == len(RECORDS["weihai"][2]["moves"]) + 1
    done = lupai("replay", FILES["weihai"], "--hand", "17", "--all")
    assert done.status == 2
    assert done.err == f"lupai: error: {FILES['weihai']}: 16 hands, so there is no --hand 17\n"
    done = lupai("replay", "-", "--all", stdin=b"nonsense\n")
    assert done.err.startswith("lupai: error: -:line 1: no JSON")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_eighty_columns_in_both_languages(preset, lang):
    for seat in ([], ["--seat", "2"]):
        done = lupai("replay", FILES[preset], "--all", "--lang", lang, *seat)
        assert (done.status, done.err) == (0, "")
        assert max(width(line) for line in done.out.splitlines()) <= 80
        assert ("result" if lang == "en" else "结果") in done.out


# --- what a seat may see -------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seat", range(5))
def test_a_seat_sees_only_its_own_hand(preset, seat):
    replay = Replay(secret_solo(preset))
    words = Words("en")
    for number in range(0, len(replay), 23):
        lines = show_step(replay, number, seat, words)
        at = next(i for i, line in enumerate(lines) if line.startswith("your hand"))
        cards = [line for line in lines[at + 1 :] if line.startswith("  ")]
        hand = replay.engine.hand_texts(replay.steps[number].state, 0, seat)
        shown = CARD.findall(" ".join(cards)) if number < len(replay) - 1 else hand
        assert sorted(shown) == sorted(hand)
        assert not any(CARD.search(line.replace("R*", "")) for line in lines[at - 5 : at])


@pytest.mark.parametrize("preset", PRESETS)
def test_a_secret_solo_stays_secret_to_others(preset):
    record = secret_solo(preset)
    emperor = record["roles"]["emperor"]
    other = (emperor + 1) % 5
    replay = Replay(record)
    public = next(s.number for s in replay.steps if s.state.public[0])
    before = range(public)
    for seat in (other, emperor):
        text = "\n".join("\n".join(show_step(replay, n, seat, Words("en"))) for n in before)
        assert ("secret" in text) == (seat == emperor)
    text = "\n".join("\n".join(show_step(replay, n, None, Words("en"))) for n in before)
    assert "the emperor secretly plays alone" in text
    assert "it was a secret" in "\n".join(show_step(replay, public, other, Words("en")))


# --- records that are not possible ---------------------------------------------------------------


def broken(tmp_path, at=60, move="0 play 3s"):
    """A file with a hand that goes wrong in the middle."""
    record = json.loads(json.dumps(RECORDS["qingdao"][0]))
    record["moves"][at] = move
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    return path


def test_an_impossible_hand_is_shown_as_far_as_it_goes(tmp_path):
    path = broken(tmp_path, 60, "7 pass")
    done = lupai("replay", path, "--all")
    assert (done.status, done.err) == (1, "")
    assert done.out.count("\nBaohuang") == 61
    assert "not possible: move 61 '7 pass': seat" in done.out


def test_the_fault_names_no_hidden_cards_to_a_seat(tmp_path):
    """The message for an illegal move has the hand of who made it in it."""
    record = RECORDS["qingdao"][0]
    at = next(i for i, m in enumerate(record["moves"]) if i > 60 and m.endswith("pass"))
    who = int(record["moves"][at][0])
    path = broken(tmp_path, at, f"{who} play R R R R")
    assert "hand:" in lupai("replay", path, "--all").out
    other = str((who + 1) % 5)
    for words in (("--all",), ("--html", "-")):
        done = lupai("replay", path, "--seat", other, *words)
        assert done.status == 1
        assert "not a possible hand from here on" in done.out
        assert "hand:" not in done.out


def test_an_unfinished_record_is_a_replay_too(tmp_path):
    record = RECORDS["weihai"][0] | {"moves": RECORDS["weihai"][0]["moves"][:30]}
    path = tmp_path / "hands.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    done = lupai("replay", path, "--all")
    assert done.status == 1
    assert "the record ends here, and seat" in done.out


def test_wrong_results_are_told(tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_text(json.dumps(RECORDS["weihai"][0] | {"scores": [0] * 5}), "utf-8")
    done = lupai("replay", path, "--all")
    assert done.status == 1
    assert "field 'scores'" in done.out


def test_a_reader_that_leaves_early():
    command = " ".join(COMMAND) + f" replay {FILES['qingdao']} --all | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("step 0 of")
    assert "Traceback" not in done.stderr
