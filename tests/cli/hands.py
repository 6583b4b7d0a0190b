"""Recorded hands for the tests of replays."""

import json
import random
from functools import cache

from tests.cli.running import CASES, PRESETS
from tests.oracle.random_play import random_record

FILES = {preset: CASES / f"hands_{preset}.jsonl" for preset in PRESETS}
RECORDS = {
    preset: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for preset, path in FILES.items()
}


@cache
def secret_solo(preset):
    """A hand with a secret solo that comes out only after some moves."""
    rng = random.Random(4)
    while True:
        hand, record = random_record(rng, preset)
        if hand.solo == "secret" and "declare" not in " ".join(record["moves"]):
            return record
