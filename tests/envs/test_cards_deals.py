"""Cards and decks as text; deals against a second implementation of their documented stream."""

import hashlib
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs import cards, deals
from lupai.envs.baohuang.engine import Engine
from lupai.envs.cards import (
    CODE_TEXTS,
    KIND_TEXTS,
    Deck,
    four_packs,
    make_deck,
    parse_cards,
    parse_hand,
    parse_kind,
)
from lupai.envs.errors import NotationError, SeedError

# ---- cards


def test_every_card_reads_back() -> None:
    assert len(KIND_TEXTS) == 13 * 4 + 2
    assert [parse_kind(text) for text in KIND_TEXTS] == list(range(54))
    assert parse_hand(" ".join(CODE_TEXTS)) == list(range(56))
    assert cards.format_hand(range(56)) == " ".join(CODE_TEXTS)
    for kind, text in enumerate(KIND_TEXTS):
        assert parse_cards(f"{text} {text}*") == [(kind, False), (kind, True)]
        assert cards.RANK_LETTERS[cards.RANK_OF_KIND[kind]] == text[0]
    assert [CODE_TEXTS[c].rstrip("*") for c in range(56)] == [
        KIND_TEXTS[k] for k in cards.KIND_OF_CODE
    ]
    assert parse_cards("") == parse_hand("") == []


@pytest.mark.parametrize("text", ["", "9", "c9", "10c", "9C", "9x", "b", "R*", "BR", " 9c", "9c "])
def test_unreadable_cards(text: str) -> None:
    with pytest.raises(NotationError, match="unreadable card"):
        parse_kind(text)


def test_a_star_in_a_dealt_hand_marks_a_joker_only() -> None:
    with pytest.raises(NotationError, match=r"card 2 of '3s 9c\*'.*R\* or B\* only"):
        parse_hand("3s 9c*")


@given(st.text(max_size=40))
def test_any_text_is_cards_or_a_notation_error(text: str) -> None:
    for read in (parse_cards, parse_hand):
        try:
            found = read(text)
        except NotationError:
            continue
        assert len(found) == len(text.split(" ")) * bool(text)


@given(st.lists(st.sampled_from(CODE_TEXTS), max_size=60))
def test_hands_round_trip(texts: list[str]) -> None:
    assert cards.format_hand(parse_hand(" ".join(texts))).split() == texts


def test_four_packs() -> None:
    """216 cards, four of each kind, one R marked; on request one B too."""
    plain, marked = four_packs(), four_packs(marked_b=True)
    assert len(plain) == len(marked) == 4 * 54
    assert plain.counts.tolist() == marked.counts.tolist() == [4] * 54
    assert Counter(plain.codes)[cards.CODE_R_MARKED] == 1
    assert (plain.has_marked_b, marked.has_marked_b) == (False, True)
    assert plain.codes == tuple(sorted(plain.codes))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["3s"], "exactly one R"),
        (["R*", "R*"], "exactly one R"),
        (["R*", "B*", "B*"], "at most one B"),
        (["R*", *["9c"] * 5], "5 of 9c"),
        (["R*", *["R"] * 4], "5 of R"),
        (["R*", "9c*"], "only"),
        (["R*", "9"], "unreadable"),
        (["R*", ""], "unreadable"),
        ([], "exactly one R"),
        (["R* 9c"], "one card in each"),
    ],
)
def test_impossible_decks(texts: list[str], message: str) -> None:
    with pytest.raises(NotationError, match=message):
        make_deck(texts)


# ---- deals: the stream of deals.py's docstring in plain integers

M = (1 << 64) - 1
G = 0x9E3779B97F4A7C15


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M
    return x ^ x >> 31


def plain_hand_seed(seed: int, episode: int) -> int:
    return seed if episode == 0 else mix(mix(seed + G & M) + episode * G & M) >> 11


def plain_deal(codes: tuple[int, ...], seats: int, seed: int, redeal: int) -> tuple[list[int], int]:
    key = mix(mix(seed + G & M) + (redeal + 1) * G & M)
    words = [mix(key + (j + 1) * G & M) for j in range(len(codes) + 1)]
    order = sorted(range(len(codes)), key=lambda j: (words[j + 1] & ~0xFF) | j)
    return [codes[j] for j in order], words[0] % seats


SMALL = make_deck(["R*", "R", "B", *KIND_TEXTS[:30:3]])
SEEDS = [0, 1, 2, 7, 2**32, 2**53 + 1, 2**63, 2**64 - 1]


def test_mix_is_splitmix64() -> None:
    """First outputs of SplitMix64 seeded with 1234567, a published test vector."""
    expected = [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
        16408922859458223821,
    ]  # fmt: skip
    assert [mix(1234567 + (i + 1) * G & M) for i in range(5)] == expected
    steps = np.uint64(1234567) + np.arange(1, 6, dtype=np.uint64) * np.uint64(G)
    assert deals.mix(steps).tolist() == expected


@pytest.mark.parametrize("deck", [four_packs(), SMALL], ids=["216", "13"])
@pytest.mark.parametrize("seats", [5, 6])
def test_deals_are_the_documented_stream(deck: Deck, seats: int) -> None:
    redeals = np.arange(len(SEEDS)) % 3
    order, start = deals.deal(deck, seats, np.array(SEEDS, np.uint64), redeals)
    for i, (seed, redeal) in enumerate(zip(SEEDS, redeals.tolist(), strict=True)):
        assert (order[i].tolist(), start[i]) == plain_deal(deck.codes, seats, seed, redeal)


@given(st.integers(0, M), st.integers(0, 10**6), st.integers(0, 99))
def test_one_deal_is_the_documented_stream(seed: int, episode: int, redeal: int) -> None:
    hand_seed = deals.hand_seeds(np.array([seed], np.uint64), np.array([episode]))
    assert int(hand_seed[0]) == plain_hand_seed(seed, episode)
    order, start = deals.deal(SMALL, 5, hand_seed, np.array([redeal]))
    assert (order[0].tolist(), start[0]) == plain_deal(SMALL.codes, 5, int(hand_seed[0]), redeal)


def digest(seeds: list[int]) -> str:
    engine = Engine()
    text = ";".join(f"{engine.dealt_hands(seed, redeal)}" for seed in seeds for redeal in (0, 1))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def test_golden_deals() -> None:
    """Pinned: a change would change the deal of every seed that anybody wrote down."""
    hands, start = Engine().dealt_hands(0)
    assert (start, hands[0][:29]) == (3, "3d 9h 5h Ac Tc 3d 8c R* 6d Js")
    assert digest(SEEDS) == "b12724b65c8c8080"
    later = deals.hand_seeds(np.array([0, 0, 7], np.uint64), np.array([0, 1, 5]))
    assert later.tolist() == [0, 5876733520225071, 3135032276029849]


def test_each_seed_episode_and_redeal_has_its_own_deal() -> None:
    """Seed 0 is a seed like any other."""
    engine = Engine()
    tables = [
        engine.reset([0, 1, 2, 3, M]),
        engine.reset([0, 1, 2, 3, M], 1),
        engine.reset([0, 0, 0, 0, 0], [2, 3, 4, 5, 10**9]),
    ]
    hands = {state.hands[i].tobytes() for state in tables for i in range(5)}
    hands |= {str(engine.dealt_hands(0, redeal)) for redeal in range(5)}
    assert len(hands) == 20


def test_many_tables_are_dealt_as_one() -> None:
    engine = Engine()
    many = engine.reset(range(50), [i % 4 for i in range(50)])
    for i in range(50):
        assert many.take([i]).equals(engine.reset(i, i % 4))
    assert len(engine.reset([])) == 0


def test_a_later_episode_is_dealt_again_by_its_own_seed() -> None:
    engine = Engine()
    state = engine.reset(7, 3)
    again = engine.reset(int(state.seeds[0, 0]))
    assert np.array_equal(state.hands, again.hands)
    assert state.start[0] == again.start[0]
    assert int(state.seeds[0, 0]) < 2**53
    assert state.seeds[0, 1] == 7


def test_deal_sizes_and_order() -> None:
    """The start seat gets the 44th card; texts in deal order give the same tables."""
    engine = Engine()
    state = engine.reset(range(20))
    for i in range(20):
        hands, start = engine.dealt_hands(i)
        assert state.sizes[i].tolist() == [44 if s == start else 43 for s in range(5)]
        assert state.start[i] == start
        injected = engine.reset_hands(hands, start)
        assert np.array_equal(injected.hands[0], state.hands[i])
        assert state.crown[i] == next(s for s in range(5) if "R*" in hands[s].split())
        order, _ = plain_deal(engine.rules.cards.codes, 5, i, 0)
        assert hands[start].split() == [CODE_TEXTS[c] for c in order[::5]]
    assert (state.hands.sum(axis=1) == 4).all()


def test_deals_are_uniform() -> None:
    """Chi-square over 40,000 fixed seeds; bounds are far out in the tail (p < 1e-6)."""
    n = 40_000
    order, start = deals.deal(SMALL, 5, np.arange(n, dtype=np.uint64), np.zeros(n, np.int64))
    seen = np.bincount(start, minlength=5)
    assert ((seen - n / 5) ** 2 / (n / 5)).sum() < 34  # 4 degrees of freedom
    size = len(SMALL)
    place = np.zeros((cards.NUM_CODES, size))
    for p in range(size):
        place[:, p] = np.bincount(order[:, p], minlength=cards.NUM_CODES)
    place = place[list(SMALL.codes)]
    assert ((place - n / size) ** 2 / (n / size)).sum() < 250  # 144 degrees of freedom
    assert (np.sort(order, axis=1) == SMALL.array).all()
    together = np.histogram2d(start, order[:, 0], bins=(5, [*SMALL.codes, 99]))[0]
    assert ((together - n / 65) ** 2 / (n / 65)).sum() < 130  # 64: the start tells nothing


def test_deals_do_not_depend_on_the_hash_seed() -> None:
    code = (
        "from lupai.envs.baohuang.engine import Engine; "
        "print(Engine().dealt_hands(7), Engine().reset([3]).hands.tobytes().hex())"
    )
    out = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True, text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }  # fmt: skip
    assert len(out) == 1


@pytest.mark.parametrize(
    "seed", [True, False, -1, 2**64, 1.5, 1.0, "7", None, [[1]], np.float64(2)]
)
def test_what_is_no_seed(seed: object) -> None:
    with pytest.raises(SeedError, match=r"0 … 2\*\*64 - 1"):
        deals.check_seed(seed)
    with pytest.raises(SeedError):
        Engine().reset(seed)
    with pytest.raises(SeedError):
        Engine().reset([0, seed])


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.uint64, int])
def test_integers_of_any_kind_are_seeds(kind: type) -> None:
    assert deals.check_seed(kind(7)) == 7
    assert Engine().reset([kind(7)]).equals(Engine().reset(7))
    assert Engine().reset(np.array([7], kind)).equals(Engine().reset(7))


def test_seed_arrays_are_not_shared() -> None:
    seeds = np.array([1, 2], np.uint64)
    state = Engine().reset(seeds)
    seeds[:] = 9
    assert state.seeds[:, 1].tolist() == [1, 2]


def test_too_large_a_deck() -> None:
    big = Deck(tuple(range(56)) * 5)
    with pytest.raises(ValueError, match="256"):
        deals.deal(big, 5, np.zeros(1, np.uint64), np.zeros(1, np.int64))
