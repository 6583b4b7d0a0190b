"""Hidden means hidden: what a seat observes does not depend on what it may not know.

At every decision the cards and the secret role are dealt anew, consistently with all that was
public, and everything that the acting seat can see must be the same bytes: observation, mask,
info, ansi view, history. Once with the engine's state changed in place, once by replaying the whole
hand from the other deal through a fresh environment, which also covers the order of questions.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from lupai.envs import baohuang_v0
from lupai.envs.aec import CardGameEnv
from lupai.envs.baohuang.state import Solo
from lupai.envs.cards import KIND_OF_TEXT, RANK_OF_KIND
from tests.envs.redeal import PublicFacts, as_dealt, held_now, redeal, who_is_guard
from tests.oracle.random_play import biased_deal, biased_move, small_deck

Seen = tuple[bytes, bytes, str, str, tuple[str, ...]]


def seen(env: CardGameEnv, agent: str) -> Seen:
    """Everything one agent can observe."""
    obs = env.observe(agent)
    text = str(env.view(agent))
    return (
        obs["observation"].tobytes(),
        obs["action_mask"].tobytes(),
        repr(env.infos[agent]),
        text,
        env.view(agent).history,
    )


def new_env(rules: object, hands: list[str], start: int) -> CardGameEnv:
    env = baohuang_v0.raw_env(rules, render_mode="ansi")  # type: ignore[arg-type]
    env.reset(options={"hands": hands, "start": start})
    return env


def put_hands(env: CardGameEnv, facts: PublicFacts, hands: list[Counter[str]]) -> None:
    """Overwrite the hidden part of an environment's state."""
    state = env._state
    state.hands[:] = 0
    state.ranks[:] = 0
    for seat, hand in enumerate(hands):
        for card, count in hand.items():
            kind = KIND_OF_TEXT[card]
            state.hands[0, seat, kind] = count
            state.ranks[0, seat, RANK_OF_KIND[kind]] += count
    if facts.called is not None and not facts.role_public:
        guard, alone = who_is_guard(facts, hands)
        state.guard = -1 if guard is None else guard
        state.solo = Solo.SECRET if alone else Solo.NONE
        state.identity_seat = facts.emperor if alone else guard
    env._ask()


def walk(rng: random.Random, deck: list[str] | None, every: int, draws: int) -> Counter[str]:
    """One biased random hand; at every ``every``-th decision compare against re-deals."""
    count: Counter[str] = Counter()
    hands, start = biased_deal(rng, deck)
    rules = {"preset": "qingdao"} | ({} if deck is None else {"deck": deck})
    dealt = [" ".join(h) for h in hands]
    env, other = new_env(rules, dealt, start), new_env(rules, dealt, start)
    while not env.terminations["player_0"]:
        seat = int(env._state.actor[0])
        agent = env.agent_selection
        if rng.randrange(every) == 0:
            facts = PublicFacts(hands, list(env._history), int(env._state.actor[0]))
            true = held_now(facts, hands)
            for _ in range(draws):
                guess = redeal(facts, true, seat, rng)
                if guess is None:
                    continue
                other._state = env._state.copy()
                other._history = env._history
                put_hands(other, facts, guess)
                assert other.agent_selection == agent
                assert seen(other, agent) == seen(env, agent)
                count[env.infos[agent]["phase"]] += 1
                if facts.called is not None and not facts.role_public:
                    before = who_is_guard(facts, true)
                    count["role moved"] += before != who_is_guard(facts, guess)
        env.step(env.action_of(biased_move(env.legal_moves(), rng)))
    return count


def replay(rng: random.Random, deck: list[str] | None) -> int:
    """One hand, replayed from another deal that one seat could not tell from it so far."""
    hands, start = biased_deal(rng, deck)
    rules = {"preset": "qingdao"} | ({} if deck is None else {"deck": deck})
    env = new_env(rules, [" ".join(h) for h in hands], start)
    viewer = rng.randrange(5)
    agent = f"player_{viewer}"
    log: list[tuple[str, Seen]] = []
    stop = rng.randrange(5, 400)
    while not env.terminations["player_0"] and len(log) < stop:
        log.append((env.agent_selection, seen(env, agent)))
        env.step(env.action_of(biased_move(env.legal_moves(), rng)))
    if env.terminations["player_0"]:
        return 0
    facts = PublicFacts(hands, list(env._history), int(env._state.actor[0]))
    true = held_now(facts, hands)
    guess = next((g for _ in range(30) if (g := redeal(facts, true, viewer, rng))), None)
    if guess is None:
        return 0
    twin = new_env(rules, as_dealt(facts, guess), start)
    secret = facts.called is not None and not facts.role_public
    alone = secret and who_is_guard(facts, guess)[1]
    for (asked, view), move, public in zip(log, env._moves, env._history, strict=True):
        assert twin.agent_selection == asked
        assert seen(twin, agent) == view
        text = move
        if secret and viewer != facts.emperor and " call " in move:
            text = public + (" secret" if alone else "")
        action, cards = twin.engine.read_move(twin._state, 0, text[2:])
        twin.engine.step(twin._state, [action], cards=cards[None])
        twin._history.append(public)
        twin._ask()
    assert seen(twin, agent) == seen(env, agent)
    return len(log)


def test_state_redealt_at_every_decision_looks_the_same() -> None:
    rng = random.Random(1)
    count: Counter[str] = Counter()
    for _ in range(4):
        count += walk(rng, None, every=4, draws=1)
    for _ in range(25):
        count += walk(rng, small_deck(rng), every=1, draws=2)
    for what in ("grab", "call", "declare", "play", "role moved"):
        assert count[what] > 20, count


def test_hand_replayed_from_another_deal_looks_the_same() -> None:
    rng = random.Random(2)
    steps = sum(replay(rng, None) for _ in range(5))
    steps += sum(replay(rng, small_deck(rng)) for _ in range(60))
    assert steps > 1000


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_every_decision_of_200_hands_looks_the_same() -> None:
    rng = random.Random(3)
    count: Counter[str] = Counter()
    for _ in range(200):
        count += walk(rng, None, every=1, draws=1)
    for _ in range(500):
        count += walk(rng, small_deck(rng), every=1, draws=3)
    steps = sum(replay(rng, None) for _ in range(200))
    print(dict(count), "replayed steps:", steps)
    for what in ("grab", "call", "forced_call", "declare", "play", "role moved"):
        assert count[what] >= 100, count
    assert steps > 10_000


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
        walk(random.Random(0), None, every=1, draws=1)
