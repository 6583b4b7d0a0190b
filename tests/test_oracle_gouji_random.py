"""Random hands of the Gouji oracle: what holds in every position, and that every branch is met."""

import random
from collections import Counter
from itertools import islice

import pytest

from tests.oracle_gouji import EVENTS, Hand, Options
from tests.oracle_gouji.deal import check_deal
from tests.oracle_gouji.deals import DEALS, WEIGHTS
from tests.oracle_gouji.events import NEVER
from tests.oracle_gouji.random_play import (
    choose,
    play_out,
    random_hand,
    random_runs,
    random_style,
)
from tests.oracle_gouji.sets import RANKS, all_sets, count_ranks, is_dead, number_of_jokers


@pytest.mark.parametrize("name", sorted(DEALS))
def test_stacked_deals_are_deals(name: str) -> None:
    assert set(WEIGHTS) == set(DEALS)
    for seed in range(20):
        rng = random.Random(seed)
        hands, start = DEALS[name](rng)
        check_deal(hands, start)
        poor = sum(not any(card[0] in "RB2" for card in cards) for cards in hands)
        if name in ("poor", "poor_grouped"):
            assert poor >= 1
        elif name == "two_poor":
            assert poor >= 2


def test_what_holds_in_every_position() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        hand = random_hand(rng)
        styles = [random_style(rng) for _ in range(6)]
        total = 216
        while (question := hand.question()) is not None:
            seat, kind = question
            legal = hand.legal()
            assert legal
            assert len(set(legal)) == len(legal)
            state = hand.state()
            sizes = [sum(counts) for counts in state["counts"]]
            assert sizes[seat] > 0
            if state["duty"] is not None:
                # At most one burner has a duty: he leads, or his set stands.
                burner = state["duty"][0]
                assert burner == (seat if kind == "lead" else state["owner"])
                assert sizes[burner] > 0
            if kind in ("answer", "burn"):
                assert state["standing"] is not None
                assert not is_dead(state["standing"])
                assert seat != state["owner"]
                assert legal[0] == ("pass" if kind == "answer" else "silent")
            if kind == "burn":
                assert state["phase"] == "play"
                assert seat not in state["headless"]
                assert seat not in state["out"]
            if kind == "lead":
                assert state["out"] == []
                assert set(legal) <= set(all_sets(hand.hands[seat]))
            move = choose(legal, kind, sizes[seat], styles[seat], rng)
            hand.play(move)
            after = sum(sum(hand.hands[s].values()) for s in range(6))
            if move[0] in RANKS:
                dropped = (
                    sum(sizes[s] for s in hand.failed) if hand.failed != state["failed"] else 0
                )
                gone = total - after - len(move)
                assert gone == (sizes[seat] - len(move) if dropped else 0)
            total = after
        if hand.phase == "void":
            assert hand.scores is None
            continue
        assert hand.phase == "over"
        assert hand.scores is not None
        assert sum(hand.scores) == 0
        assert hand.revolter not in hand.finish
        if hand.options.end == "last_player":
            seats = {*hand.finish, *([] if hand.revolter is None else [hand.revolter])}
            assert seats == set(range(6))
            assert len(hand.finish) == len(set(hand.finish))


def test_both_ends_give_the_same_scores() -> None:
    """§4: equal scores, whenever the hand stops."""
    compared = 0
    for seed in range(40):
        hand = random_hand(random.Random(seed), Options(end="last_player"))
        moves = play_out(hand, random.Random(seed))
        if hand.phase == "void":
            continue
        # The same moves with an early end: the hand stops as soon as a side is out.
        early = random_hand(random.Random(seed), Options())
        for seat, move in moves:
            question = early.question()
            if question is None:
                compared += 1
                break
            assert question[0] == seat
            early.play(move)
        assert (early.scores, early.recorded) == (hand.scores, hand.recorded)
    assert compared >= 5


def test_a_burner_can_always_keep_his_duty() -> None:
    """From every hand in which burning was legal, however he goes on, he never gets stuck."""
    rng = random.Random(11)
    seen = 0
    while seen < 300:
        ranks = rng.sample(RANKS[:12], rng.randrange(1, 5))
        cards = "".join(rank * rng.randrange(1, 4) for rank in ranks)
        cards += "2" * rng.randrange(3) + "B" * rng.randrange(4) + "R" * rng.randrange(3)
        if number_of_jokers(count_ranks(cards)) < len(ranks) - 1:
            continue
        hand = Hand.from_position([cards, "3", "4", "3", "3", "3"], leader=0, duty=(0, 2))
        seen += 1
        while hand.question() == (0, "lead"):
            legal = hand.legal()
            assert legal
            hand.play(rng.choice(legal))
            while hand.question() is not None and hand.question() != (0, "lead"):
                hand.play(hand.legal()[0])
                if hand.finish:
                    break
            if hand.finish:
                break
        assert hand.finish[:1] == [0]


def test_a_copy_goes_its_own_way() -> None:
    rng = random.Random(9)
    hand = random_hand(rng, Options(tribute=True))
    for _ in range(30):
        before = hand.state()
        other = hand.copy()
        play_out(other, random.Random(1))
        assert hand.state() == before
        hand.play(hand.legal()[0])


def test_runs_can_be_played_again() -> None:
    """The same generator gives the same runs, and each is a run of its hand."""
    first = [(h.state(), m) for h, m in islice(random_runs(random.Random(5), Counter()), 30)]
    again = list(islice(random_runs(random.Random(5), Counter()), 30))
    assert first == [(hand.state(), moves) for hand, moves in again]
    for hand, moves in again:
        for seat, move in moves:
            question = hand.question()
            assert question is not None
            assert question[0] == seat
            hand.play(move)
        assert hand.phase in ("over", "void")


@pytest.mark.slow
def test_few_runs_meet_nearly_every_branch() -> None:
    seen: Counter[str] = Counter()
    for _ in islice(random_runs(random.Random(7), seen), 200):
        pass
    missing = [name for name in EVENTS if seen[name] == 0]
    assert set(NEVER) <= set(missing)
    assert len(missing) <= 12, missing


@pytest.mark.soak
def test_every_branch_is_met_often() -> None:
    """Each a hundred times, as a comparison with an engine should demand."""
    seen: Counter[str] = Counter()
    for number, _ in enumerate(random_runs(random.Random(8), seen)):
        if number % 500 == 0 and min(seen[n] for n in EVENTS if n not in NEVER) >= 100:
            break
        assert number < 60_000, [name for name in EVENTS if seen[name] < 100]
    assert all(seen[name] == 0 for name in NEVER)
