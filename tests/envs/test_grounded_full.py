"""Chances of who is guard with full decks: beside drawn worlds, and beside what turns out."""

from functools import cache

import numpy as np
import pytest

from lupai.envs.baohuang import counted, dealing, drawing, evidence, laying, plans, worlds
from lupai.envs.baohuang.actions import CALL, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import SEATS, Phase, Said, State
from lupai.envs.cards import NUM_KINDS
from lupai.envs.seats import NOBODY

ALONE = SEATS  # the place of "nobody is guard" in an answer
QUIET = [VERB_ID[word] for word in ("decline", "keep", "silent", "cede")]


def bid(engine: Engine, state: State, rng: np.random.Generator, cede: float = 0.0) -> None:
    """All hands to the first lead: nobody grabs or declares; who is asked for a call calls a kind
    at random (solo in secret), but cedes by chance, and where he has none."""
    while (open_ := np.flatnonzero(state.phase < Phase.PLAY)).size:
        ids, offsets = engine.legal(state, open_).ids()
        actions = np.empty(len(open_), np.int64)
        for i, table in enumerate(open_):
            legal = ids[offsets[i] : offsets[i + 1]]
            calls = legal[(legal >= CALL) & (legal < CALL + 3 * NUM_KINDS)]
            forced = state.phase[table] == Phase.FORCED_CALL
            actions[i] = next((word for word in QUIET if word in legal), NOBODY)
            if calls.size and (forced or rng.random() >= cede):
                kinds = (calls - CALL) % NUM_KINDS
                actions[i] = calls[kinds == rng.choice(np.unique(kinds))].max()
        engine.step(state, actions, open_)


def play(engine: Engine, state: State, moves: int, rng: np.random.Generator) -> None:
    """So many random moves at each table; those that end stay."""
    for _ in range(moves):
        open_ = np.flatnonzero(~state.over)
        ids, offsets = engine.legal(state, open_).ids()
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], open_)


@cache
def ceded(preset: str, moves: int) -> tuple[Engine, State]:
    """Hands in which all or most ceded, so many moves after the first lead."""
    engine, rng = Engine(preset), np.random.default_rng(moves)
    state = engine.reset(range(100))
    bid(engine, state, rng, cede=0.97)
    play(engine, state, moves, rng)
    return engine, state


def guards(state: State) -> np.ndarray:
    """Who is guard at each table, or that nobody is."""
    return np.where(state.guard < 0, ALONE, state.guard)


def errors(told: np.ndarray, seen: np.ndarray) -> list[float]:
    """Of numbers of worlds ``[6]``, in standard errors; what is certain has to be so."""
    n = seen.sum()
    sure = (told == 0) | (told == 1)
    assert (seen[sure] == told[sure] * n).all()
    error = np.sqrt(n * told * (1 - told))[~sure]
    return ((seen[~sure] - n * told[~sure]) / error).tolist()


@pytest.mark.parametrize("by_count", [False, True])
@pytest.mark.parametrize("moves", [0, 12])
@pytest.mark.parametrize("preset", ["qingdao", "shiwei"])
def test_chances_with_full_decks_are_the_shares_of_many_worlds(
    preset: str, moves: int, by_count: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worlds that are drawn until they fit, and worlds that are drawn by the number of ways."""
    if by_count:
        monkeypatch.setattr(drawing, "PATIENCE", 0)
        monkeypatch.setattr(counted, "COUNTED_DRAW", 0)
        monkeypatch.setattr(counted, "OPERATIONS_PER_DRAW", np.inf)
    else:
        monkeypatch.setattr(drawing, "PATIENCE", np.inf)
    engine, state = ceded(preset, moves)
    n, unlikely = 1500, []
    skipped = (state.said >> Said.SKIPPED_FORCED_CALL & 1).sum(axis=1)
    some = [t for t in np.argsort(-skipped, kind="stable") if state.public[t] == 0][:6]
    for table in some:
        rebels = set(range(SEATS)) - {state.emperor[table], state.guard[table]}
        viewer = int(min(rebels))
        told = engine.guard_chances(state, viewer, [table])[0]
        drawn = engine.determinize(state, viewer, n, np.random.default_rng(table), [table])
        unlikely += errors(told, np.bincount(guards(drawn), minlength=SEATS + 1))
    assert skipped[some].max() >= 1
    assert len(unlikely) >= 12
    assert max(map(abs, unlikely)) < 4
    assert 0.5 < np.std(unlikely) < 1.5


@pytest.mark.parametrize("preset", ["qingdao", "shiwei"])
def test_chances_of_a_spectator_are_the_shares_of_many_worlds(preset: str) -> None:
    engine, state = ceded(preset, 0)
    skipped = (state.said >> Said.SKIPPED_FORCED_CALL & 1).sum(axis=1)
    hidden = (state.public == 0) & (state.crown == state.emperor)
    some = [np.flatnonzero(hidden & (skipped == skips))[:2] for skips in (0, 1)]
    unlikely = []
    for table in np.concatenate(some):
        told = engine.guard_chances(state, NOBODY, [table])[0]
        drawn = engine.determinize(state, NOBODY, 1500, np.random.default_rng(table), [table])
        unlikely += errors(told, np.bincount(guards(drawn), minlength=SEATS + 1))
    assert skipped[np.concatenate(some)].max() == 1
    assert len(unlikely) >= 12
    assert max(map(abs, unlikely)) < 4


def test_chances_of_a_sample_are_those_of_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if counting took too much, wherever evidence ties cards together."""
    engine, state = ceded("shiwei", 12)
    some = np.flatnonzero((state.public == 0) & (state.added >= 0).any(axis=1))[:8]
    viewer = (state.emperor[some] + 1) % SEATS
    exact = engine.guard_chances(state, viewer, some)
    monkeypatch.setattr(worlds, "MOST_OPERATIONS", 0)
    sampled = engine.guard_chances(state, viewer, some)
    unlikely = []
    for told, share in zip(exact, sampled, strict=True):
        unlikely += errors(told, np.rint(share * worlds.SAMPLE))
    assert (exact != sampled).any(axis=1).sum() >= 4
    assert len(unlikely) >= 12
    assert max(map(abs, unlikely)) < 4
    assert (engine.guard_chances(state, viewer, some) == sampled).all()


@pytest.mark.parametrize("most", [0, worlds.MOST_OPERATIONS])
def test_chances_beside_other_tables_are_those_of_a_table_alone(
    most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worlds, "MOST_OPERATIONS", most)
    engine, state = ceded("shiwei", 12)
    some, viewer = np.arange(12), np.arange(12) % SEATS
    together = engine.guard_chances(state, viewer, some)
    for table in some.tolist():
        assert (engine.guard_chances(state, viewer[table], [table])[0] == together[table]).all()


def test_ways_were_counted_twice_and_kept_until_all_tables_were_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine, state = ceded("shiwei", 12)
    viewer = (state.emperor + 1) % SEATS
    proofs = evidence.gather(engine.mask_hidden(state, viewer), viewer, engine.rules)
    plan = plans.Plan(proofs, engine.rules)
    table = int(np.flatnonzero(plan.tested & (proofs.secret >= 0))[0])
    one = counted.Counted(plan, table)
    one.counts = one.counts[:1]
    laid, forward = [], laying.Lay.forward

    def count(self: laying.Lay, ways: np.ndarray) -> np.ndarray:
        laid.append(id(self))
        return forward(self, ways)

    monkeypatch.setattr(laying.Lay, "forward", count)
    assert len(one.draw(10, np.random.default_rng(0)).rows) == 10
    assert len(laid) == len(set(laid)) > 0
    assert not one.counts[0].is_ready


def test_32_worlds_of_a_spectator_after_two_skips_took_millions_of_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every seat had said cede, and two had been skipped: one world in 100,000 or so fits."""
    engine = Engine("shiwei")
    state = engine.reset([1920])
    bid(engine, state, np.random.default_rng(0), cede=1.0)
    assert (state.said >> Said.SKIPPED_FORCED_CALL & 1).sum() == 2
    tried, candidates = [], drawing._candidates

    def count(plan: plans.Plan, rows: np.ndarray, rng: np.random.Generator) -> dealing.Made:
        tried.append(len(rows))
        return candidates(plan, rows, rng)

    monkeypatch.setattr(drawing, "_candidates", count)
    drawn = engine.determinize(state, NOBODY, 32, np.random.default_rng(0))
    assert sum(tried) < 20_000
    assert engine.consistent(
        engine.mask_hidden(drawn, np.full(32, NOBODY)), NOBODY, drawn.hands
    ).all()


def miscalibration(preset: str, deals: int, seed: int) -> float:
    """Expected calibration error of a rebel's chances before the first lead, in 20 bins."""
    engine, rng = Engine(preset), np.random.default_rng(seed)
    state = engine.reset(range(seed, seed + deals))
    bid(engine, state, rng)
    # a seat that is not chosen by its role, and then is a rebel
    viewer = (state.emperor + rng.integers(1, SEATS, deals)) % SEATS
    rebels = np.flatnonzero(viewer != state.guard)
    state, viewer = state.take(rebels), viewer[rebels]
    row, true = np.arange(len(rebels)), guards(state)
    told = engine.guard_chances(state, viewer)
    asked = np.ones_like(told, bool)  # neither the emperor nor he himself is guard: he knows
    asked[row, state.emperor] = asked[row, viewer] = False
    assert not told[~asked].any()
    is_so = (true[:, None] == np.arange(SEATS + 1))[asked]
    told = told[asked]
    bins = np.minimum((told * 20).astype(int), 19)
    gaps = np.bincount(bins, told - is_so, 20)
    return float(np.abs(gaps).sum() / len(told))


@pytest.mark.parametrize("preset", ["qingdao", "shiwei", "weihai"])
def test_chances_before_the_first_card_are_calibrated(preset: str) -> None:
    assert miscalibration(preset, 2000, 0) <= 0.01


@pytest.mark.soak
@pytest.mark.parametrize("preset", ["qingdao", "shiwei", "weihai"])
def test_chances_before_the_first_card_are_calibrated_in_20_000_deals(preset: str) -> None:
    assert miscalibration(preset, 20_000, 0) <= 0.01


def test_all_four_copies_of_the_called_card_may_lie_in_the_pile() -> None:
    """Four seats had added the same 2 and the emperor called it, solo in secret, which everybody
    can count: there was "no place for the card that makes the role"."""
    engine = Engine("shiwei")
    state = engine.reset(range(200))
    bid(engine, state, np.random.default_rng(0), cede=1.0)
    row = np.arange(200)
    kind = np.maximum(state.identity_kind, 0)
    clear = np.flatnonzero((state.pile[row, kind] == 4) & (state.public == 0))
    assert clear.size
    for viewer in (-1, *range(SEATS)):
        told = engine.guard_chances(state, viewer, clear)
        assert (told == np.eye(SEATS + 1)[ALONE]).all()
        drawn = engine.determinize(state, viewer, 3, np.random.default_rng(0), clear)
        assert (guards(drawn) == ALONE).all()
