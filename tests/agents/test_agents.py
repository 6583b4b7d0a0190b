"""The agents' protocol, `random`, `greedy`, their seeds, and `load`."""

import sys

import numpy as np
import pytest

import lupai.agents
from lupai.agents.base import Agent, BatchAgent, LaneAgent, ask
from lupai.agents.greedy import LATE, GreedyAgent
from lupai.agents.random_agent import RandomAgent
from lupai.agents.registry import AGENTS, UnknownAgentError
from lupai.agents.streams import agent_seed, decision_numbers, lane_draws, own_generator
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import NOBODY, Phase, State
from lupai.envs.cards import KIND_OF_TEXT, NUM_RANKS, RANK_OF_KIND
from lupai.envs.errors import IllegalMoveError, LupaiError
from lupai.envs.view import View, Views
from tests.agents.positions import position_of

ENGINE = Engine("qingdao")


def position(hand, standing=None):
    """View of a player in a trick under the rules of this file."""
    return position_of(ENGINE, hand, standing)


def decisions(tables, steps, player=None):
    """Views at decisions of an agent's play (random by default), batch by batch."""
    state, player = ENGINE.reset(np.arange(tables)), player or RandomAgent(0)
    for _ in range(steps):
        if not (rows := np.flatnonzero(~state.over)).size:
            break
        views = Views(ENGINE, state, state.actor[rows], rows)
        yield views
        ENGINE.step(state, player.act_batch(views), rows)


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "search"])
def test_one_and_many_views_get_the_same_moves(name):
    one, many, single = (AGENTS[name]() for _ in range(3))
    for agent in (one, many, single):
        agent.reset(3)
    for views in decisions(6, 150):
        chosen = many.act_batch(views)
        assert chosen.dtype == np.int32
        assert views.legal.contains(chosen).all()
        moves = [one.act(view) for view in views]
        assert moves == [v.move_of(int(a)) for v, a in zip(views, chosen, strict=True)]
        assert all(move in view.legal for move, view in zip(moves, views, strict=True))


@pytest.mark.parametrize("name", AGENTS)
def test_agents_keep_the_protocol(name):
    agent = lupai.agents.load(name)
    assert isinstance(agent, Agent)
    assert isinstance(agent, BatchAgent)
    assert agent.name == name


def test_random_is_uniform_over_all_legal_moves():
    view, agent = position("3s 4s 4h 5s B R", "3"), RandomAgent(0)
    moves = [agent.act(view) for _ in range(7000)]
    counts = [moves.count(move) for move in view.legal]
    assert sum(counts) == 7000
    assert view.legal == ["pass", "yield", "play 4", "play 5", "play R", "play B"]
    assert min(counts) > 7000 / 6 - 120  # four standard deviations
    lanes = agent.act_lanes(_many(view, 7000), np.arange(7000))
    assert np.bincount(lanes)[view.legal_ids].min() > 7000 / 6 - 120


def _many(view, count):
    return Views(ENGINE, view.state.take(np.zeros(count, int)), view.seat)


def test_random_begins_anew_with_its_seed():
    views = next(iter(decisions(200, 1)))
    agent = RandomAgent(5)
    first = agent.act_batch(views)
    assert (agent.act_batch(views) != first).any()
    agent.reset(5)
    assert (agent.act_batch(views) == first).all()
    agent.reset(6)
    assert (agent.act_batch(views) != first).any()
    agent.reset(0)
    zero = agent.act_batch(views)
    agent.reset()  # no seed is another one each time; 0 is a seed
    assert (agent.act_batch(views) != zero).any()


def test_lanes_do_not_know_each_other():
    """The move of a table is the same alone, among others, and in another order."""
    agent = RandomAgent(4)
    for views in decisions(20, 30):
        lanes = np.arange(len(views)) * 7
        together = agent.act_lanes(views, lanes)
        order = np.arange(len(views))[::-1]
        back = Views(ENGINE, views.state, views.seats[order], order)
        assert (agent.act_lanes(back, lanes[order]) == together[order]).all()
        alone = Views(ENGINE, views.state, views.seats[:1], [0])
        assert agent.act_lanes(alone, lanes[:1])[0] == together[0]


def test_streams_of_seats_seeds_and_deals_are_apart():
    seeds = {agent_seed(seed, seat) for seed in range(200) for seat in range(5)}
    assert len(seeds) == 1000
    assert not seeds & set(range(200))
    draws = own_generator(7).random(4)
    assert (draws != np.random.default_rng(7).random(4)).all()
    assert (draws != own_generator(agent_seed(7, 0)).random(4)).all()
    lanes = lane_draws(7, np.repeat(np.arange(300), 300), np.tile(np.arange(300), 300))
    assert len(np.unique(lanes)) == 90_000
    assert abs(lanes.mean() - 0.5) < 0.005
    assert 0 <= lanes.min() < lanes.max() < 1
    square = lanes.reshape(300, 300)
    assert abs(np.corrcoef(square[0], square[1])[0, 1]) < 0.25
    assert abs(np.corrcoef(square[:, 0], square[:, 1])[0, 1]) < 0.25


def test_own_stream_is_fixed_for_ever():
    """Records of `lupai record` depend on these numbers; another numpy must give the same."""
    assert agent_seed(7, 0) == 1482108174325455819
    assert lane_draws(7, [0, 1], [0, 5]).tolist() == [0.9490687308503997, 0.0731280523724408]


# --- greedy -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "standing", "move"),
    [
        ("9s 5s 5h 5c Kd B R", None, "play 555"),  # all of the lowest rank
        ("9s Ks B R", None, "play 9"),
        ("B B R R", None, "play BBRR"),  # empties the hand
        ("9s 9h B R", None, "play 99BR"),
        ("5s 5h* 9c", None, "play 5"),  # the identity card stays hidden
        ("5h* 9c Kd", None, "play 9"),
        ("5h*", None, "play 5*"),
        ("9s Ks 2d 4c", "8", "play 9"),
        ("9s 9h Ks 4c", "8", "play K"),  # rather than break the pair
        ("9s 9h Ks Kh 4c", "8", "play 9"),  # breaks the lower pair
        ("9s 9h 4c", "K", "pass"),
        ("9s 9h 9c 4c", "88", "play 99"),
        ("3s 4s 5s 6s 7s 8s 9s Ts Js Qs B", "2", "pass"),  # eleven cards: too early
        ("3s 4s 5s 6s 7s 8s 9s Ts Js B", "2", "play B"),  # ten
        ("3s 4s 5s 6s B R", "2", "play B"),  # the smaller joker
        ("3s 4s R", "B", "play R"),
        ("3s R", "R", "pass"),
        ("Js 4s B R", "TB", "play JR"),
        ("R R", "KB", "play RR"),
        ("Js Jh Jc B B R 3s", "TTT", "play JJJ"),
    ],
)
def test_greedy_plays(hand, standing, move):
    assert GreedyAgent().act(position(hand, standing)) == move


def test_greedy_hangs_jokers_only_late_or_last():
    agent, hung = GreedyAgent(), 0
    for views in decisions(40, 400, agent):
        actions = agent.act_batch(views)
        for view, action in zip(views, actions.tolist(), strict=True):
            move, size = view.move_of(action), len(view.hand)
            cards = move.removeprefix("play ").replace("*", "")
            if move.startswith("play ") and set("BR") & set(cards):
                leads = view.state.standing[0] == NOBODY
                only = leads and set("".join(view.hand)) <= set("BR*")
                assert len(cards) == size or (size <= LATE and not leads) or only, move
                hung += 1
            assert move not in ("yield", "claim", "grab", "declare")
            assert not move.endswith((" open", " secret")) or view.phase == "forced_call"
    assert hung > 5


def test_greedy_calls_the_highest_triple_and_rather_cedes_than_plays_alone():
    state = State(1)
    state.phase, state.actor, state.crown = Phase.CALL, 0, 0
    for text, count in (("3s", 3), ("Kd", 3), ("2h", 4)):
        state.hands[0, 0, KIND_OF_TEXT[text]] = count
    state.ranks[0, 0] = np.bincount(RANK_OF_KIND, state.hands[0, 0], NUM_RANKS)
    assert GreedyAgent().act(View.of(ENGINE, state, 0)) == "call Kd"
    state.hands[0, 0, KIND_OF_TEXT["3s"]] = state.hands[0, 0, KIND_OF_TEXT["Kd"]] = 2
    assert GreedyAgent().act(View.of(ENGINE, state, 0)) == "cede"


def test_greedy_beats_random():
    """Seat 0 greedy among random ones, and a random one among greedy ones."""
    means = []
    for me, others in ((GreedyAgent(), RandomAgent(1)), (RandomAgent(1), GreedyAgent())):
        state = ENGINE.reset(np.arange(150))
        while (rows := np.flatnonzero(~state.over)).size:
            actors = state.actor[rows].astype(int)
            actions = np.zeros(len(rows), int)
            for agent, at in ((me, actors == 0), (others, actors != 0)):
                if at.any():
                    actions[at] = agent.act_batch(Views(ENGINE, state, actors[at], rows[at]))
            ENGINE.step(state, actions, rows)
        means.append(ENGINE.scores(state)[:, 0].mean())
    assert means[0] > 4
    assert means[1] < -1


# --- load and ask --------------------------------------------------------------------------------


def test_unknown_names_are_told_what_there_is(tmp_path):
    for name in ("nobody", "", "GREEDY", tmp_path / "missing"):
        names = "agents: random, greedy, tactical, bayes, search, (lupai/.*-v1, )*or the"
        with pytest.raises(UnknownAgentError, match=names):
            lupai.agents.load(name)


def test_a_folder_without_torch_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for module in [m for m in sys.modules if m.startswith("lupai.agents.")]:
        if module.rpartition(".")[2] in ("checkpoint", "network", "trained"):
            monkeypatch.delitem(sys.modules, module)
    with pytest.raises(LupaiError, match=r'needs torch; pip install "lupai\[train\]"'):
        lupai.agents.load(tmp_path)


def test_an_agent_without_batches_is_asked_view_by_view():
    class Last:
        name = "last"

        def reset(self, seed=None):
            pass

        def act(self, view):
            return view.legal[-1]

    class Wrong(Last):
        def act(self, view):
            return "play 33333"

    views = next(iter(decisions(3, 1)))
    ids, offsets = views.legal.ids()
    assert not isinstance(Last(), BatchAgent | LaneAgent)
    assert (ask(Last(), views, np.arange(3)) == ids[offsets[1:] - 1]).all()
    with pytest.raises(IllegalMoveError, match=r"'last' in seat \d played 'play 33333'; legal"):
        ask(Wrong(), views)


def test_numbers_of_draws_after_a_void_deal_are_others():
    """They were not where the column of 16 bits was shifted: noise came again after a redeal."""
    state = State(3)
    state.moves, state.redeals = np.array([5, 5, 7]), np.array([0, 1, 2])
    assert decision_numbers(state).tolist() == [5, (1 << 20) + 5, (2 << 20) + 7]
    assert decision_numbers(state, np.array([2, 0])).tolist() == [(2 << 20) + 7, 5]
