"""What `lupai play` and `lupai replay` print of Baohuang, byte for byte.

The hashes are of the output before Gouji came in. Who changes a text on purpose puts the hash of
the new output here, which a failing test names.
"""

import hashlib

import pytest

from tests.cli.running import CASES, lupai

KEYS = b"?\nh\nm\n2\n1\n1\n99B\nfoo\n" * 100
PLAYED = {
    ("qingdao", "en", 0): "4d6d0f7f8b5d8d2309e9",
    ("shiwei", "zh", 1): "82fb2c389b382a9c3057",
    ("weihai", "en", 2): "4064078a29e074ccaab7",
}
REPLAYED = {
    "qingdao --all --lang en": "848da43250bc8e22cdaa",
    "shiwei --all --lang zh --seat 3 --hand 2": "1834fe99dafa3a70793c",
    "weihai --html - --lang zh --hand 3": "1d3cfc1b53496511a68c",
    "qingdao --html - --seat 1 --hand 4": "572f1686bb8874da430b",
}


def sha(done):
    assert (done.status, done.err) == (0, "")
    return hashlib.sha256(done.out.encode()).hexdigest()[:20]


@pytest.mark.parametrize("case", PLAYED)
def test_play(case):
    rules, lang, seed = case
    words = ("--rules", rules, "--lang", lang, "--seed", str(seed), "--seat", str(seed))
    assert sha(lupai("play", *words, "--against", "random", stdin=KEYS)) == PLAYED[case]


@pytest.mark.parametrize("case", REPLAYED)
def test_replay(case):
    preset, *words = case.split(" ")
    assert sha(lupai("replay", CASES / f"hands_{preset}.jsonl", *words)) == REPLAYED[case]
