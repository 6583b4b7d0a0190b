"""Counting: of small deals, the engine has as many legal move sequences as the oracle.

The sequences of each length are counted by the phase in which they end; the engine takes all of
them at once, one table for each.
"""

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from lupai.envs.baohuang.actions import ACTIONS, CALL, SET, SET_IDENTITY, VERBS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import PHASE_NAMES, State
from tests.envs.side_by_side import PRESETS, Rules, engine_of, play, tiny_deck, with_deck
from tests.oracle.hand import Hand
from tests.oracle.random_play import biased_deal, random_rules

Counts = list[Counter[str]]  # by length: how many sequences end in each phase


def count_engine(engine: Engine, state: State, budget: int) -> Counts:
    """Sequences of length 1, 2, … until there are more than ``budget``, or none."""
    counts: Counts = []
    while len(state) and (not counts or counts[-1].total() <= budget):
        flat, offsets = engine.legal(state).ids()
        assert (np.diff(offsets) > 0).all()  # whoever is asked can answer
        state = state.take(np.repeat(np.arange(len(state)), np.diff(offsets)))
        engine.step(state, flat)
        counts.append(Counter(PHASE_NAMES[phase] for phase in state.phase.tolist()))
        state = state.take(np.flatnonzero(~state.over))
    return counts


def count_oracle(hand: Hand, lengths: int) -> Counts:
    """The same, one hand at a time."""
    counts: Counts = []
    hands = [hand]
    for _ in range(lengths):
        hands = [moved(one, move) for one in hands if one.seat is not None for move in one.legal()]
        counts.append(Counter(one.phase for one in hands))
    return counts


def moved(hand: Hand, move: str) -> Hand:
    """A copy of the hand after a move."""
    new = Hand.__new__(Hand)
    for name, value in vars(hand).items():
        if name == "hands":
            value = [cards.copy() for cards in value]
        elif isinstance(value, list | set | Counter):
            value = value.copy()
        setattr(new, name, value)
    new.apply(move)
    return new


def compare(rules: Rules, seed: int, budget: int) -> Counter[str]:
    """A deal of a tiny deck from its first question on, and again from somewhere in play."""
    rng = random.Random(seed)
    rules = with_deck(rules, tiny_deck(rng, rules))
    engine = engine_of(rules)
    hands, start = biased_deal(rng, rules=rules)
    state = engine.reset_hands([" ".join(cards) for cards in hands], start)
    hand = Hand(hands, start, rules)
    seen: Counter[str] = Counter()
    seen += compare_from(engine, state, hand, budget)
    for _ in range(3):  # on from later and later in the hand
        for _ in range(rng.randrange(4, 14)):
            if hand.seat is not None:
                move = rng.choice(hand.legal())
                engine.step(state, [engine.action_of(state, 0, move)])
                hand.apply(move)
        if hand.seat is not None:
            seen += compare_from(engine, state, hand, budget)
    return seen


def compare_from(engine: Engine, state: State, hand: Hand, budget: int) -> Counter[str]:
    counts = count_engine(engine, state, budget)
    assert count_oracle(hand, len(counts)) == counts
    seen: Counter[str] = Counter()
    for count in counts:
        seen += count
    return seen


@pytest.mark.parametrize("preset", PRESETS)
def test_sequences_of_a_preset(preset: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        seen += compare({"preset": preset}, seed, 150)
    first = "solo" if preset == "weihai" else "grab"
    assert min(seen[first], seen["declare"], seen["play"], seen["over"]) > 5, seen


@pytest.mark.parametrize("seed", range(10))
def test_sequences_under_random_options(seed: int) -> None:
    rules = random_rules(random.Random(300 + seed), named_deck=0)
    assert compare(rules, seed, 200).total() > 20


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(60))
def test_many_sequences(seed: int) -> None:
    presets: list[Rules] = [{"preset": preset} for preset in PRESETS]
    for rules in [*presets, random_rules(random.Random(seed), named_deck=0)]:
        compare(rules, 1000 + seed, 4000)


# ---- sequences before play, in closed form


def before_play(rules: Rules, hands: list[str], first: int = 0) -> Counter[str]:
    """How many ways lead from the deal into play, or to an end before it, by kind of emperor."""
    engine = Engine({**rules, "deck": " ".join(hands)})
    state = engine.reset_hands(hands, first)
    ends: Counter[str] = Counter()
    while len(state):
        flat, offsets = engine.legal(state).ids()
        state = state.take(np.repeat(np.arange(len(state)), np.diff(offsets)))
        engine.step(state, flat)
        arrived = (state.phase == PHASE_NAMES.index("play")) | state.over
        for solo, void, abandoned in zip(
            state.solo[arrived].tolist(),
            state.void[arrived].tolist(),
            state.abandoned[arrived].tolist(),
            strict=True,
        ):
            name = ("guard", "grab", "open", "secret")[solo]
            ends["void" if void else "refused" if abandoned else name] += 1
        state = state.take(np.flatnonzero(~arrived))
    return ends


THREES = ["R* 3s 3s 3s", "4s 5s 6s 7s", "8s 9s Ts 3s", "Js Qs Ks As", "2s 2h 2d 2c"]
FOURS = ["R* 3s 3s 3s 3s", "4s 5s 6s 7s", "8s 9s Ts 2h", "Js Qs Ks As", "2s 2d 2c 4h"]
NOTHING = ["R* 3s 3h 3d", "4s 5s 6s 7s", "8s 9s Ts 2h", "Js Qs Ks As", "2s 2d 2c 4h"]


@pytest.mark.parametrize("declare", [True, False])
@pytest.mark.parametrize("forced", [True, False])
def test_ways_through_the_calling(declare: bool, forced: bool) -> None:
    """Seat 0 has three 3s (or four, or nothing), and seat 2 the fourth."""
    rules: Rules = {"preset": "qingdao", "declare": declare, "forced_call": forced}
    # asked 1, 2 (declares or not), 3, 4: two ways, one of them through `declare`
    ways = 2 if declare else 1
    called = before_play(rules, THREES)
    # called at once, or by force after five ceded; else void
    assert called == {"grab": 5, "guard": ways * (1 + forced)} | ({} if forced else {"void": 1})
    # four copies: open (nobody is asked), or secret (all silent); a four cannot be forced
    assert before_play(rules, FOURS, 0) == {"grab": 5, "open": 1, "secret": 1, "void": 1}
    assert before_play(rules, NOTHING) == {"grab": 5, "void": 1}
    without = {**rules, "grab": False}
    assert before_play(without, NOTHING) == {"void": 1}


@cache
def votes(seats: int, needed: int) -> tuple[int, int]:
    """Ways in which a vote of so many seats stands, and fails."""
    if needed == 0:
        return 1, 0
    if seats == 0:
        return 0, 1
    yes, no = votes(seats - 1, needed - 1), votes(seats - 1, needed)
    return yes[0] + no[0], yes[1] + no[1]


def test_votes_by_hand() -> None:
    # of 4, two needed: stands at the 2nd (1 way), 3rd (2), 4th (3); fails with none (1) or one (4)
    assert votes(4, 2) == (6, 5)
    assert votes(2, 1) == (2, 1)
    assert votes(3, 3) == (1, 7 - 0)


GUARDED = ["R* 6s 6h", "7s 7h 7d", "B* 8s 8h", "9s 9h 9d", "Ts Th Td"]
BOTH = ["R* B* 6h", "7s 7h 7d", "6s 8s 8h", "9s 9h 9d", "Ts Th Td"]


@pytest.mark.parametrize("needed", [1, 2, 3])
@pytest.mark.parametrize("doubling", [True, False])
@pytest.mark.parametrize("declare", [True, False])
@pytest.mark.parametrize("oppose", [True, False])
@pytest.mark.parametrize("open_solo", [True, False])
def test_ways_through_the_marks(
    needed: int, doubling: bool, declare: bool, oppose: bool, open_solo: bool
) -> None:
    """Rules §4.3 as products of ways, with a guard and with both marks in one hand."""
    rules: Rules = {
        "preset": "weihai",
        "votes_needed": needed,
        "doubling": doubling,
        "declare": declare,
        "oppose": oppose,
        "open_solo": open_solo,
    }
    solos = 5 * (sum(votes(4, needed)) if doubling else 1) if open_solo else 0
    camp, rebels, alone = votes(2, 1), votes(3, needed), votes(1, 1)

    def niu(first: tuple[int, int], second: tuple[int, int]) -> int:
        """Ways through 扭 by one camp and then 踢 by the other."""
        return first[0] * sum(second) + first[1] if doubling else 1

    # 反: the four after the emperor, of whom one, the guard, can only be silent
    stands, fails = votes(3, needed)
    opposed = stands * niu(camp, rebels) + fails if oppose else 1
    declared = niu(rebels, camp) if declare else 0
    guard = declared + opposed
    expected = {"guard": guard} | ({"open": solos} if open_solo else {})
    assert before_play(rules, GUARDED) == expected

    # both marks: kept, all four may oppose, and then the soloist alone may 踢
    stands, fails = votes(4, needed)
    secret = stands * (sum(alone) if doubling else 1) + fails if oppose else 1
    # given up: four may accept; the guard is public and may declare, and three may oppose
    expected = {"guard": 4 * guard, "secret": secret, "refused": 1}
    expected |= {"open": solos} if open_solo else {}
    assert before_play(rules, BOTH) == expected


def test_ways_to_show_both_jokers() -> None:
    """guard_by = marked_small_joker: with both marks `open`, or silent as a secret solo."""
    rules: Rules = {"preset": "shiwei", "guard_by": "marked_small_joker"}
    assert before_play(rules, GUARDED) == {"grab": 5, "guard": 2}
    assert before_play(rules, BOTH) == {"grab": 5, "open": 1, "secret": 1}


# ---- how many moves one seat can have


def lead(engine: Engine, state: State) -> np.ndarray:
    return engine.legal(state).ids()[0]


def test_number_of_leads_by_kind_in_closed_form() -> None:
    """k naturals, b small and r big jokers lead (k + 1)(b + 1)(r + 1) - 1 sets; with a hidden
    identity card of a rank held m times, one less of it without the star and 1 … m with it; with
    X as many again as without it, and X alone."""
    rest = ["4s 4h 4d 4c 5s 5h 5d 5c", "6s 6h 6d 6c 7s 7h 7d 7c", "8s 8h 8d 8c 9s 9h 9d 9c"]
    deal = ["R* R B B 3s 3s 3s 3s", *rest, "Ts Th Td Tc Js Jh Jd Jc"]
    for preset, guard_card in (("qingdao", "ordinary"), ("shiwei", "supreme")):
        engine = Engine({"preset": preset, "deck": " ".join(deal)})
        state = engine.reset_hands(deal, 0)
        play(engine, state, *(f"{s} decline" for s in (0, 4, 3, 2, 1)), "0 call 3s secret")
        play(engine, state, *(f"{s} silent" for s in (1, 2, 3, 4)))
        ids = lead(engine, state)
        unstarred = (3 + 1) * 3 * 3 - 1
        starred = 4 * 3 * 3 if guard_card == "ordinary" else unstarred + 1
        assert (ids < SET_IDENTITY).sum() == unstarred
        assert (ids >= SET_IDENTITY).sum() == starred
        assert engine.legal(state).counts()[0] == unstarred + starred


def test_number_of_calls_in_closed_form() -> None:
    """One id for a kind held three times, two for one held four times, and `cede`."""
    deal = [
        "R* R R 3s 3s 3s 4h 4h 4h 4h B B B B",
        *("5s 5h 5d 5c 6s 6h 6d 6c 7s 7h 7d 7c 3s R", "8s 8h 8d 8c 9s 9h 9d 9c Ts Th Td Tc Js Jh"),
        *("Qs Qh Qd Qc Ks Kh Kd Kc As Ah Ad Ac Jd Jc", "2s 2h 2d 2c 3h 3h 3d 3d 3c 3c 4s 4s 4d 4c"),
    ]
    engine = Engine({"preset": "qingdao", "deck": " ".join(deal)})
    state = engine.reset_hands(deal, 0)
    play(engine, state, *(f"{s} decline" for s in (0, 4, 3, 2, 1)))
    ids = lead(engine, state)
    blocks = Counter(ACTIONS.block_of(int(action))[0] for action in ids)
    assert blocks == {"verb": 1, "call": 2, "call_open": 2, "call_secret": 2}


def test_number_of_ids_by_kind_in_closed_form() -> None:
    """17 words; 54 kinds to call in three ways; sets: 13 ranks 1 … 16 times or none, with 0 … 4
    of either joker, once plain and once with the identity card, and X alone."""
    sets = 13 * 16 * 5 * 5 + 5 * 5 - 1
    assert len(VERBS) == CALL == 17
    assert SET - CALL == 3 * (13 * 4 + 2)
    assert sets == SET_IDENTITY - SET
    assert ACTIONS.size - SET_IDENTITY == sets + 1
