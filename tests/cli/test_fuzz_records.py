"""Anything as a file of records: no crash, no traceback, one clear error for each line."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.errors import LupaiError
from lupai.envs.records import load_record
from lupai.envs.verify import verify_records
from tests.cli.junk import FUZZ, JUNK, MOVES, VALUES
from tests.cli.running import CASES, PRESETS, lupai

LINES = {
    preset: (CASES / f"hands_{preset}.jsonl").read_text("utf-8").splitlines() for preset in PRESETS
}
ALL_LINES = [line for lines in LINES.values() for line in lines]


def number(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def check_verify(data, lines=None):
    """The command's answer to a file: one line for each fault, and a summary."""
    done = lupai("verify", "-", stdin=data)
    *faults, summary = done.out.split("\n")[:-1]
    seen = int(summary.split()[0])
    assert summary == f"{number(seen, 'hand')}, {number(len(faults), 'fault')}"
    assert done.status == (1 if faults else 0)
    assert "Traceback" not in done.out + done.err
    assert "internal error" not in done.err
    for fault in faults:
        assert fault.startswith("-:line ")
        assert len(fault) < 1500
        assert all(c.isprintable() for c in fault)
    if lines is not None:
        assert int(summary.split()[0]) == lines
    return faults


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes(data):
    check_verify(data)


@FUZZ
@given(st.randoms(use_true_random=False), st.sampled_from(ALL_LINES))
def test_altered_bytes(rng, line):
    data = bytearray(line.encode())
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(1, 200)]
            case 2:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 5)))
            case 3:
                data[at:at] = data[: rng.randrange(100)]
    check_verify(bytes(data))


@pytest.mark.parametrize("preset", PRESETS)
def test_truncated_lines(preset):
    """Cut anywhere: a fault of this line, and of no other."""
    line, rng = LINES[preset][0], random.Random(0)
    cuts = sorted({0, 1, len(line) - 1, *(rng.randrange(len(line)) for _ in range(40))})
    text = "\n".join([*(line[:cut] for cut in cuts), LINES[preset][1]])
    faults = check_verify(text.encode(), len(cuts) + 1)
    assert len(faults) == len(cuts)
    assert all(": no JSON: " in fault or "a JSON object" in fault for fault in faults)


def test_huge_lines():
    """A line of many megabytes is one fault, and the next line is read as ever."""
    huge = [
        b"x" * 3_000_000,
        b"[" * 900_000,
        b'{"a":' * 100_000,
        b'{"format": "' + b"\\u0041" * 100_000 + b'"}',
        LINES["weihai"][0].replace('"meta": {}', '"meta": {"x": "' + "y" * 900_000 + '"}').encode(),
        LINES["weihai"][0].replace('"moves": [', '"moves": [' + '"0 pass",' * 90_000).encode(),
        b'{"seed": ' + b"9" * 500_000 + b"}",
    ]
    good = LINES["weihai"][1].encode()
    faults = check_verify(b"\n".join(part for line in huge for part in (line, good)), 14)
    assert [int(f.split(":")[1].split()[1]) for f in faults] == [1, 3, 5, 7, 11, 13]


@FUZZ
@given(st.data(), st.sampled_from(ALL_LINES), VALUES)
def test_any_value_in_any_field(data, line, value):
    record = json.loads(line)
    name = data.draw(st.sampled_from(sorted(record)))
    inner = record[name]
    if inner and data.draw(st.booleans()):
        if isinstance(inner, dict):
            inner[data.draw(st.sampled_from(sorted(inner)) | JUNK)] = value
        elif isinstance(inner, list):
            inner[data.draw(st.integers(0, len(inner) - 1))] = value
    elif data.draw(st.booleans()):
        record[name] = value
    else:
        record[data.draw(JUNK)] = value
    check_verify(json.dumps(record).encode(), 1)


@FUZZ
@given(st.data(), st.sampled_from(ALL_LINES), MOVES)
def test_any_move(data, line, move):
    """One move is replaced; if it is a fault it is at this move or a later one."""
    record = json.loads(line)
    at = data.draw(st.integers(0, len(record["moves"]) - 1))
    if data.draw(st.booleans()):
        move = record["moves"][at][:2] + move
    record["moves"][at] = move
    for fault in check_verify(json.dumps(record).encode(), 1):
        if "move " in fault:
            assert int(fault.split("move ")[1].split()[0]) >= at + 1


@FUZZ
@given(st.sampled_from(ALL_LINES), st.lists(st.text(max_size=60), min_size=5, max_size=5))
def test_any_hands(line, hands):
    check_verify(json.dumps(json.loads(line) | {"hands": hands}).encode(), 1)


@pytest.mark.parametrize("seed", range(4))
def test_replay_of_anything_altered(seed, tmp_path):
    rng, path = random.Random(seed), tmp_path / "hands.jsonl"
    for line in rng.sample(ALL_LINES, 6):
        record = json.loads(line)
        at = rng.randrange(len(record["moves"]))
        record["moves"][at] = rng.choice(["\x1b[2J", "0 play " + "9c " * 999, "", "\ud800", "9 ti"])
        record["players"] = rng.choice([[], ["\x1b]0;x\x07"] * 5, ["a"] * 99])
        path.write_text(json.dumps(record), "utf-8")
        for words in (("--all",), ("--html", "-"), ("--all", "--seat", "2")):
            done = lupai("replay", path, *words)
            assert done.status == 1
            assert done.err == ""
            assert "\x1b" not in done.out
            assert "\x07" not in done.out


def test_records_print_and_read_back():
    for line in ALL_LINES:
        record = load_record(line)
        assert load_record(json.dumps(record)) == record
        assert load_record(json.dumps(record, ensure_ascii=False)) == record


def test_errors_of_the_library_are_its_own():
    """verify_records gives errors back and raises none, whatever passes load_record."""
    rng, many = random.Random(0), []
    for line in rng.sample(ALL_LINES, 12):
        record = json.loads(line)
        record["hands"][rng.randrange(5)] = rng.choice(["", "R*", "9c " * 300, "\ud800"])
        many.append(record)
        many.append(json.loads(line) | {"start": rng.choice([5, 10**30])})
        many.append(json.loads(line) | {"seed": 2**64 - 1, "redeals": 99})
        many.append(json.loads(line) | {"scores": [10**400] * 5, "finish": [10**30]})
    checked = []
    for record in many:
        try:
            checked.append(load_record(json.dumps(record)))
        except LupaiError:
            continue
    assert all(isinstance(verdict, LupaiError) for verdict in verify_records(checked))
