"""Hidden means hidden: what a seat observes does not depend on what it may not know.

At every decision the cards and the secret role are dealt anew, consistently with all that was
public, and everything that the acting seat (and another one) can see must be the same bytes:
observation, mask, info, ansi view, history, masked state. Once with the engine's state changed in
place, once by replaying the whole hand from the other deal through a fresh environment, which also
covers the order of questions.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs import baohuang_v0
from lupai.envs.aec import CardGameEnv
from lupai.envs.baohuang.state import SOLO_NAMES
from lupai.envs.cards import KIND_OF_TEXT, RANK_OF_KIND
from tests.envs.redeal import Story, World
from tests.envs.side_by_side import PRESETS, Rules, special_seat, with_deck
from tests.oracle.random_play import biased_deal, biased_move, random_rules, small_deck

Seen = tuple[bytes, bytes, str, str, tuple[str, ...], bytes]

JOKER: Rules = {"preset": "shiwei", "guard_by": "marked_small_joker"}
TABLES: dict[str, Rules] = {preset: {"preset": preset} for preset in PRESETS} | {"joker": JOKER}
CALLED = ("grab", "call", "forced_call", "declare", "play", "role moved")
EXPECTED = {
    "qingdao": CALLED,
    "shiwei": CALLED,
    "weihai": (
        "solo", "solo_ti", "abandon", "offer", "declare", "oppose", "niu", "ti", "play",
        "role moved", "mark moved",
    ),
    "joker": ("grab", "open", "declare", "play", "role moved", "mark moved"),
}  # fmt: skip


def seen(env: CardGameEnv, agent: str) -> Seen:
    """Everything one agent can observe."""
    obs = env.observe(agent)
    view = env.view(agent)
    return (
        obs["observation"].tobytes(),
        obs["action_mask"].tobytes(),
        repr(env.infos[agent]),
        str(view),
        view.history,
        b"".join(array.tobytes() for array in vars(view.state).values()),  # what agents get
    )


def new_env(rules: Rules, hands: list[list[str]], start: int) -> CardGameEnv:
    env = baohuang_v0.raw_env(rules, render_mode="ansi")
    env.reset(options={"hands": [" ".join(hand) for hand in hands], "start": start})
    return env


def put_world(env: CardGameEnv, world: World, rng: random.Random) -> None:
    """Overwrite the hidden part of an environment's state."""
    state, hand = env._state, world.hand
    state.hands[:] = 0
    state.ranks[:] = 0
    for seat, cards in enumerate(hand.hands):
        for card, count in cards.items():
            kind = KIND_OF_TEXT[card]
            state.hands[0, seat, kind] = count
            state.ranks[0, seat, RANK_OF_KIND[kind]] += count
    holder, marked = special_seat(hand), world.marked
    state.guard = -1 if hand.guard is None else hand.guard
    if hand.phase != "offer":
        state.solo = SOLO_NAMES.index(hand.solo)
    state.identity_seat = -1 if holder is None else holder
    state.marked_b = -1 if marked is None else marked
    state.seeds[:] = rng.getrandbits(63)
    env._ask()


def choose(legal: list[str], rng: random.Random) -> str:
    """A biased move, and more often one that leads to the rarer phases."""
    rare = [move for move in ("decline", "cede", "abandon") if move in legal]
    return rare[0] if rare and rng.random() < 0.5 else biased_move(legal, rng)


def walk(
    rng: random.Random, rules: Rules, every: int, draws: int, every_play: int = 0
) -> Counter[str]:
    """One random hand; at every ``every``-th decision compare against re-deals (in play at every
    ``every_play``-th, if given)."""
    count: Counter[str] = Counter()
    hands, start = biased_deal(rng, rules=rules)
    env, other = new_env(rules, hands, start), new_env(rules, hands, start)
    story = Story(rules, hands, start)
    while not env.terminations["player_0"]:
        playing = every_play and env.infos["player_0"]["phase"] == "play"
        if rng.randrange(every_play if playing else every) == 0:
            for viewer in {int(env._state.actor[0]), rng.randrange(5)}:
                agent = f"player_{viewer}"
                here = seen(env, agent)
                forced = env.infos[agent]["phase"] == "forced_call"  # rare, and often refused
                for _ in range(draws * (4 if forced else 1)):
                    world = story.redeal(viewer, rng)
                    count["draws"] += 1
                    if world is None:
                        continue
                    other._state = env._state.copy()
                    other._log = env._log
                    put_world(other, world, rng)
                    assert other.agent_selection == env.agent_selection
                    assert seen(other, agent) == here
                    count[env.infos[agent]["phase"]] += world.hand.hands != story.hand.hands
                    before, now = story.hand, world.hand
                    count["role moved"] += (before.guard, before.solo) != (now.guard, now.solo)
                    count["mark moved"] += world.marked != story.world.marked
        env.step(env.action_of(choose(env.legal_moves(), rng)))
        if env._log.moves:
            story.tell(env._log.moves[-1])
    return count


def replay(rng: random.Random, rules: Rules) -> int:
    """One hand, replayed from another deal that one seat could not tell from it so far."""
    hands, start = biased_deal(rng, rules=rules)
    env = new_env(rules, hands, start)
    story = Story(rules, hands, start)
    viewer = rng.randrange(5)
    agent = f"player_{viewer}"
    log: list[tuple[str, Seen]] = []
    stop = rng.randrange(5, 30) if rng.random() < 0.7 else rng.randrange(30, 400)
    while not env.terminations["player_0"] and len(log) < stop:
        log.append((env.agent_selection, seen(env, agent)))
        env.step(env.action_of(biased_move(env.legal_moves(), rng)))
        story.tell(env._log.moves[-1])
    if env.terminations["player_0"]:
        return 0
    world = next((w for _ in range(30) if (w := story.redeal(viewer, rng))), None)
    if world is None:
        return 0
    twin = new_env(rules, world.dealt, start)
    for (asked, view), move, public in zip(log, world.moves, env._log.history, strict=True):
        assert twin.agent_selection == asked
        assert seen(twin, agent) == view
        action, cards = twin.engine.read_move(twin._state, 0, move[2:])
        twin.engine.step(twin._state, [action], cards=cards[None])
        twin._log.history.append(public)
        twin._ask()
    assert twin.agent_selection == env.agent_selection
    assert seen(twin, agent) == seen(env, agent)
    return len(log)


def small(rng: random.Random, rules: Rules) -> Rules:
    """The rules with a random small deck."""
    return with_deck(rules, small_deck(rng, rules))


@pytest.mark.parametrize("table", TABLES)
def test_state_redealt_at_every_decision_looks_the_same(table: str) -> None:
    rng, rules = random.Random(1), TABLES[table]
    count: Counter[str] = Counter()
    for _ in range(2):
        count += walk(rng, rules, every=1, draws=1, every_play=30)
    for _ in range(60):
        count += walk(rng, small(rng, rules), every=1, draws=1, every_play=12)
    for what in EXPECTED[table]:
        assert count[what] > 20, count


@pytest.mark.parametrize("seed", range(12))
def test_state_redealt_under_random_options_looks_the_same(seed: int) -> None:
    rng = random.Random(seed)
    rules = random_rules(rng, named_deck=0)
    count: Counter[str] = Counter()
    for _ in range(3):
        count += walk(rng, rules, every=1, draws=1, every_play=8)
    assert count["draws"] > 20


@pytest.mark.parametrize("table", TABLES)
def test_hand_replayed_from_another_deal_looks_the_same(table: str) -> None:
    rng, rules = random.Random(2), TABLES[table]
    steps = sum(replay(rng, rules) for _ in range(4))
    steps += sum(replay(rng, small(rng, rules)) for _ in range(40))
    assert steps > 300


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("table", TABLES)
def test_every_decision_of_200_hands_looks_the_same(table: str) -> None:
    rng, rules = random.Random(3), TABLES[table]
    count: Counter[str] = Counter()
    for _ in range(200):
        count += walk(rng, rules, every=1, draws=1)
    for _ in range(500):
        count += walk(rng, small(rng, rules), every=1, draws=3)
    steps = sum(replay(rng, rules) for _ in range(200))
    print(table, dict(count), "replayed steps:", steps)
    for what in EXPECTED[table]:
        assert count[what] >= 100, count
    assert steps > 4000


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(100, 160))
def test_hands_under_many_options_look_the_same(seed: int) -> None:
    rng = random.Random(seed)
    rules = random_rules(rng, named_deck=0.1)
    small_deck_ = isinstance(rules.get("deck"), list)
    for _ in range(20):
        walk(rng, rules, every=1 if small_deck_ else 20, draws=2)
        replay(rng, rules)


def test_an_observation_that_reads_a_hidden_card_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test itself can fail: add one card of the next seat to what is observed."""
    engine_type = baohuang_v0.Engine
    honest = engine_type.observe

    def leaky(self, state, seats, tables=None):  # type: ignore[no-untyped-def]
        out = honest(self, state, seats, tables)
        out[:, 0] += state.hands[0, (int(np.asarray(seats).ravel()[0]) + 1) % 5, :12].sum() % 2
        return out

    monkeypatch.setattr(engine_type, "observe", leaky)
    with pytest.raises(AssertionError):
        walk(random.Random(0), {"preset": "qingdao"}, every=1, draws=1)


@pytest.mark.parametrize("table", ["weihai", "joker"])
def test_an_observation_that_reads_who_holds_the_mark_is_noticed(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine_type = baohuang_v0.Engine
    honest = engine_type.observe

    def leaky(self, state, seats, tables=None):  # type: ignore[no-untyped-def]
        out = honest(self, state, seats, tables)
        out[:, 0] = state.marked_b[0]
        return out

    monkeypatch.setattr(engine_type, "observe", leaky)
    rng = random.Random(0)

    def some_hands() -> None:
        for _ in range(10):
            walk(rng, small(rng, TABLES[table]), every=1, draws=2)

    with pytest.raises(AssertionError):
        some_hands()
