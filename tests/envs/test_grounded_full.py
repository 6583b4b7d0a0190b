"""Chances of who is guard with full decks: beside drawn worlds, and beside what turns out."""

from functools import cache

import numpy as np
import pytest

from lupai.envs.actions import CALL, VERB_ID
from lupai.envs.baohuang import drawing
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


@pytest.mark.parametrize("by_count", [False, True])
@pytest.mark.parametrize("moves", [0, 12])
@pytest.mark.parametrize("preset", ["qingdao", "shiwei"])
def test_chances_with_full_decks_are_the_shares_of_many_worlds(
    preset: str, moves: int, by_count: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worlds that are drawn until they fit, and worlds that are drawn by the number of ways."""
    if by_count:
        monkeypatch.setattr(drawing, "PATIENCE", 0)
        monkeypatch.setattr(drawing, "OPERATIONS_PER_DRAW", 1e6)
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
        worlds = engine.determinize(state, viewer, n, np.random.default_rng(1), [table])
        seen = np.bincount(guards(worlds), minlength=SEATS + 1)
        sure = (told == 0) | (told == 1)
        assert (seen[sure] == told[sure] * n).all()
        error = np.sqrt(n * told * (1 - told))[~sure]
        unlikely += ((seen[~sure] - n * told[~sure]) / error).tolist()
    assert skipped[some].max() >= 1
    assert len(unlikely) >= 12
    assert max(map(abs, unlikely)) < 4
    assert 0.5 < np.std(unlikely) < 1.5


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
        worlds = engine.determinize(state, viewer, 3, np.random.default_rng(0), clear)
        assert (guards(worlds) == ALONE).all()
