"""The chances of each seat to be guard are those of all deals that the record allows.

In small games all ways to lay the cards are tried: the oracle is told the whole record from the
deal that each implies (:mod:`tests.envs.worlds_by_hand`), and says who is guard in it.
"""

import random
from collections import Counter
from fractions import Fraction

import pytest

from lupai.envs.baohuang.state import Said
from tests.envs.redeal import Story
from tests.envs.side_by_side import Party, deal_of
from tests.envs.worlds_by_hand import Family, every_guess, few_kinds
from tests.oracle.random_play import biased_move, record_move

ALONE = 5  # the place of "nobody is guard" in an answer

CEDE = {"grab": 0.0, "cede": 1.0, "declare": 0.0}
CALL = {"grab": 0.0, "cede": 0.3, "declare": 0.05}
MARKS = {"solo": 0.1, "oppose": 0.3, "declare": 0.1, "abandon": 0.3}
FAMILIES = {
    "qingdao": [
        Family({"preset": "qingdao"}, CALL, (11, 16), True),
        Family({"preset": "qingdao"}, CEDE, (12, 16), True),
    ],
    "shiwei": [
        Family({"preset": "shiwei"}, CALL, (15, 17)),
        Family({"preset": "shiwei"}, CEDE, (15, 17), True),
        Family({"preset": "shiwei"}, CEDE, (15, 18)),
    ],
    "weihai": [Family({"preset": "weihai"}, MARKS, (10, 15))],
}


def some_move(legal: list[str], words: dict[str, float], rng: random.Random) -> str:
    """A random move in which some words come with given odds."""
    for word, odds in words.items():
        if word in legal and len(legal) > 1:
            others = [other for other in legal if other != word]
            return word if rng.random() < odds else rng.choice(others)
    return biased_move(legal, rng)


def compare(party: Party, story: Story, viewer: int, limit: int) -> str | None:
    """What kind of question it was, None without one; the answer is right to 1e-12."""
    state = party.state
    guesses = every_guess(story, viewer, limit)
    if guesses is None:
        return None
    by_guard: Counter[int] = Counter()
    for guess in guesses:
        by_guard[guess.guard if guess.guard >= 0 else ALONE] += guess.weight
    every = sum(by_guard.values())
    told = party.engine.guard_chances(state, viewer)[0]
    for seat in range(ALONE + 1):
        assert abs(told[seat] - float(Fraction(by_guard[seat], every))) < 1e-12, (told, by_guard)
    if sum(weight > 0 for weight in by_guard.values()) == 1:
        return "certain"
    said = state.said[0] >> Said.SKIPPED_FORCED_CALL & 1
    if said.any():
        return "skipped"
    if (state.said[0] >> Said.CEDE & 1).all():
        return "asked"
    return "added" if (state.added[0] >= 0).any() else "open"


def try_deal(preset: str, seed: int, limit: int) -> Counter[str]:
    """One small deal: questions at several moments, of the emperor, a rebel and a spectator."""
    rng = random.Random(seed)
    family = FAMILIES[preset][seed % len(FAMILIES[preset])]
    rules = {**family.rules, "deck": few_kinds(rng, family)}
    dealt, start = deal_of(rng, rules)
    party, story = Party(rules, [(dealt, start)]), Story(rules, dealt, start)
    hand = party.hands[0]
    seen: Counter[str] = Counter()
    next_look = 0
    while True:
        crowned, secret = party.state.emperor[0] >= 0, party.state.public[0] == 0
        if crowned and next_look <= 0 and (secret or rng.random() < 0.1):
            next_look = rng.randint(1, 4)
            emperor, guard = int(party.state.emperor[0]), int(party.state.guard[0])
            rebels = [seat for seat in range(5) if seat not in (emperor, guard)]
            for viewer in (emperor, rng.choice(rebels), -1):
                what = compare(party, story, viewer, limit)
                seen.update([] if what is None else [what])
        if hand.seat is None or sum(seen.values()) > 20:
            return seen
        next_look -= crowned
        move = some_move(hand.legal(), family.words, rng)
        text = record_move(hand, move)
        party.step([0], [move])
        story.tell(text)


# what is met at least
MET = {
    "qingdao": {"open", "asked", "skipped", "certain"},
    "shiwei": {"added", "asked", "skipped", "certain"},
    "weihai": {"open", "certain"},
}
LIMIT = {"qingdao": 150, "shiwei": 250, "weihai": 200}  # ways to be tried


def try_deals(preset: str, count: int, first_seed: int) -> None:
    """So many deals in which there was something to guess."""
    seen: Counter[str] = Counter()
    deals, seed = 0, first_seed
    while deals < count:
        here = try_deal(preset, seed, LIMIT[preset])
        seen += here
        deals += len(here - Counter(certain=here["certain"])) > 0
        seed += 1
    assert MET[preset] <= set(seen), seen


@pytest.mark.parametrize("preset", FAMILIES)
def test_chances_are_those_of_all_small_deals(preset: str) -> None:
    try_deals(preset, 8, 0)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("preset", FAMILIES)
def test_chances_are_those_of_all_small_deals_500_times(preset: str, part: int) -> None:
    try_deals(preset, 50, 1_000_000 * (part + 1))
