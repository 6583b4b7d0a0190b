"""A trained agent is never run on rules it was not trained for, by no way that leads to it."""

import numpy as np
import pytest

pytest.importorskip("torch")

import lupai.agents
from lupai.envs import baohuang_v0
from lupai.envs.baohuang.engine import Engine
from lupai.envs.errors import LupaiError
from lupai.envs.view import Views
from lupai.train.evaluate import evaluate
from tests.cli.running import lupai as run
from tests.tiny_agent import save_tiny_agent

pytestmark = pytest.mark.train
RULES = "weihai;votes_needed=1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_agent(tmp_path_factory.mktemp("agents") / "agent", RULES)


def test_the_card_holds_the_rules_as_they_print(folder):
    assert lupai.agents.load(folder).card.rules == RULES
    assert lupai.agents.load(folder, RULES).card.rules == RULES


@pytest.mark.parametrize("other", ["weihai", "qingdao", "weihai;votes_needed=3"])
def test_load_for_other_rules(folder, other):
    with pytest.raises(LupaiError) as caught:
        lupai.agents.load(folder, other)
    assert f"rules is {RULES!r}, needed is {other!r}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_agent_at_hand_is_refused_too(folder):
    """Loaded without a word on rules, then asked at another table: by view, batch and lanes."""
    agent = lupai.agents.load(folder)
    env = baohuang_v0.raw_env("weihai")
    env.reset(seed=1)
    with pytest.raises(LupaiError, match=r"was trained under rules 'weihai;votes_needed=1'"):
        agent.act(env.view())
    engine = Engine("shiwei")
    state = engine.reset([0, 1])
    views = Views(engine, state, state.actor)
    with pytest.raises(LupaiError, match="asked under 'shiwei'"):
        agent.act_batch(views)
    with pytest.raises(LupaiError, match="asked under 'shiwei'"):
        agent.act_lanes(views, np.arange(2))
    with pytest.raises(LupaiError, match="was trained under"):
        evaluate(agent, ["random"], hands=5, rules="weihai")
    mine = baohuang_v0.raw_env(RULES)
    mine.reset(seed=1)
    assert agent.act(mine.view()) in mine.legal_moves()


COMMANDS = [
    "play --seed 1 --against {}",
    "play --seed 1 --against random,{},random,random",
    "record -o - --players {}",
    "record -o - --players random,random,{},random,random",
    "evaluate {} --hands 5",
    "evaluate random --hands 5 --against greedy,{}",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("rules", ["", "--rules weihai", f"--rules {RULES} --option declare=false"])
def test_commands_refuse(folder, command, rules):
    done = run(*command.format(folder).split(), *rules.split())
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert f"rules is {RULES!r}, needed is" in done.err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_play_its_own(folder, command):
    done = run(*command.format(folder).split(), "--rules", "weihai", "--option", "votes_needed=1")
    assert (done.status, done.err) == (0, "")
