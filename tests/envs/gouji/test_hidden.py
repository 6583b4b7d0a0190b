"""No leak in Gouji: what a seat cannot know is erased, or dealt anew, and not a byte of its view
moves."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pytest

from lupai.envs.cards import KIND_B, KIND_R, count_ranks
from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.legal import Legal
from lupai.envs.gouji.state import Phase, State
from lupai.envs.view import View
from tests.envs.gouji.side_by_side import Party, engine_deal, played_hand, stacked_deal
from tests.oracle_gouji.options import Options

VIEWERS = np.arange(6)
SPECTATOR = -1
OPTIONS = (Options(), Options(tribute=True), Options(burn_fail="last_place", end="last_player"))


def states(seed: int, every: int) -> Iterator[tuple[Engine, State, random.Random]]:
    """Some states of a random hand, all of those before play, and the last."""
    rng = random.Random(seed)
    options = OPTIONS[seed % 3]
    deal = stacked_deal(options, rng) if seed % 2 else engine_deal(options, seed)
    party = Party([deal], [played_hand(deal, rng, Counter())])
    while party.open:
        if party.state.phase[0] < Phase.PLAY or rng.randrange(every) == 0:
            yield party.engine, party.state, rng
        party.move([0])
    yield party.engine, party.state, rng


def deal_anew(state: State, viewer: int, rng: random.Random) -> State:
    """Table 0 with other cards in the other hands, other answers to a running poll, another seed.

    Kept: sizes, and cards that were seen to come to a seat and were not played.
    """
    new = state.take([0])
    others = [seat for seat in range(6) if seat != viewer]
    known = np.maximum(new.shown[0] - new.played[0], 0)
    loose = np.repeat(np.arange(54), (new.hands[0] - known)[others].sum(axis=0)).tolist()
    rng.shuffle(loose)
    for seat in others:
        new.hands[0, seat] = known[seat]
        for _ in range(int(new.sizes[0, seat]) - int(known[seat].sum())):
            new.hands[0, seat, loose.pop()] += 1
    assert not loose
    new.ranks[0] = count_ranks(new.hands[0])
    if new.phase[0] == Phase.REVOLT:
        asked = {int(new.actor[0]), *(int(new.queue[0]) >> 3 * i & 7 for i in range(6))}
        hidden = [seat for seat in others if seat not in asked]
        own = int(new.revolts[0]) & ~sum(1 << seat for seat in hidden)
        new.revolts = own | sum(1 << seat for seat in hidden if rng.random() < 0.5)
    new.seeds[:] = rng.getrandbits(63)
    return new


def same_moves(engine: Engine, one: State, other: State) -> None:
    """The acting seat has the same legal moves, to the last bit."""
    a, b = engine.legal(one, [0]), engine.legal(other, [0])
    for field in fields(Legal):
        mine, theirs = getattr(a, field.name), getattr(b, field.name)
        if mine is None or theirs is None:
            assert mine is theirs, field.name
        else:
            assert mine.tobytes() == theirs.tobytes(), field.name
    assert a.ids()[0].tobytes() == b.ids()[0].tobytes()
    assert engine.explain_illegal(one, 0, 9) == engine.explain_illegal(other, 0, 9)


def check(engine: Engine, state: State, rng: random.Random) -> int:
    """All seats and a spectator; how many new deals were in fact other ones."""
    at = np.zeros(6, np.intp)
    seen = engine.observe(state, VIEWERS, at)
    masked = engine.mask_hidden(state, VIEWERS, at)
    assert engine.observe(masked, VIEWERS).tobytes() == seen.tobytes()
    assert engine.mask_hidden(masked, VIEWERS).equals(masked)
    other = 0
    for viewer in (SPECTATOR, *range(6)):
        own = engine.mask_hidden(state, viewer)
        hidden = [seat for seat in range(6) if seat != viewer]
        assert not own.hands[0, hidden].any()
        assert not own.ranks[0, hidden].any()
        assert not own.seeds.any()
        new = deal_anew(state, viewer, rng)
        assert engine.mask_hidden(new, viewer).equals(own), viewer
        assert str(View.of(engine, new, viewer)) == str(View.of(engine, state, viewer))
        if viewer != SPECTATOR:
            assert engine.observe(new, viewer).tobytes() == seen[viewer].tobytes(), viewer
        if viewer == state.actor[0] != SPECTATOR:
            same_moves(engine, state, new)
            same_moves(engine, state, own)
        other += not np.array_equal(new.hands, state.hands)
    return other


def test_hidden_cards_and_answers_do_not_show() -> None:
    phases: Counter[int] = Counter()
    other = 0
    for seed in range(9):
        for engine, state, rng in states(seed, every=20):
            other += check(engine, state, rng)
            phases[int(state.phase[0])] += 1
    assert other > 500
    assert all(phases[phase] >= 2 for phase in Phase), phases


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_hidden_cards_do_not_show_in_many_hands(seed: int) -> None:
    for engine, state, rng in states(seed, every=2):
        check(engine, state, rng)


def test_the_viewers_own_answer_stays() -> None:
    """Of a running poll a seat knows its own answer, and a spectator none."""
    engine = Engine()
    state = poor_table(engine)
    revolt, silent = (engine.action_of(state, 0, word) for word in ("revolt", "silent"))
    while "revolt" not in engine.legal_texts(state, 0):
        engine.step(state, [silent])
    seat = int(state.actor[0])
    assert engine.record_move(state, 0, revolt)[:2] == ("revolt", "silent")
    engine.step(state, [revolt])
    assert state.phase[0] == Phase.REVOLT
    section = engine.observation_layout.slices["own_revolt"]
    for viewer in range(6):
        masked = engine.mask_hidden(state, viewer)
        assert masked.revolts[0] == (1 << seat if viewer == seat else 0)
        assert engine.observe(state, viewer)[0, section] == (viewer == seat)
    assert engine.mask_hidden(state, SPECTATOR).revolts[0] == 0
    # all have answered: everybody knows
    while state.phase[0] == Phase.REVOLT:
        engine.step(state, [silent])
    assert engine.mask_hidden(state, SPECTATOR).revolter[0] == seat
    assert [seat, revolt] in state.recent[0].tolist()


def poor_table(engine: Engine) -> State:
    """A deal in which one seat, but for the last that is asked, may revolt."""
    for seed in range(100):
        rng = random.Random(seed)
        deal = stacked_deal(Options(), rng)
        state = engine.reset_hands(deal.texts, deal.start)
        poor = [s for s in range(6) if not state.ranks[0, s, 12:].any()]
        if len(poor) == 1 and poor[0] != (state.first_leader[0] + 5) % 6:
            return state
    raise AssertionError("no such deal")


# ---- filling in


@pytest.mark.parametrize("seed", range(6))
def test_filling_in_the_truth_gives_the_state_back(seed: int) -> None:
    """mask_hidden, then fill_hidden with the true hands, is the same table but for its seed and for
    the answers to a running poll."""
    for engine, state, _ in states(seed, every=4):
        seats = np.array([SPECTATOR, *range(6)])
        masked = engine.mask_hidden(state, seats, np.zeros(7, np.intp))
        full = engine.fill_hidden(masked, seats, np.repeat(state.hands, 7, axis=0))
        expected = state.take([0] * 7)
        expected.seeds[:] = 0
        expected.revolts = masked.revolts
        assert full.equals(expected)


def test_guesses_that_contradict_the_table_are_refused() -> None:
    engine = Engine()
    state = engine.reset([3])
    leader, suit = int(state.first_leader[0]), int(state.threes_suit[0])
    assert suit >= 0
    viewer, a, b = [seat for seat in range(6) if seat != leader][:3]
    masked = engine.mask_hidden(state, viewer)
    kind = {seat: int(np.flatnonzero(state.hands[0, seat, 4:])[0]) + 4 for seat in range(6)}
    cases: list[tuple[list[tuple[int, int, int]], str]] = [
        ([(viewer, kind[viewer], -1), (a, kind[viewer], 1)], f"own hand differs .* {viewer}"),
        ([(a, kind[a], -1)], f"wrong hand size of seat {a}"),
        ([(a, kind[a], -1), (b, kind[a], 1)], "wrong hand size of seat"),
        ([(a, kind[a], -1), (a, kind[a] + 1, 1)], "wrong number of copies"),
        ([(a, KIND_R, -9), (a, kind[a], 9)], f"negative count in the hand of seat {a}"),
        (
            [(leader, suit, -1), (a, suit, 1), (a, kind[a], -1), (leader, kind[a], 1)],
            f"a card that was shown is not with seat {leader}",
        ),
    ]
    for changes, message in cases:
        guess = state.hands.copy()
        for seat, card, change in changes:
            guess[0, seat, card] += change
        with pytest.raises(RecordError, match=message):
            engine.fill_hidden(masked, viewer, guess)
    with pytest.raises(RecordError, match="expected"):
        engine.fill_hidden(masked, viewer, state.hands[0])
    with pytest.raises(LupaiError, match="no marked joker"):
        engine.fill_hidden(masked, viewer, state.hands, [0])


def test_a_revolter_laid_down_no_joker() -> None:
    """Who revolted holds no R, B and 2: a guess that gives him one is refused."""
    engine = Engine()
    state = poor_table(engine)
    while state.phase[0] == Phase.REVOLT:
        texts = engine.legal_texts(state, 0)
        move = "revolt" if "revolt" in texts else "silent"
        engine.step(state, [engine.action_of(state, 0, move)])
    revolter = int(state.revolter[0])
    holder = next(s for s in range(6) if state.hands[0, s, KIND_B])
    viewer = next(s for s in range(6) if s not in (revolter, holder))
    guess = state.hands.copy()
    card = next(int(k) for k in np.flatnonzero(guess[0, revolter]) if k > 3)
    guess[0, revolter, card] -= 1
    guess[0, holder, card] += 1
    guess[0, holder, KIND_B] -= 1
    guess[0, revolter, KIND_B] += 1
    masked = engine.mask_hidden(state, viewer)
    with pytest.raises(RecordError, match=f"a rank that it does not hold is with seat {revolter}"):
        engine.fill_hidden(masked, viewer, guess)


def test_worlds_are_refused_in_words() -> None:
    """It was an error without any."""
    engine = Engine()
    view = View.of(engine, engine.reset([7]), 0)
    with pytest.raises(LupaiError, match="not drawn in gouji"):
        view.determinize(2, np.random.default_rng(0))
