"""No leak: what a seat cannot know is erased, or dealt anew, and not a byte of its view moves."""

import random

import numpy as np
import pytest

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Solo, State
from lupai.envs.cards import KIND_R, RANK_OF_KIND
from lupai.envs.errors import RecordError
from tests.envs.side_by_side import PRESETS, VIEWERS, Rules, hands, views, walk
from tests.oracle.random_play import small_deck


def deal_anew(state: State, viewer: int, rng: random.Random) -> State:
    """Table 0 with other cards and another secret role, as far as the viewer can tell the same.

    Kept: sizes, cards played, the shown copies, R* while its holder must have it, known roles.
    """
    new = state.take([0])
    others = [seat for seat in range(5) if seat != viewer]
    room = {seat: int(new.sizes[0, seat]) for seat in others}
    kind, emperor = int(new.identity_kind[0]), int(new.emperor[0])
    fixed: list[tuple[int, int]] = []  # (seat, kind)
    crown = int(new.crown[0])
    if crown != viewer and new.played[0, crown, KIND_R] == 0 and kind != KIND_R and room[crown]:
        fixed.append((crown, KIND_R))
    hidden = kind >= 0 and new.identity_seat[0] >= 0
    if kind >= 0 and hidden and emperor != viewer:
        fixed += [(emperor, kind)] * (3 - int(new.played[0, emperor, kind]))
    elif kind >= 0 and not hidden:
        fixed += [(seat, kind) for seat in others for _ in range(int(new.hands[0, seat, kind]))]
    for seat, _ in fixed:
        room[seat] -= 1
    if hidden and new.identity_seat[0] != viewer:
        holders = [seat for seat in others if room[seat] > 0]
        if viewer == emperor:
            assert new.solo[0] == Solo.NONE
        holder = rng.choice(holders)
        fixed.append((holder, kind))
        room[holder] -= 1
        new.identity_seat = holder
        new.guard = -1 if holder == emperor else holder
        new.solo = Solo.SECRET if holder == emperor else Solo.NONE
    pool = new.hands[0, others].sum(axis=0)
    new.hands[0, others] = 0
    for seat, card in fixed:
        new.hands[0, seat, card] += 1
        pool[card] -= 1
    assert (pool >= 0).all()
    loose = np.repeat(np.arange(54), pool).tolist()
    rng.shuffle(loose)
    for seat in others:
        for _ in range(room[seat]):
            new.hands[0, seat, loose.pop()] += 1
    assert not loose
    for seat in range(5):
        by_rank = np.bincount(RANK_OF_KIND, weights=new.hands[0, seat], minlength=15)
        new.ranks[0, seat] = by_rank
    new.seeds[:] = rng.getrandbits(63)
    return new


def same_moves(engine: Engine, one: State, other: State) -> None:
    """The acting seat has the same legal moves, to the last bit."""
    if one.over[0]:
        return
    a, b = engine.legal(one, [0]), engine.legal(other, [0])
    for name in ("words", "held", "size", "calls", "extra"):
        mine, theirs = getattr(a, name), getattr(b, name)
        if mine is None or theirs is None:
            assert mine is theirs, name
        else:
            assert mine.tobytes() == theirs.tobytes(), name
    assert engine.legal_texts(one, 0) == engine.legal_texts(other, 0)
    assert engine.explain_illegal(one, 0, 3) == engine.explain_illegal(other, 0, 3)


def leak_test(seed: int, rules: Rules, every: int = 1) -> tuple[int, int]:
    """States (one of `every`) and all seats of a hand; how many tables, roles were other ones."""
    tables = roles = 0
    for number, (party, _, rng) in enumerate(walk(seed, rules)):
        if number % every:
            continue
        engine, state = party.engine, party.state
        seen = views(engine, state)
        masked = engine.mask_hidden(state, VIEWERS, np.zeros(5, np.intp))
        assert engine.observe(masked, VIEWERS).tobytes() == seen.tobytes()
        for viewer in range(5):
            new = deal_anew(state, viewer, rng)
            assert engine.observe(new, [viewer]).tobytes() == seen[viewer].tobytes(), viewer
            again = engine.mask_hidden(new, [viewer])
            assert again.equals(masked.take([viewer])), viewer
            if viewer == state.actor[0]:
                same_moves(engine, state, new)
                same_moves(engine, state, masked.take([viewer]))
            tables += not np.array_equal(new.hands, state.hands)
            roles += new.guard[0] != state.guard[0]
    return tables, roles


@pytest.mark.parametrize("part", range(4))
def test_hidden_cards_and_roles_do_not_show(part: int) -> None:
    some = hands(48, 4)[part::4]
    moved = [leak_test(seed, rules, every=2 if "deck" in rules else 8) for seed, rules in some]
    tables, roles = np.array(moved).sum(axis=0)
    assert tables > 500, tables  # the new deals were in fact other ones
    assert roles > 50, roles


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_hidden_cards_and_roles_do_not_show_in_many_hands(seed: int) -> None:
    leak_test(seed, {"preset": "qingdao"})


def test_a_secret_call_looks_like_a_call() -> None:
    """The same table with the fourth 9c at seat 2 (guard) or at seat 0 (alone, secretly)."""
    rest = ["3s 4s 4h Ts Td", "5s 6s 7s 8s", "Js Qs Qs Qs Kh", "2s 2h 2d 2c As"]
    pair = [
        [f"R* 9c 9c 9c {own}", rest[0], f"{his} {rest[1]}", rest[2], rest[3]]
        for own, his in (("Ks", "9c"), ("9c", "Ks"))
    ]
    engine = Engine({"preset": "qingdao", "deck": " ".join(pair[0])})
    guard, alone = (engine.reset_hands(hands, 0) for hands in pair)
    assert (engine.reset_hands(pair[0], 0).sizes == 5).all()
    moves = ["decline"] * 5 + ["call 9c"] + ["silent"] * 4 + ["play 999", "pass", "pass"]
    for number, text in enumerate([*moves, "play QQQ", "play 222", *["pass"] * 4]):
        for state, move in ((guard, text), (alone, text + " secret" * text.startswith("call"))):
            engine.step(state, [engine.action_of(state, 0, move)])
        for viewer in range(5):
            same = (
                engine.observe(guard, [viewer]).tobytes()
                == engine.observe(alone, [viewer]).tobytes()
            )
            assert same == (viewer in (1, 3, 4)), (number, viewer)
    assert (guard.guard[0], alone.guard[0], alone.solo[0]) == (2, -1, Solo.SECRET)


JOKER: Rules = {"preset": "shiwei", "guard_by": "marked_small_joker"}


def some_hands(count: int, full: int, table: str) -> list[tuple[int, Rules]]:
    """Hands of a preset, or of the marked small joker."""
    if table in PRESETS:
        return hands(count, full, table)
    rng = random.Random(7)
    decks = [small_deck(rng, JOKER) for _ in range(count)]
    return [(s, JOKER) for s in range(full)] + [
        (s, {**JOKER, "deck": d}) for s, d in enumerate(decks)
    ]


@pytest.mark.parametrize("table", [*PRESETS, "joker"])
def test_what_is_erased_was_not_seen(table: str) -> None:
    """Observations and legal moves of masked tables are those of the tables, in every state."""
    for seed, rules in some_hands(8, 1, table):
        for party, _, _ in walk(seed, rules):
            engine, state = party.engine, party.state
            masked = engine.mask_hidden(state, VIEWERS, np.zeros(5, np.intp))
            assert engine.observe(masked, VIEWERS).tobytes() == views(engine, state).tobytes()
            again = engine.mask_hidden(masked, VIEWERS)
            assert again.equals(masked)
            for viewer in range(5):
                own = masked.take([viewer])
                others = [seat for seat in range(5) if seat != viewer]
                assert not own.hands[0, others].any()
                assert not own.ranks[0, others].any()
                assert not own.seeds.any()
                if viewer == state.actor[0]:
                    same_moves(engine, state, own)


@pytest.mark.parametrize("table", [*PRESETS, "joker"])
def test_filling_in_the_truth_gives_the_state_back(table: str) -> None:
    """mask_hidden, then fill_hidden with the true hands, is the same table but for its seed."""
    for seed, rules in some_hands(20 if table == "qingdao" else 10, 1, table):
        for party, _, _ in walk(seed, rules):
            state = party.state
            masked = party.engine.mask_hidden(state, VIEWERS, np.zeros(5, np.intp))
            true = np.repeat(state.hands, 5, axis=0)
            marked = np.repeat(state.marked_b, 5)
            full = party.engine.fill_hidden(masked, VIEWERS, true, marked)
            expected = state.take([0] * 5)
            expected.seeds[:] = 0
            assert full.equals(expected)


def test_guesses_that_contradict_the_table_are_refused() -> None:
    engine = Engine()
    state = engine.reset([3])
    masked = engine.mask_hidden(state, [1])
    kinds = [int(np.flatnonzero(state.hands[0, seat])[0]) for seat in range(5)]
    for changes, message in (
        ([(1, kinds[1], -1), (2, kinds[1], 1)], "own hand differs"),
        ([(0, kinds[0], -1)], "wrong hand size of seat 0"),
        ([(0, kinds[0], -1), (2, kinds[0], 1)], "wrong hand size of seat 0"),
        ([(0, kinds[0], -1), (0, kinds[0] + 1, 1)], "wrong number of copies"),
        ([(4, KIND_R, -9), (4, kinds[4], 9)], "negative count in the hand of seat 4"),
    ):
        guess = state.hands.copy()
        for seat, kind, change in changes:
            guess[0, seat, kind] += change
        with pytest.raises(RecordError, match=message):
            engine.fill_hidden(masked, [1], guess)
    with pytest.raises(RecordError, match="expected"):
        engine.fill_hidden(masked, [1], state.hands[0])
