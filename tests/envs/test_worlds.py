"""Worlds that a seat can imagine: which ones there are, how often each comes, and no leak."""

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs.baohuang import counted, drawing
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.plans import Plan
from lupai.envs.baohuang.state import Phase, Said, State
from lupai.envs.errors import LupaiError
from lupai.envs.view import View, Views
from tests.envs.redeal import Story
from tests.envs.side_by_side import PRESETS, Party, counts_of, views, walk
from tests.envs.test_hidden import JOKER, deal_anew, some_hands
from tests.envs.worlds_by_hand import Family, Guess, position
from tests.oracle.random_play import random_rules

CEDE = {"grab": 0.0, "decline": 1.0, "cede": 1.0}
CALL = {"grab": 0.0, "cede": 0.2, "declare": 0.1}
QUIET = {"solo": 0.0, "decline": 1.0, "grab": 0.0, "declare": 0.0, "oppose": 0.3, "abandon": 0.0}
FAMILIES = {
    "call": Family({"preset": "qingdao"}, CALL, (14, 16), True, "declare", 9),
    "forced": Family({"preset": "qingdao"}, CEDE, (13, 15), True, "forced_call", 3),
    "tribute": Family({"preset": "shiwei"}, CEDE, (15, 16), False, "call", 9),
    "tribute forced": Family(
        {"preset": "shiwei", "grab": False}, CEDE, (15, 17), True, "forced_call", 2
    ),
    "camp out": Family(
        {"preset": "qingdao", "end": "camp_out", "guard_card": "supreme"},
        {"grab": 0.0, "cede": 0.1, "declare": 0.0},
        (15, 20),
        outs=3,
    ),
    "marks": Family({"preset": "weihai"}, {}, (10, 12), False, "solo", 12),
    "decided": Family({"preset": "weihai"}, QUIET, (12, 18), outs=1),
    "joker": Family(JOKER, {}, (10, 12), False, "grab", 12),
    "joker decided": Family({**JOKER, "end": "decided"}, QUIET, (12, 18), outs=1),
}


def key(hands: np.ndarray, marked: int) -> bytes:
    return hands.tobytes() + bytes([marked + 1])


def check_worlds(party: Party, viewer: int, guesses: list[Guess], seed: int) -> float:
    """Compare what is drawn with all that could be; returns how unlikely the counts are, as z."""
    engine, state = party.engine, party.state
    marks = engine.rules.needs_marked_b
    hands = np.array([[counts_of(hand) for hand in guess.hands] for guess in guesses])
    marked = np.array([guess.marked for guess in guesses])
    weight = np.array([guess.weight for guess in guesses], float)
    good = engine.consistent(
        state.take([0] * len(guesses)), viewer, hands, marked if marks else None
    )
    assert np.array_equal(good, weight > 0), np.flatnonzero(good != (weight > 0))

    possible = np.flatnonzero(weight)
    chance = weight[possible] / weight.sum()
    check_chances(engine, state, viewer, hands[possible], marked[possible], chance)
    number = {key(hands[i], marked[i]): place for place, i in enumerate(possible)}
    n = int(min(60_000, max(500, 25 / chance.min())))
    worlds = engine.determinize(state, viewer, n, np.random.default_rng(seed))
    drawn = [key(worlds.hands[i], worlds.marked_b[i] if marks else -1) for i in range(n)]
    seen = np.bincount([number[one] for one in drawn], minlength=len(chance))
    assert (seen[chance * n > 24] > 0).all()

    expected = chance * n
    rare = expected < 5
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    seen, expected = seen[expected > 0], expected[expected > 0]
    k = len(seen) - 1
    if k == 0:
        return 0.0
    chi = ((seen - expected) ** 2 / expected).sum()
    # Wilson and Hilferty: the cube root of chi²/k is nearly normal
    return float(((chi / k) ** (1 / 3) - (1 - 2 / (9 * k))) / (2 / (9 * k)) ** 0.5)


def check_chances(
    engine: Engine, state: State, viewer: int, hands: np.ndarray, marked: np.ndarray,
    chance: np.ndarray,
) -> None:  # fmt: skip
    """The chance of each seat to be guard is the sum over all the worlds."""
    told = engine.guard_chances(state, viewer)[0]
    if state.emperor[0] < 0:
        assert not told.any()
        return
    looks = engine.mask_hidden(state.take([0] * len(hands)), viewer)
    worlds = engine.fill_hidden(looks, viewer, hands, marked)
    guard = np.where(worlds.guard < 0, 5, worlds.guard)
    true = np.bincount(guard, weights=chance, minlength=6)
    assert np.abs(told - true).max() < 1e-12, (told, true)


def proofs(state: State, story: Story, viewer: int, guesses: list[Guess]) -> list[str]:
    """Names of the evidence that a position has, where it refuses anything."""
    hand = story.hand
    if all(guess.weight for guess in guesses):
        return []
    found = [f"phase {hand.phase}", "spectator" if viewer < 0 else "seat"]
    said = [[(int(bits) >> what) & 1 for what in range(len(Said))] for bits in state.said[0]]
    hidden = [seat for seat in range(5) if seat != viewer and hand.hands[seat]]
    secret = hand.emperor is not None and hand.identity is not None and not hand.role_public
    for seat in hidden:
        found += ["skipped"] * said[seat][Said.SKIPPED_FORCED_CALL]
        found += ["opposed"] * (said[seat][Said.OPPOSE] and secret)
        found += ["gave up"] * (said[seat][Said.ABANDON] and secret)
        if hand.options["tribute_on_cede"] and said[seat][Said.CEDE] and seat != hand.first_holder:
            found.append("added" if state.added[0, seat] >= 0 else "had nothing to add")
    if said[hand.crown][Said.CEDE] and hand.crown in hidden:
        found.append("asked in a forced call")
        four = any(g.weight and hand.called and g.hands[hand.crown][hand.called] == 4
                   for g in guesses)  # fmt: skip
        found += ["four in a forced call"] * four
    if secret and hand.finish and hand.options["end"] != "last_player":
        found.append(f"{hand.options['end']}: {hand.phase} goes on")
    if hand.role_public and hand.called:
        found.append("public call")
    if hand.role_public and hand.identity == "B":
        found.append("public mark")
    if hand.identity is None and state.marked_b[0] >= 0 and hand.emperor is not None:
        found.append("lost mark")
    if hand.called in ("B", "R"):
        found.append(f"called {hand.called}")
    if hand.called and secret and hand.emperor in hidden:
        found.append("guard or secret solo")
    return found


def try_all(family: Family, seeds: range, limit: int) -> tuple[Counter[str], list[float]]:
    """Positions of a family, each compared; names of their evidence, and the z of each."""
    seen: Counter[str] = Counter()
    unlikely = []
    for seed in seeds:
        rng = random.Random(seed)
        viewer = seed % 7 - 1 if seed % 7 < 6 else 0
        found = position(family, rng, viewer, limit)
        if found is not None:
            party, story, guesses = found
            unlikely.append(check_worlds(party, viewer, guesses, seed))
            seen.update(set(proofs(party.state, story, viewer, guesses)))
    return seen, unlikely


# hands to look at, guesses to try at most, and the evidence that is met
SOME = {
    "call": (16, 500, {"guard or secret solo", "public call", "called R"}),
    "forced": (14, 300, {"skipped", "asked in a forced call", "guard or secret solo"}),
    "tribute": (10, 300, {"added", "skipped", "spectator"}),
    "tribute forced": (14, 300, {"added", "had nothing to add", "asked in a forced call"}),
    "camp out": (40, 300, {"camp_out: play goes on", "camp_out: over goes on"}),
    "marks": (14, 300, {"public mark", "lost mark", "phase solo"}),
    "decided": (14, 300, {"decided: play goes on", "opposed"}),
    "joker": (14, 300, {"public mark", "lost mark", "phase grab"}),
    "joker decided": (6, 300, {"decided: play goes on"}),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_worlds_are_all_that_the_record_allows_and_equally_likely(family: str) -> None:
    """Every way to lay the cards is tried out by the oracle; the draws agree with the counts."""
    hands, limit, evidence = SOME[family]
    seen, unlikely = try_all(FAMILIES[family], range(hands), limit)
    assert max(unlikely) < 4.5
    assert evidence <= set(seen), seen


TIED = [name for name in FAMILIES if "forced" in name or "tribute" in name]  # kinds are not alone


@pytest.fixture
def by_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw by the number of ways from the first world on."""
    monkeypatch.setattr(drawing, "PATIENCE", 0)
    monkeypatch.setattr(counted, "OPERATIONS_PER_DRAW", np.inf)
    monkeypatch.setattr(counted, "COUNTED_DRAW", 0)


@pytest.fixture
def by_part(by_count: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, with as little of a forced call counted as there can be."""
    whole = counted.Counted.__init__

    def part(self: counted.Counted, plan: Plan, table: int) -> None:
        whole(self, plan, table)
        for count in self.counts[:-1]:
            count.kept = np.inf

    monkeypatch.setattr(counted.Counted, "__init__", part)


@pytest.mark.parametrize("how", ["by_count", "by_part"])
@pytest.mark.parametrize("family", TIED)
def test_worlds_drawn_by_the_number_of_ways_are_equally_likely(
    family: str, how: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(how)
    hands, limit, _ = SOME[family]
    _, unlikely = try_all(FAMILIES[family], range(100, 100 + hands), limit)
    assert max(unlikely) < 4.5


@pytest.mark.soak
@pytest.mark.usefixtures("by_count")
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("family", TIED)
def test_many_worlds_drawn_by_the_number_of_ways(family: str, part: int) -> None:
    test_many_worlds_are_all_that_the_record_allows(family, part)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("family", FAMILIES)
def test_many_worlds_are_all_that_the_record_allows(family: str, part: int) -> None:
    _, unlikely = try_all(FAMILIES[family], range(1000 + part * 20, 1020 + part * 20), 2500)
    assert max(unlikely) < 5
    assert abs(np.mean(unlikely)) < 5 / len(unlikely) ** 0.5


# ---- what holds in every position


def check_position(engine: Engine, state: State, seed: int, n: int = 2) -> None:
    """Worlds of all viewers: they look alike, pass every check, and the truth is one of them."""
    marks = engine.rules.needs_marked_b
    truth = state.take([0] * 6)
    viewers = np.arange(-1, 5)
    masked = engine.mask_hidden(truth, viewers)
    worlds = engine.determinize(truth, viewers, n, np.random.default_rng(seed))
    again = engine.determinize(masked, viewers, n, np.random.default_rng(seed))
    assert worlds.equals(again)
    assert not worlds.seeds.any()
    assert (worlds.injected == 1).all()
    whose = np.repeat(viewers, n)
    looks = engine.mask_hidden(worlds, whose)
    looks.injected = state.injected[0]
    assert looks.equals(masked.take(np.repeat(np.arange(6), n)))
    filled = engine.fill_hidden(looks, whose, worlds.hands, worlds.marked_b)
    filled.injected = 1
    assert filled.equals(worlds)
    guess = worlds.marked_b if marks else None
    assert engine.consistent(looks, whose, worlds.hands, guess).all()
    assert engine.consistent(truth, viewers, truth.hands, truth.marked_b if marks else None).all()
    seats = whose[n:]
    seen = engine.observe(worlds, seats, np.arange(n, 6 * n))
    assert seen.tobytes() == np.repeat(views(engine, state), n, axis=0).tobytes()
    if not state.over[0]:
        mine = np.flatnonzero(whose == state.actor[0])
        legal = engine.legal(state, [0]).ids()[0]
        for one in mine:
            assert np.array_equal(engine.legal(worlds, [one]).ids()[0], legal)


def all_rules(count: int) -> list[tuple[int, dict]]:
    """Hands of the presets and of random options."""
    return [(s, {"preset": p}) for s, p in enumerate(PRESETS)] + [
        (seed, random_rules(random.Random(seed), named_deck=0.05)) for seed in range(count)
    ]


@pytest.mark.parametrize("part", range(3))
def test_worlds_look_like_the_table_and_the_truth_is_one(part: int) -> None:
    for seed, rules in all_rules(60)[part::3]:
        for number, (party, _, _) in enumerate(walk(seed, rules)):
            if number % (16 if "deck" in rules else 60) == seed % 5:
                check_position(party.engine, party.state, number)


@pytest.mark.usefixtures("by_count")
@pytest.mark.parametrize("family", TIED)
def test_worlds_drawn_by_the_number_of_ways_look_like_the_table(family: str) -> None:
    for seed in range(5):
        party, _, _ = position(FAMILIES[family], random.Random(seed), 1, 100_000)
        check_position(party.engine, party.state, seed, n=3)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_worlds_look_like_the_table_in_many_hands(part: int) -> None:
    for seed in range(500 + part * 10, 510 + part * 10):
        rules = random_rules(random.Random(seed))
        for number, (party, _, _) in enumerate(walk(seed, rules)):
            check_position(party.engine, party.state, number)


@pytest.mark.parametrize("table", [*PRESETS, "joker"])
def test_worlds_can_be_played_to_the_end(table: str) -> None:
    for seed, rules in some_hands(6, 1, table):
        rare = 25 if "deck" in rules else 200
        states = []
        for number, (party, _, _) in enumerate(walk(seed, rules)):
            if number % rare == 5:
                states.append(party.state.take([0]))
        engine, rng = party.engine, np.random.default_rng(seed)
        tables = State(len(states))
        for row, state in enumerate(states):
            tables.put([row], state)
        worlds = engine.determinize(tables, np.arange(len(states)) % 6 - 1, 2, rng)
        while not worlds.over.all():
            open_ = np.flatnonzero(~worlds.over)
            ids, offsets = engine.legal(worlds, open_).ids()
            engine.step(worlds, ids[rng.integers(offsets[:-1], offsets[1:])], open_)
        assert (engine.scores(worlds).sum(axis=1) == 0).all()
        together = worlds.hands.sum(axis=1) + worlds.played.sum(axis=1)
        assert (together == engine.rules.cards.counts).all()


# ---- no leak, and whose randomness it is


def test_worlds_do_not_depend_on_what_is_hidden() -> None:
    """The hidden cards dealt anew, and the secret role with them: the same worlds, byte by byte."""
    moved = 0
    for seed, rules in some_hands(10, 1, "qingdao"):
        for number, (party, _, rng) in enumerate(walk(seed, rules)):
            if number % 10:
                continue
            engine, state = party.engine, party.state
            for viewer in range(5):
                other = deal_anew(state, viewer, rng)
                one, two = (
                    engine.determinize(table, viewer, 3, np.random.default_rng(number))
                    for table in (state, other)
                )
                assert one.equals(two)
                moved += not np.array_equal(other.hands, state.hands)
    assert moved > 100


@pytest.mark.parametrize("name", ["tribute forced", "marks", "joker"])
def test_worlds_of_worlds_are_the_same(name: str) -> None:
    """Every world that can be drawn is one from which the same are drawn, evidence and all."""
    for seed in range(4):
        party = position(FAMILIES[name], random.Random(seed), 1, 100_000)[0]
        engine, state = party.engine, party.state
        worlds = engine.determinize(state, 1, 5, np.random.default_rng(1))
        state.injected = 1
        expected = engine.determinize(state, 1, 7, np.random.default_rng(2))
        for row in range(5):
            drawn = engine.determinize(worlds, 1, 7, np.random.default_rng(2), [row])
            assert drawn.equals(expected)


def test_worlds_follow_the_generator() -> None:
    engine = Engine()
    state = engine.reset(range(6))

    def draw(seed: int) -> State:
        return engine.determinize(state, [0, 1, 2, 3, 4, -1], 5, np.random.default_rng(seed))

    assert draw(1).equals(draw(1))
    assert not np.array_equal(draw(1).hands, draw(2).hands)
    assert len({hands.tobytes() for hands in draw(1).hands}) == 30


def test_a_spectator_is_shown_no_hand() -> None:
    for table in [*PRESETS, "joker"]:
        for seed, rules in some_hands(4, 0, table):
            for party, _, _ in walk(seed, rules):
                engine, state = party.engine, party.state
                masked = engine.mask_hidden(state, -1)
                assert not masked.hands.any()
                assert not masked.ranks.any()
                assert engine.mask_hidden(masked, -1).equals(masked)
                if not state.public[0]:  # the secret role is not told either
                    for name in ("guard", "solo", "identity_seat", "marked_b"):
                        assert getattr(masked, name)[0] in (-1, 0), name
                    assert masked.guard[0] == masked.identity_seat[0] == -1


# ---- how it is called


def test_copies_and_worlds_of_a_table_stand_in_a_row() -> None:
    engine = Engine("weihai")
    state = engine.reset(range(4))
    copies = engine.copy_tables(state, 3, [2, 0])
    assert copies.equals(state.take([2, 2, 2, 0, 0, 0]))
    copies.hands[:] = 0
    assert state.hands.any()
    assert engine.copy_tables(state, 2).equals(state.take([0, 0, 1, 1, 2, 2, 3, 3]))

    worlds = engine.determinize(state, [4, 1], 3, np.random.default_rng(0), [2, 0])
    for row, (table, seat) in enumerate([(2, 4)] * 3 + [(0, 1)] * 3):
        assert np.array_equal(worlds.hands[row, seat], state.hands[table, seat])
        assert worlds.start[row] == state.start[table]
    many = Views(engine, state, [4, 1], [2, 0]).determinize(3, np.random.default_rng(0))
    assert many.equals(worlds)
    view = View.of(engine, state.take([2]), 4)
    assert view.determinize(2, np.random.default_rng(5)).equals(
        engine.determinize(state, 4, 2, np.random.default_rng(5), [2])
    )


def test_wrong_arguments_are_named() -> None:
    engine = Engine()
    state = engine.reset([1])
    rng = np.random.default_rng(0)
    for n in (0, -1, 2.0, True):
        with pytest.raises(ValueError, match="number of worlds"):
            engine.determinize(state, 0, n, rng)
    for seat in (-2, 5):
        with pytest.raises(ValueError, match="seats are -1"):
            engine.determinize(state, seat, 1, rng)
    with pytest.raises(ValueError, match="seats are 0"):
        engine.observe(state, -1)


def test_a_record_that_contradicts_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    rng = np.random.default_rng(0)
    state = engine.reset([1, 2])
    state.sizes[1, 0] += 1
    with pytest.raises(LupaiError, match="table 1: hand sizes"):
        engine.determinize(state, 3, 1, rng)
    state = all_skipped(engine)
    state.played[0, 0, 0] = 3  # who was skipped, and nobody else has any of this kind
    state.sizes[0, 0] -= 3
    state.hands[0, 3, 14] += state.hands[0, 3, 0] - 1
    state.hands[0, 3, 0] = 1
    for ask in (
        lambda: engine.determinize(state, 3, 1, rng),
        lambda: engine.guard_chances(state, 3),
    ):
        with pytest.raises(LupaiError, match="table 0: no deal agrees with the forced call"):
            ask()
        state.emperor[0], state.identity_kind[0], state.crown[0] = 2, 20, 2
        state.shown[0, 20] = 3
    monkeypatch.setattr(counted, "MOST_KEPT", 0)
    monkeypatch.setattr(drawing, "MAX_DRAWS", 5000)
    too_much = r"table 0: too much .* none of \d+ random worlds agrees with the forced call"
    with pytest.raises(LupaiError, match=too_much):
        engine.determinize(state, 3, 1, rng)
    monkeypatch.setattr("lupai.envs.baohuang.worlds.MOST_OPERATIONS", 0)
    with pytest.raises(LupaiError, match="too much to count or draw for seat 3 after 5 skips"):
        engine.guard_chances(state, 3)


def all_skipped(engine: Engine) -> State:
    """A table where everybody was skipped in a forced call, though seat 3 has many triples."""
    state = engine.reset([1])
    while state.phase[0] < Phase.CALL:
        engine.step(state, [engine.action_of(state, 0, "decline")])
    state.said[0] |= 1 << Said.SKIPPED_FORCED_CALL
    state.hands[0, 3] = 0
    state.hands[0, 3, :14] = 3
    state.hands[0, 3, 14] = state.sizes[0, 3] - 42
    return state


def test_evidence_that_random_draws_do_not_meet_is_met_by_counting() -> None:
    engine = Engine()
    state = all_skipped(engine)
    worlds = engine.determinize(state, 3, 40, np.random.default_rng(0))
    others = np.delete(worlds.hands, 3, axis=1)
    assert ((others == 3).sum(axis=(1, 2)) <= 1).all()  # R* counts in the forced call
