"""Altered records: the engine refuses exactly those that the oracle refuses.

The oracle (tests/oracle) shares no code with the engine. The case file was made by a third program.
"""

import json
import random
from collections import Counter, defaultdict

import pytest

from lupai.envs.errors import RecordError
from lupai.envs.records import load_record, verify_record
from tests.cli.mutations import MOVE_KINDS, all_mutations, mutate
from tests.cli.running import CASES, PRESETS, lupai
from tests.oracle.qingdao import play_record
from tests.oracle.sets import OracleError

RECORDS = [
    json.loads(line)
    for preset in PRESETS
    for line in (CASES / f"hands_{preset}.jsonl").read_text("utf-8").splitlines()
]
# Kinds that never leave a possible hand, wherever they are applied.
ALWAYS_WRONG = {"no_seat", "other_seat", "spaces", "finish", "scores", "roles"}


def engine_refuses(record):
    """Why the engine does not take a record, or None."""
    try:
        verify_record(load_record(json.dumps(record)))
    except RecordError as error:
        return str(error)
    return None


def oracle_refuses(record):
    """Why the oracle does not take a record, or None."""
    try:
        play_record(record)
    except OracleError as error:
        return str(error)
    return None


def check(number, mutation, ask_oracle=True):
    """Compare on one mutation; None if it altered nothing, else whether it was refused.

    The oracle is always asked about what the engine takes.
    """
    record = RECORDS[number]
    altered = mutate(record, mutation)
    if altered == record:
        return None
    engine = engine_refuses(altered)
    if engine is None or ask_oracle:
        oracle = oracle_refuses(altered)
        assert (engine is None) == (oracle is None), (number, mutation, engine, oracle)
    if mutation[0] in ALWAYS_WRONG:
        assert engine is not None, (number, mutation)
    if engine is not None and mutation[0] in MOVE_KINDS:
        # The first thing wrong is at the altered move or comes from it later.
        place = int(engine.split()[1]) - 1 if engine.startswith("move ") else len(record["moves"])
        assert place >= mutation[1] or mutation == ("swap", len(record["moves"]) - 1)
    return engine is not None


def sample(seed, per_kind):
    """Some mutations of each kind, spread over the records."""
    rng = random.Random(seed)
    by_kind = defaultdict(list)
    for number, record in enumerate(RECORDS):
        for mutation in all_mutations(record):
            by_kind[mutation[0]].append((number, mutation))
    return [(kind, rng.sample(them, per_kind)) for kind, them in by_kind.items()]


def test_the_records_themselves_are_possible():
    for record in RECORDS[::8]:
        assert engine_refuses(record) is None
        assert oracle_refuses(record) is None


@pytest.mark.parametrize(("kind", "mutations"), sample(0, 9))
def test_engine_and_oracle_agree_on_altered_records(kind, mutations):
    seen = Counter(check(number, mutation) for number, mutation in mutations)
    assert seen[True] + seen[False] + seen[None] == len(mutations)
    if kind not in ("other_suit", "single"):
        assert seen[True] > 0


def test_the_command_says_so_too():
    """The command refuses the altered lines and only them, each by its number."""
    lines, wrong = [], []
    for _, mutations in sample(1, 1)[::2]:
        number, mutation = mutations[0]
        altered = mutate(RECORDS[number], mutation)
        lines.append(json.dumps(altered))
        if oracle_refuses(altered) is not None:
            wrong.append(len(lines))
    done = lupai("verify", "-", stdin="\n".join(lines).encode())
    *faults, summary = done.out.splitlines()
    assert [int(fault.split("line ")[1].split(":")[0]) for fault in faults] == wrong
    assert summary == f"{len(lines)} hands, {len(wrong)} faults"


@pytest.mark.soak
@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_soak_every_place_of_every_record(number):
    """Every kind at every place of the qingdao hands, every tenth of the others'.

    The slow oracle judges all that the engine takes, and one in forty of what it refuses.
    """
    every = 1 if RECORDS[number]["rules"]["preset"] == "qingdao" else 10
    for place, mutation in enumerate(list(all_mutations(RECORDS[number]))[::every]):
        check(number, mutation, ask_oracle=place % 40 == 0)
