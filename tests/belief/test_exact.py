"""Exact posteriors of known populations beside brute force, and beside the grounded ones."""

from itertools import islice
from math import comb

import numpy as np
import pytest

from lupai.agents.belief.behaviour import NoisyAgent, Population, UniformPlay
from lupai.agents.belief.exact import ExactPosterior, count_ways, lay
from lupai.agents.belief.particles import ParticlePosterior
from lupai.agents.greedy import GreedyAgent
from lupai.envs.baohuang.actions import SET
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.play import cards_of_play
from lupai.envs.errors import LupaiError
from lupai.envs.log import Log
from lupai.envs.view import Views
from tests.belief.brute import noisy_greedy, ordered_suits, positions, posterior, uniform, views_of

PRESETS = ("qingdao", "shiwei", "weihai")
GREEDY = NoisyAgent(GreedyAgent(), 0.2)


class Blind:
    """Plays each set in proportion to the ways to pick its cards: as if drawn blindly."""

    name = "blind"

    def chances(self, views, actions):
        out = np.ones(len(actions))
        state = views.state
        for i in np.flatnonzero(actions >= SET):
            seat, supreme = state.actor[i], views.engine.rules.supreme
            laid = cards_of_play(state, np.array([i]), actions[i : i + 1], supreme=supreme)[0]
            held = state.hands[i, seat].astype(int)
            if state.identity_seat[i] == seat:
                held[state.identity_kind[i]] -= 1
            for cards in (*(slice(r, r + 4) for r in range(0, 52, 4)), 52, 53):
                out[i] *= comb(int(held[cards].sum()), int(laid[cards].sum())) / 1000
        return out


def compare(
    preset, count, first_seed, members, shares, behaviours, per="seat", suits="blind", sets=0
):
    """The most by which exact and brute force differ over so many questions."""
    exact = ExactPosterior(Population(behaviours, tuple(shares), per, suits))
    worst, asked, away = 0.0, 0, 0.0
    for party, story in positions(preset, first_seed, sets):
        rebels = set(range(5)) - {int(party.state.emperor[0]), int(party.state.guard[0])}
        for viewer in (int(party.state.emperor[0]), min(rebels), -1):
            told = posterior(story, viewer, members, shares, per, suits)
            if told is None:
                continue
            views = views_of(party, story, viewer)
            chances = exact.predict(views)[0]
            worst = max(worst, np.abs(chances - told).max())
            grounded = party.engine.guard_chances(party.state, viewer)[0]
            away = max(away, np.abs(chances - grounded).max())
            asked += told.max() < 1
        if asked >= count:
            return worst, away
    raise AssertionError("no position")


@pytest.mark.parametrize("sets", [0, 3])
@pytest.mark.parametrize("preset", PRESETS)
def test_exact_is_grounded_where_cards_are_played_as_if_drawn_blindly(preset, sets):
    exact = ExactPosterior(Population((Blind(),)), limit=500)
    asked = 0
    for party, story in islice(positions(preset, 0, sets), 12):
        for viewer in range(-1, 5):
            try:
                chances = exact.predict(views_of(party, story, viewer))
            except LupaiError as error:
                assert "to lay the unseen cards" in str(error)  # noqa: PT017
                continue
            told = party.engine.guard_chances(party.state, viewer)
            np.testing.assert_allclose(chances, told, rtol=0, atol=1e-12)
            asked += told.max() < 1
    assert asked >= 10


@pytest.mark.parametrize("suits", ["blind", "order"])
@pytest.mark.parametrize("preset", PRESETS)
def test_exact_is_brute_force_for_random_play(preset, suits):
    worst, away = compare(
        preset, 10, 300, [uniform], [1.0], (UniformPlay(),), suits=suits, sets=3
    )  # fmt: skip
    assert worst < 1e-12
    assert away > 0.01  # how many moves somebody had tells something


@pytest.mark.parametrize(
    ("preset", "per", "suits"),
    [
        ("qingdao", "seat", "order"),
        ("shiwei", "hand", "blind"),
        ("weihai", "seat", "blind"),
        ("weihai", "hand", "order"),
    ],
)
def test_exact_is_brute_force_for_a_mixture(preset, per, suits):
    worst, away = compare(
        preset, 15, 1000, [uniform, noisy_greedy], [0.3, 0.7], (UniformPlay(), GREEDY), per, suits
    )
    assert worst < 1e-12
    assert away > 0.01


@pytest.mark.soak
@pytest.mark.parametrize("suits", ["blind", "order"])
@pytest.mark.parametrize("per", ["seat", "hand"])
@pytest.mark.parametrize("preset", PRESETS)
def test_exact_is_brute_force_for_a_mixture_many_times(preset, per, suits):
    worst, _ = compare(
        preset,
        100,
        10_000,
        [uniform, noisy_greedy],
        [0.3, 0.7],
        (UniformPlay(), GREEDY),
        per,
        suits,
    )
    assert worst < 1e-12


def test_ways_to_lay_cards_are_counted_and_listed():
    pool, room = np.zeros(54, np.int8), np.array([2, 0, 3, 1, 2])
    pool[[3, 7, 20, 53]] = 4, 2, 1, 1
    laid = lay(pool, room)
    assert len(laid) == count_ways(pool, room) == len({way.tobytes() for way in laid})
    assert (laid.sum(axis=1) == pool).all()
    assert (laid.sum(axis=2) == room).all()


def full_deck_views(seats=(0,), **changes):
    engine = Engine("qingdao")
    log = Log(engine, engine.reset([7]))
    for move in ["decline"] * 5 + ["cede", "call 8h"]:
        log.step(np.array([engine.action_of(log.state, 0, move)]), np.array([0]))
    arguments = {"histories": log.history} | changes
    return Views(engine, log.state, np.array(seats), **arguments)


def test_too_many_deals_are_refused_in_one_line():
    with pytest.raises(
        LupaiError,
        match=r"view 0: 1e\d+ ways or more to lay .* take particles \(ParticlePosterior\)$",
    ):
        ExactPosterior(Population((UniformPlay(),))).predict(full_deck_views())


def test_what_is_missing_is_named():
    exact = ExactPosterior(Population((UniformPlay(),)))
    with pytest.raises(LupaiError, match="views without histories"):
        exact.predict(full_deck_views(histories=None))
    with pytest.raises(LupaiError, match="view 0: a history of 1 moves at a table after 7"):
        exact.predict(full_deck_views(histories=[["0 decline"]]))
    party, story = next(positions("qingdao", 3))
    history = views_of(party, story, -1).histories[0]
    guard = int(party.state.guard[0])
    for wrong, why in (
        (["x " + history[0].partition(" ")[2], *history[1:]], "move 1 of its history, 'x "),
        ([*history[:-1], "0 play 9x"], f"move {len(history)} of its history, '0 play 9x': card 1"),
        (["0 pass", *history[1:]], "move 1 of its history cannot be made in a world that agrees"),
    ):
        views = Views(party.engine, party.state, [guard, -1], [0, 0], [history, wrong])
        with pytest.raises(LupaiError, match=f"view 1: {why}"):  # by its place in the call
            exact.predict(views)
        with pytest.raises(LupaiError, match=f"view 1: {why}"):
            ParticlePosterior(Population((UniformPlay(),)), 8).predict(views)
    engine = Engine("qingdao")
    with pytest.raises(LupaiError, match="view 0: no emperor yet"):
        exact.predict(Views(engine, engine.reset([1]), [0], histories=[[]]))


def test_a_population_that_cannot_have_played_so_is_named():
    party, story = next(
        (party, story)
        for party, story in positions("weihai", 0)
        if party.state.moves[0] > 12 and party.state.sizes[0].sum() < 12
    )
    viewer = int(party.state.emperor[0])
    exact = ExactPosterior(Population((NoisyAgent(GreedyAgent(), 0.0),)))
    with pytest.raises(LupaiError, match="would the population greedy~0 have played so"):
        exact.predict(views_of(party, story, viewer))


def test_ordered_suits_are_those_of_the_oracle():
    party, _ = next(positions("qingdao", 5))
    hand = party.hands[0]
    moves = [move[5:] for move in hand.legal() if move.startswith("play ") and "*" not in move]
    assert all(ordered_suits(hand, hand.pick(move)) == 1 for move in moves)
