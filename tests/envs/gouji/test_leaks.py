"""Hidden means hidden: what a seat observes of Gouji does not depend on what it may not know.

At some decisions of random hands the cards are dealt anew, consistently with all that was public.
The hand is then played again from its beginning in the true deal and in the new ones side by side,
and at every question on the way everything that a seat can see must be the same bytes: who is
asked, observation, masked state, legal moves, history, the table as text.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs import gouji_v0
from lupai.envs.aec import CardGameEnv
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.state import PHASE_NAMES, Phase, State
from lupai.envs.view import View
from tests.envs.gouji.redeal import Story, World
from tests.envs.gouji.side_by_side import (
    KIND,
    NUMBERS,
    Step,
    Watched,
    engine_of,
    id_of,
    rules_of,
    stacked_deal,
    text_of,
)
from tests.envs.gouji.test_hidden import deal_anew
from tests.oracle_gouji.options import Options
from tests.oracle_gouji.random_play import play_out

SPECTATOR = -1
KINDS = ("offer", "answer_offer", "revolt", "waive", "lead", "burn", "answer", "melee")


def replay(engine: Engine, worlds: list[World], viewer: int) -> Counter[str]:
    """Play worlds side by side, comparing what the viewer sees; how often the asked seat could do
    something else in another world."""
    count: Counter[str] = Counter()
    state = State(len(worlds))
    for table, world in enumerate(worlds):
        deal = world.deal
        state.put([table], engine.reset_hands(deal.texts, deal.start, deal.previous))
    histories: list[list[str]] = [[] for _ in worlds]
    for number in range(len(worlds[0].moves) + 1):
        last = number == len(worlds[0].moves)
        compare(engine, state, viewer, histories, texts=last or number % 16 == 0)
        if last:
            break
        moves = [world.moves[number] for world in worlds]
        cards = np.zeros((len(worlds), 54), np.int8)
        actions = []
        for table, (seat, move, very) in enumerate(moves):
            assert seat == state.actor[table]
            actions.append(id_of(move))
            for card in very:
                cards[table, KIND[card]] += 1
            public = engine.record_move(state, table, actions[-1])[1]
            played = f"{public.split(' ')[0]} {' '.join(very)}" if very else public
            histories[table].append(f"{seat} {played}")
        legal = engine.legal(state)
        if state.burning[0] and (legal.counts() == 1).any() and (legal.counts() > 1).any():
            count["can burn in one world"] += 1
        count["another answer"] += len(set(actions)) > 1
        engine.step(state, actions, cards=cards, legal=legal)
    return count


def compare(
    engine: Engine, state: State, viewer: int, histories: list[list[str]], texts: bool
) -> None:
    """All tables look the same to a seat."""
    assert len(set(state.actor.tolist())) == 1
    tables = range(len(state))
    masked = engine.mask_hidden(state, viewer)
    for name, array in masked.arrays().items():
        assert (array == array[:1]).all(), name
    if viewer != SPECTATOR:
        seen = engine.observe(state, viewer)
        assert (seen == seen[:1]).all()
        assert np.array_equal(seen, engine.observe(masked, viewer))
    if state.actor[0] == viewer:
        flat, offsets = engine.legal(state).ids()
        rows = [flat[offsets[i] : offsets[i + 1]].tobytes() for i in tables]
        assert len(set(rows)) == 1
        assert engine.legal(masked, [0]).ids()[0].tobytes() == rows[0]
    if texts:
        views = [View.of(engine, state.take([i]), viewer, histories[i]) for i in tables]
        looks = [(str(v), v.history, v.legal, v.legal_ids.tobytes(), v.hand) for v in views]
        assert all(look == looks[0] for look in looks)


def kind_of(step: Step) -> str:
    """What is asked: the phase, or what the question in play is about."""
    known = dict(zip(NUMBERS, step.numbers, strict=True))
    if known["phase"] != Phase.PLAY:
        return PHASE_NAMES[known["phase"]]
    if known["melee"]:
        return "melee"
    return "lead" if known["standing"] < 0 else "burn" if known["burning"] else "answer"


def walk(seed: int, options: Options, points: int, draws: int = 4) -> Counter[str]:
    """One random hand; at some decisions, rare kinds first, compare it with re-deals."""
    rng = random.Random(seed)
    deal = stacked_deal(options, rng)
    watched = Watched(deal)
    play_out(watched, rng)
    kinds = [kind_of(step) for step in watched.steps]
    often = Counter(kinds)
    places = list(range(len(kinds)))
    rng.shuffle(places)
    firsts = [places[[kinds[i] for i in places].index(kind)] for kind in often]
    rare = sorted(firsts, key=lambda i: often[kinds[i]])
    chosen = {*rare[:points], *places[: max(0, points - len(rare))]}
    count: Counter[str] = Counter()
    story = Story(deal)
    for i, step in enumerate(watched.steps):
        if i in chosen:
            actor = step.numbers[1]
            for viewer in {actor, rng.choice((SPECTATOR, *range(6)))}:
                drawn = [story.redeal(viewer, rng) for _ in range(draws)]
                worlds = [world for world in drawn if world is not None]
                count["draws"] += draws
                count["worlds"] += len(worlds)
                if worlds:
                    count += replay(engine_of(options), [story.world, *worlds], viewer)
                    count[kinds[i]] += len(worlds)
        story.tell(step.move, rng)
    return count


OPTIONS = (
    Options(),
    Options(tribute=True),
    Options(burn_fail="last_place", end="last_player", hand_sizes="always"),
)


def test_what_a_seat_sees_does_not_depend_on_what_it_may_not_know() -> None:
    count = sum((walk(seed, OPTIONS[seed % 3], points=6) for seed in range(9)), Counter[str]())
    assert all(count[kind] >= 3 for kind in KINDS), count
    assert count["another answer"] >= 3, count  # to a running poll
    assert count["can burn in one world"] >= 3, count  # and is asked in all of them


def test_the_very_card_of_a_refused_offer_stays_where_it_is() -> None:
    """All saw it: a re-deal that laid it into another hand could not be played."""
    count = walk(1024, OPTIONS[1], points=20, draws=8)
    assert count["answer_offer"] > 0, count


def seen(env: CardGameEnv, agent: str) -> tuple[object, ...]:
    """Everything one agent can observe."""
    obs, view = env.observe(agent), env.view(agent)
    mask = obs["action_mask"].tobytes()
    return (obs["observation"].tobytes(), mask, env.infos[agent], str(view), view.history)


@pytest.mark.parametrize("seed", range(6))
def test_the_environment_shows_no_more(seed: int) -> None:
    """Cards and answers to the poll change under the environment's hands, and nothing is seen."""
    rng, options = random.Random(seed), OPTIONS[seed % 3]
    deal = stacked_deal(options, rng)
    watched = Watched(deal)
    play_out(watched, rng)
    env = gouji_v0.raw_env(rules_of(options))
    own = {"previous_finish": deal.previous} if deal.previous else {}
    env.reset(options={"hands": deal.texts, "start": deal.start, **own})
    for number, step in enumerate(watched.steps):
        state = env._state
        if state.phase[0] < Phase.PLAY or number % 10 == 0:
            for viewer in {int(state.actor[0]), rng.randrange(6)}:
                agent = f"player_{viewer}"
                here = seen(env, agent)
                env._state = deal_anew(state, viewer, rng)
                env._ask()
                assert seen(env, agent) == here
                assert env.observe(agent)["action_mask"].any() == (viewer == state.actor[0])
                env._state = state
                env._ask()
        answers = [event.split(" ")[1] for event in env.view().history if "revolt" in event]
        assert state.phase[0] > Phase.REVOLT or not answers
        env.step(env.action_of(text_of(step.move)))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1120))
def test_many_hands(seed: int) -> None:
    count = walk(seed, OPTIONS[seed % 3], points=20, draws=8)
    assert count["worlds"] > count["draws"] / 20, count
