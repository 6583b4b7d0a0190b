"""Many records verified in step: the same words as one by one, whatever stands beside them."""

import io
import json
import random
import resource
import sys

import pytest

from lupai.envs import verify
from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.game import make_game
from lupai.envs.records import dump_record, load_record, verify_record
from lupai.envs.verify import verify_records
from lupai.train.cli import records
from tests.cli.mutations import all_mutations, mutate
from tests.cli.running import CASES, PRESETS, lupai
from tests.oracle.random_play import random_record, random_rules

RECORDS = [
    json.loads(line)
    for preset in PRESETS
    for line in (CASES / f"hands_{preset}.jsonl").read_text("utf-8").splitlines()
]


def one_by_one(record):
    """Notes, or the text of the error."""
    try:
        return verify_record(record)
    except RecordError as error:
        return str(error)


def in_step(many):
    """The same from all at once."""
    return [v if isinstance(v, list) else str(v) for v in verify_records(many)]


@pytest.fixture
def alone(monkeypatch):
    """Records that did not pass at once and went through verify_record."""
    seen = []
    original = verify._alone
    monkeypatch.setattr(verify, "_alone", lambda r, e: (seen.append(r), original(r, e))[1])
    return seen


def altered(seed, count, of=RECORDS):
    """Altered records of a shape that load_record takes."""
    rng, out = random.Random(seed), []
    while len(out) < count:
        record = rng.choice(of)
        try:
            out.append(load_record(json.dumps(mutate(record, rng.choice(all_mutations(record))))))
        except LupaiError:
            continue
    return out


def test_possible_hands_pass_at_once(alone):
    assert verify_records(RECORDS) == [[]] * len(RECORDS)
    assert alone == []


def test_hands_of_any_rules_pass_at_once(alone):
    rng = random.Random(5)
    many = [random_record(rng, random_rules(rng, named_deck=0.1))[1] for _ in range(60)]
    assert verify_records(many) == [[]] * len(many)
    assert alone == []


@pytest.mark.parametrize("seed", range(2))
def test_the_same_words_as_one_by_one(seed):
    rng = random.Random(seed)
    many = altered(seed, 40) + rng.sample(RECORDS, 5)
    rng.shuffle(many)
    expected = [one_by_one(record) for record in many]
    assert in_step(many) == expected
    assert in_step(many[::-1]) == expected[::-1]
    assert sum(isinstance(e, str) for e in expected) > 20


def test_the_same_words_under_any_rules():
    rng = random.Random(8)
    of = [random_record(rng, random_rules(rng, named_deck=0.05))[1] for _ in range(12)]
    many = altered(9, 50, of)
    assert in_step(many) == [one_by_one(record) for record in many]


ODD = [
    "0", "0 play", "0 play ", "0 playX3s", "0 play  3s", "0 play 3s ", "0  pass", "0 pass ", "",
    " 0 pass", "00 pass", "9 pass", "5 pass", "-1 pass", "0 play 3s*", "0 play X", "0 play 3s 3s*",
    "0 play R*", "0 play B* B*", "0 PASS", "0 call", "0 call 3s*", "0 call 3s open", "0 play 3s 4s",
    "0 play " + " ".join(["3s"] * 300), "0 play\t3s", "0\tpass", "0 play 3s\u2028",
    "\ud800 pass", "0 play \ud800", "\x00", "0 pass\n", "٠ pass",
]  # fmt: skip


@pytest.mark.parametrize("preset", PRESETS)
def test_odd_texts_at_any_move(preset):
    """A play without cards, or with another sign than a space, is no move: it once was one here."""
    some = [record for record in RECORDS if record["rules"]["preset"] == preset]
    rng, many = random.Random(3), []
    for odd in ODD:
        record = json.loads(json.dumps(rng.choice(some)))
        at = rng.randrange(len(record["moves"]))
        seat = record["moves"][at][0]
        record["moves"][at] = seat + odd[1:] if odd[:1] == "0" else odd
        many.append(record)
    verdicts = in_step(many)
    assert verdicts == [one_by_one(record) for record in many]
    assert all(isinstance(verdict, str) for verdict in verdicts)


def test_seeded_and_redealt_hands(alone):
    deck = ["R*", *(f"{r}{s}" for r in "3456789TJQKA2" for s in "sh"), *["9c"] * 4]
    engine = make_game("baohuang", {"preset": "qingdao", "deck": deck})
    many = list(records.play_hands(engine, ("greedy",) * 5, 30, 5))
    assert max(record["redeals"] for record in many) > 0
    assert verify_records(many) == [[]] * 30
    assert alone == []
    for record in many:
        record["redeals"] += 1
    wrong = [json.loads(json.dumps(record)) for record in many]
    for record in wrong:
        record["seed"] += 1
    assert in_step(many + wrong) == [one_by_one(record) for record in many + wrong]


def test_many_different_rules_in_one_file():
    """Each line may have rules of its own; engines are not kept for ever."""
    rng = random.Random(1)
    many = [random_record(rng, random_rules(rng, named_deck=0.0))[1] for _ in range(40)]
    assert verify_records(many) == [[]] * 40
    assert verify._engine.cache_info().currsize <= 16


def test_rules_nested_without_end():
    record = json.loads(json.dumps(RECORDS[0]))
    deep = []
    for _ in range(900):
        deep = [deep]
    record["rules"] = {"preset": "qingdao", "deck": deep}
    assert "option 'deck'" in in_step([record])[0]


# --- the command ---------------------------------------------------------------------------------


def test_batches_are_bounded(monkeypatch):
    """No more lines, and not many more bytes, are held than the constants say."""
    sizes = []
    monkeypatch.setattr(records, "AT_ONCE", 7)
    monkeypatch.setattr(records, "BYTES_AT_ONCE", 40_000)
    original = records.verify_records
    monkeypatch.setattr(
        records,
        "verify_records",
        lambda many: (sizes.append([len(dump_record(r)) for r in many]), original(many))[1],
    )
    text = "".join(dump_record(record) + "\n" for record in RECORDS)
    assert lupai("verify", "-", stdin=text.encode()).out == "48 hands, 0 faults\n"
    assert sum(len(batch) for batch in sizes) == 48
    assert max(len(batch) for batch in sizes) <= 7
    assert max(sum(batch[:-1]) for batch in sizes) < 40_000


def test_line_and_move_of_each_fault(monkeypatch, tmp_path):
    monkeypatch.setattr(records, "AT_ONCE", 50)
    lines, expected = [], []
    for number in range(1, 131):
        record = json.loads(json.dumps(RECORDS[number % 48]))
        if number % 13 == 0:
            at = (number * 7) % len(record["moves"])
            record["moves"][at] = "nonsense"
            expected.append((number, at + 1))
        lines.append(json.dumps(record))
    path = tmp_path / "hands.jsonl"
    path.write_text("\n".join(lines), "utf-8")
    done = lupai("verify", path)
    *faults, summary = done.out.splitlines()
    assert summary == "130 hands, 10 faults"
    assert [fault.partition(" 'nonsense'")[0] for fault in faults] == [
        f"{path}:line {line}: move {move}" for line, move in expected
    ]


@pytest.fixture(scope="module")
def altered_files(tmp_path_factory):
    """Two files of short hands with faults of all kinds and notes."""
    folder, rng = tmp_path_factory.mktemp("altered"), random.Random(4)
    deck = ["R*", "B", *[f"{r}s" for r in "9K2" for _ in range(4)]]
    engine = make_game("baohuang", {"preset": "qingdao", "deck": deck})
    good = list(records.play_hands(engine, ("random",) * 5, 16, 1))
    older = json.loads(json.dumps(good))
    for record in older:
        record["meta"] = {"lupai": {"action_layout": "0" * 16}}
    for name in ("one", "two"):
        many = [*altered(name, 24, good), *older[:8], "nonsense", *good[8:16]]
        rng.shuffle(many)
        lines = [m if isinstance(m, str) else dump_record(m) for m in many]
        lines[20] = "\ud800"
        (folder / name).write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    return [folder / "one", folder / "two"]


def test_any_number_of_processes_says_the_same(altered_files, monkeypatch):
    monkeypatch.setattr(records, "AT_ONCE", 11)
    one = lupai("verify", *altered_files)
    assert one.status == 1
    assert one.out.count("\n") > 30
    assert one.err.count("lupai: note: ") > 10
    assert lupai("verify", "--jobs", 3, *altered_files) == one
    first = altered_files[0]
    piped = lupai("verify", "--jobs", 2, "-", stdin=first.read_bytes()).out.splitlines()[:-1]
    assert piped == [
        line.replace(str(first), "-", 1) for line in one.out.splitlines() if str(first) in line
    ]


def test_an_unreadable_file_after_others(altered_files, monkeypatch, tmp_path):
    """What was found before comes first, for any number of processes."""
    monkeypatch.setattr(records, "AT_ONCE", 11)
    done = [lupai("verify", "--jobs", n, altered_files[0], tmp_path) for n in (1, 2)]
    assert done[0] == done[1]
    assert done[0].status == 2
    assert done[0].out.count("\n") > 15
    assert done[0].err.splitlines()[-1] == f"lupai: error: {tmp_path}: Is a directory"


def test_progress_bar(tmp_path):
    path = tmp_path / "hands.jsonl"
    path.write_bytes((CASES / "hands_weihai.jsonl").read_bytes())
    done = lupai("verify", "--progress", path)
    assert done.out == "16 hands, 0 faults\n"
    assert "100%" in done.err
    assert "hands.jsonl" in done.err
    assert lupai("verify", "--no-progress", path).err == ""


class Endless(io.RawIOBase):
    """A file of many hands that takes no memory."""

    def __init__(self, lines, count):
        self.block, self.left, self.rest = "".join(lines).encode(), count, b""

    def readable(self):
        return True

    def read1(self, size=-1):
        while len(self.rest) < size and self.left:
            self.rest, self.left = self.rest + self.block, self.left - 1
        out, self.rest = self.rest[:size], self.rest[size:]
        return out

    def fileno(self):
        raise OSError


@pytest.mark.soak
def test_soak_a_hundred_thousand_hands_in_constant_memory():
    """Some minutes; the first ten thousand may fill caches, the others take no more."""
    lines = [dump_record(record) + "\n" for record in RECORDS[:40]]
    peaks = []
    for count in (250, 2500):
        seen = [records.check(batch) for batch in records.batches(Endless(lines, count), "-")]
        assert sum(hands for hands, _ in seen) == 40 * count
        assert not any(found for _, found in seen)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    unit = 1 if sys.platform == "darwin" else 1024
    assert (peaks[1] - peaks[0]) * unit < 30_000_000
