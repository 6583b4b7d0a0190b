"""`search`: options, the network's inputs and scores against brute force, end games against the
true optimum, repeatable moves, and no leaks."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter

import numpy as np
import pytest

from lupai.agents import registry
from lupai.agents.random_agent import RandomAgent
from lupai.agents.search import Options, SearchAgent, SearchError, files, flat, imagine
from lupai.agents.search import value as values
from lupai.agents.search.network import load_value
from lupai.agents.search.value import expected_scores, features
from lupai.agents.streams import decision_generator
from lupai.agents.tactical import heuristic
from lupai.envs.baohuang.actions import SET_IDENTITY
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.legal import set_of_action
from lupai.envs.baohuang.rules import load_rules
from lupai.envs.baohuang.scoring import final_scores
from lupai.envs.baohuang.sets import PARTS, CardSet, beats
from lupai.envs.baohuang.state import PHASE_OVER, PHASE_PLAY, SEATS, Solo, State
from lupai.envs.seats import NOBODY
from lupai.envs.view import View, Views
from tests.envs.redeal import Story
from tests.envs.side_by_side import play, small
from tests.envs.test_leaks import TABLES, choose, new_env, put_world
from tests.envs.test_leaks import small as with_small_deck
from tests.oracle.random_play import biased_deal

PRESETS = ("qingdao", "shiwei", "weihai")
QUICK = Options(simulations=48, worlds=8, candidates=4)


def tables(rules, count=12, moves=None, seed=0):
    """Tables that are not over, each after a number of random moves."""
    engine, rng = Engine(rules), np.random.default_rng(seed)
    state = engine.reset(np.arange(count) + 1000 * seed)
    stop = rng.integers(0, 120, count) if moves is None else np.full(count, moves)
    agent = RandomAgent(seed)
    while (rows := np.flatnonzero(~state.over & (state.moves < stop))).size:
        views = Views(engine, state, state.actor[rows].astype(int), rows)
        engine.step(state, agent.act_batch(views), rows)
    return engine, state.take(np.flatnonzero(~state.over))


# --- options --------------------------------------------------------------------------------------


def test_options_read_back():
    assert Options.parse(str(QUICK)) == QUICK
    text = "method=tree+milliseconds=50+sure=1.5+trust=0.25+bids=false+belief=tactical"
    options = Options.parse(text)
    assert options.trust == 0.25
    assert (options.method, options.milliseconds, options.bids) == ("tree", 50, False)
    assert Options.parse(str(options)) == options
    assert options.role_belief is heuristic
    assert str(Options()) == ""
    agent = registry.load("search:" + text)
    assert Options.parse(agent.name.removeprefix("search:")) == options
    assert registry.load("search").name == "search"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("simulation=3", "unknown option 'simulation'; did you mean 'simulations'?"),
        ("method=best", "'method' cannot be 'best'; allowed: flat, tree"),
        ("simulations=0", "'simulations' cannot be 0; allowed: whole numbers from 1"),
        ("simulations=2.5", "'simulations' cannot be 2.5"),
        ("simulations=many", "'simulations' cannot be 'many'"),
        ("milliseconds=-1", "'milliseconds' cannot be -1; allowed: numbers"),
        ("exploration=nan", "'exploration' cannot be nan"),
        ("bids=1", "'bids' cannot be '1'; allowed: true, false"),
        ("belief=none", "'belief' cannot be 'none'; allowed: grounded, tactical"),
        ("worlds=8+worlds=9", "'worlds' stands twice"),
        ("worlds=8,sure", "'worlds' cannot be '8,sure'"),
        ("worlds=8+sure", "'sure' is no option=value"),
    ],
)
def test_wrong_options_are_named(text, message):
    with pytest.raises(SearchError) as error:
        registry.load("search:" + text)
    assert message in str(error.value)


# --- the network ----------------------------------------------------------------------------------


def answers_by_hand(state, t, seat):
    """Whether a hand beats the standing set with naturals, and with at least one joker: by trying
    every set that it holds."""
    standing = int(state.standing[t])
    if standing == NOBODY:
        return [False, False]
    rank, n, b, r = (int(x) for x in PARTS[int(set_of_action(np.array(standing)))])
    target = CardSet(rank, n, b, r)
    *own, small, big = (int(x) for x in state.ranks[t, seat])
    found = [False, False]
    for mine, smalls, bigs in itertools.product(range(13), range(small + 1), range(big + 1)):
        for count in range(own[mine] + 1):
            if count + smalls + bigs == 0:
                continue
            answer = CardSet(mine if count else 13, count, smalls, bigs)
            if beats(answer, target):
                found[smalls + bigs > 0] = True
    return found


def features_by_hand(state, t, supreme):
    """The inputs of one table, as `OF_SEAT` and `OF_TABLE` say."""
    out, actor = [], int(state.actor[t])
    bit = lambda mask, seat: int(mask) >> seat & 1  # noqa: E731
    for seat in [(actor + j) % SEATS for j in range(SEATS)]:
        out += [n / 4 for n in state.ranks[t, seat]]
        own = [int(n) for n in state.ranks[t, seat, :13]]
        out += [n >= least for least in (1, 2, 3, 4) for n in own]
        team = {int(state.emperor[t]), int(state.guard[t])}
        others = [other for other in range(SEATS) if other != seat]
        foes = [other for other in others if (other in team) != (seat in team)]
        lead = {}
        for name, against in (("foes", foes), ("others", others)):
            higher = [
                max(
                    (int(state.ranks[t, o, r]) for o in against for r in range(rank + 1, 13)),
                    default=0,
                )
                for rank in range(13)
            ]
            lead[name] = [n - most for n, most in zip(own, higher, strict=True)]
            out += [(more if n else 0) / 4 for n, more in zip(own, lead[name], strict=True)]
        out += [n > 0 and more > 0 for n, more in zip(own, lead["foes"], strict=True)]
        out += [sum(n > 0 for n in own) / 8]
        for name in ("foes", "others"):
            out += [sum(n > 0 and more <= 0 for n, more in zip(own, lead[name], strict=True)) / 8]
        out += answers_by_hand(state, t, seat)
        hides = state.identity_seat[t] == seat
        out += [hides, hides and supreme, state.sizes[t, seat] / 44]
        out += [bit(state.alive[t], seat), state.emperor[t] == seat, state.guard[t] == seat]
        out += [state.places[t, seat] == place for place in range(1, 6)]
        out += [bit(getattr(state, name)[t], seat) for name in ("passed", "yielded", "to_ask")]
        out += [state.owner[t] == seat]
    standing = int(state.standing[t])
    parts = None if standing == NOBODY else PARTS[int(set_of_action(np.array(standing)))]
    row = 14 if parts is None else parts[0]
    out += [row == i for i in range(15)]
    out += [0] * 3 if parts is None else [n / 4 for n in parts[1:]]
    out += [supreme and standing >= SET_IDENTITY, state.circle[t] == 2, state.public[t]]
    out += [state.solo[t] == solo for solo in (Solo.GRAB, Solo.OPEN, Solo.SECRET)]
    return [*map(float, out), state.multiplier[t] / 8]


@pytest.mark.parametrize("rules", PRESETS)
def test_features_by_hand(rules):
    engine, state = tables(rules, 25, seed=1)
    state = state.take(np.flatnonzero(state.phase == PHASE_PLAY))
    assert len(state) > 10
    found = features(state, supreme=engine.rules.supreme)
    assert found.shape == (len(state), values.FEATURES)
    for t in range(len(state)):
        expected = features_by_hand(state, t, engine.rules.supreme)
        np.testing.assert_allclose(found[t], expected, rtol=1e-6)


@pytest.mark.parametrize("rules", PRESETS)
def test_certain_places_give_the_final_scores(rules):
    """All orders of finishing, roles and multipliers."""
    options = load_rules(rules)
    orders = np.array(list(itertools.permutations(range(1, 6))))
    for solo, guard, m in itertools.product(Solo, range(-1, SEATS), (1, 2, 4, 8)):
        emperor = 2
        if (solo == Solo.NONE) == (guard == NOBODY) or guard == emperor:
            continue
        state = State(len(orders))
        state.phase, state.emperor, state.guard = PHASE_OVER, emperor, guard
        state.solo, state.multiplier, state.places = int(solo), m, orders.astype(np.int8)
        chances = np.eye(SEATS)[orders - 1]
        np.testing.assert_array_equal(
            expected_scores(state, chances, options), final_scores(state, options)
        )


@pytest.mark.parametrize("rules", PRESETS)
def test_a_row_depends_on_its_own_table_alone(rules):
    network = load_value("baohuang", load_rules(rules))
    inputs = np.random.default_rng(1).normal(size=(700, values.FEATURES)).astype(np.float32)
    whole = network.places(inputs)
    np.testing.assert_allclose(whole.sum(axis=2), 1, atol=1e-5)
    for start, end in ((0, 1), (5, 6), (1, 700), (300, 333)):
        np.testing.assert_array_equal(network.places(inputs[start:end]), whole[start:end])


@pytest.mark.parametrize("rules", PRESETS)
def test_sums_of_the_network_are_exact(rules):
    """Else other machines, or other numbers of tables, would see other last bits."""
    engine, state = tables(rules, 60, seed=3)
    state = state.take(np.flatnonzero(state.phase == PHASE_PLAY))
    network, x = load_value("baohuang", engine.rules), features(state, supreme=engine.rules.supreme)
    exact = x.astype(np.float64)
    for i, (weights, bias) in enumerate(network.layers):
        exact = np.rint(exact * 64) / 64 @ weights.astype(np.float64) + bias
        exact = exact if i == len(network.layers) - 1 else np.maximum(exact, 0)
    np.testing.assert_array_equal(network._logits(x), exact)


def test_networks_are_for_the_decks_they_know():
    for rules, there in (
        ("qingdao", True), ("qingdao;yield=false;pass_scope=trick", True),
        ("qingdao;guard_card=supreme", False), ("weihai;hold_sixes=false", False),
        ("qingdao;deck=R* 3s 3h 3d 3c 4s 4h 4d 4c 5s", False),
    ):  # fmt: skip
        assert (load_value("baohuang", load_rules(rules)) is not None) == there, rules


def test_network_files_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "value.npz"
    rng = np.random.default_rng(0)
    sizes = (values.FEATURES, 8, 25)
    layers = [
        (rng.normal(size=(a, b)).astype(np.float32), np.zeros(b, np.float32))
        for a, b in itertools.pairwise(sizes)
    ]

    def read(rules):
        return files.read(path, rules, values.LAYOUT, values.FEATURES, 25)

    files.write(path, layers, "qingdao", values.LAYOUT)
    np.testing.assert_allclose(read("qingdao")[0][0], layers[0][0], rtol=1e-3, atol=1e-3)
    with pytest.raises(SearchError, match="made for rules 'qingdao'"):
        read("shiwei")
    files.write(path, layers, "qingdao", [*values.LAYOUT, "one more"])
    with pytest.raises(SearchError, match="make it anew with tools"):
        read("qingdao")
    files.write(path, layers[:1], "qingdao", values.LAYOUT)
    with pytest.raises(
        SearchError, match=f"are no layers from {values.FEATURES} inputs to 25 outputs"
    ):
        read("qingdao")
    np.savez(path, w0=np.zeros(1))
    with pytest.raises(SearchError, match="made for rules 'missing'"):
        read("qingdao")
    path.write_bytes(b"PK nothing")
    with pytest.raises(SearchError, match="unreadable"):
        read("qingdao")


# --- flat search ----------------------------------------------------------------------------------


def test_paired_comparison_by_hand():
    table = np.array([[1.0, 2, 3, 4], [2.0, 2, 2, 6], [0.0, 0, 0, 0]])
    top, gap, error = flat.compare(table, np.ones(4), np.zeros(3))
    assert top == 1
    np.testing.assert_allclose(gap, [0.5, 0, 3])
    delta = table[1] - table[0]
    np.testing.assert_allclose(error[0], delta.std() / 2)
    top, gap, _ = flat.compare(table, np.array([1.0, 1, 6, 0]), np.zeros(3))
    assert top == 0
    np.testing.assert_allclose(gap, [0, 21 / 8 - 16 / 8, 21 / 8])
    top, gap, other = flat.compare(table, np.ones(4), np.array([0.25, 0, 4]))
    assert top == 2
    np.testing.assert_allclose(gap, [4 - 2.75, 4 - 3, 0])
    np.testing.assert_allclose(other[0], table[0].std() / 2)


def test_only_a_fixed_budget_ends_in_small_blocks():
    masked, rng = tables("qingdao", 1)[1], np.random.default_rng(0)
    three = imagine.Decision(masked, 0, np.zeros(3, np.int32), np.zeros(3), np.zeros(3), rng)
    for options, later in (
        (Options(simulations=100, worlds=32), 2),
        (Options(simulations=100, worlds=32, milliseconds=50), 32),
    ):
        race = flat._Race(three, options)
        assert race.next == 32
        race.add(rng.normal(size=(3, 32)), np.zeros(32, np.intp))
        race._plan()
        assert race.next == later


def test_weights_follow_the_belief():
    engine, state = tables("qingdao", 12, moves=16)
    t = int(np.flatnonzero((state.public == 0) & (state.actor != state.guard))[0])
    seat = int(state.actor[t])
    masked = engine.mask_hidden(state, [seat], [t])
    rng = np.random.default_rng(0)
    decision = imagine.Decision(masked, seat, np.zeros(2, np.int32), np.zeros(2), np.zeros(2), rng)
    guard = imagine.guards(imagine.draw(engine, decision, 400))
    np.testing.assert_array_equal(imagine.weights(engine.rules, decision, guard, None), 1)
    chance = heuristic(engine.rules, masked, np.array([seat]))[0]
    weight = imagine.weights(engine.rules, decision, guard, heuristic)
    share = np.bincount(guard, weight, minlength=SEATS + 1) / weight.sum()
    there = np.isin(np.arange(SEATS + 1), guard)
    np.testing.assert_allclose(share, np.where(there, chance, 0) / chance[there].sum())


# --- repeatable moves -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "options"),
    [
        ("qingdao", QUICK),
        ("weihai", QUICK),
        ("qingdao", Options(simulations=24, worlds=8, horizon="trick", policy="random")),
        ("shiwei", Options(simulations=32, worlds=8, method="tree")),
        ("qingdao;guard_by=marked_small_joker", Options(simulations=64, candidates=3)),
    ],
)
def test_moves_depend_on_view_seed_and_lane_alone(rules, options):
    engine, state = tables(rules, 9)
    views = Views(engine, state, state.actor.astype(int))
    lanes = np.arange(len(state)) + 5
    agent = SearchAgent(options, seed=3)
    together = agent.act_lanes(views, lanes)
    assert views.legal.contains(together).all()
    order = np.random.default_rng(0).permutation(len(state))[:5]
    other = SearchAgent(options)
    other.reset(3)
    some = Views(engine, state.take(order), state.actor[order].astype(int))
    np.testing.assert_array_equal(other.act_lanes(some, lanes[order]), together[order])
    alone = [view.action_of(agent.act(view)) for view in some]
    np.testing.assert_array_equal(agent.act_batch(some), alone)


def test_other_seeds_and_lanes_see_other_worlds():
    engine, state = tables("qingdao", 2, moves=90)
    views = Views(engine, state, state.actor.astype(int))
    seen = []
    for seed, lane, moves in ((0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)):
        rng = decision_generator(seed, lane, 0, moves)
        seen.append(views[0].determinize(3, rng).hands.tobytes())
    assert len(set(seen)) == 4


def test_milliseconds_end_in_time():
    engine, state = tables("qingdao", 3, moves=60)
    for method in ("flat", "tree"):
        agent = SearchAgent(Options(milliseconds=40, method=method, worlds=8), seed=1)
        views = Views(engine, state, state.actor.astype(int))
        start = time.perf_counter()
        assert views.legal.contains(agent.act_batch(views)).all()
        assert time.perf_counter() - start < 10  # 0.2 s on an idle core


# --- end games --------------------------------------------------------------------------------


def optimum(engine, state, known):
    """Scores of all seats from a table of one if everybody knows all and plays best."""
    if state.over[0]:
        return engine.scores(state)[0]
    position = state.copy()
    position.moves, position.recent[:] = 0, 0
    key = position.numbers.tobytes() + position.ranks.tobytes() + position.places.tobytes()
    if key not in known:
        actor = int(state.actor[0])
        ids, _ = engine.legal(state).ids()
        after = state.take(np.zeros(len(ids), int))
        engine.step(after, ids)
        every = [optimum(engine, after.take([i]), known) for i in range(len(ids))]
        known[key] = max(every, key=lambda scores: scores[actor])
    return known[key]


def duels(count, cards=7):
    """Ends of hands in which two players are left, so that each knows the other's cards, and a
    move that is best and one that is not."""
    rng = np.random.default_rng(5)
    deck = "R* R B" + "".join(f" {kind}" * 4 for kind in ("3s", "5h", "7c", "9d", "Js"))
    engine = Engine(f"qingdao;grab=false;yield=false;claim=false;deck={deck}")
    state, found = engine.reset(np.arange(400)), []
    while (rows := np.flatnonzero(~state.over)).size and len(found) < count:
        ids, offsets = engine.legal(state, rows).ids()
        left = np.array([int(alive).bit_count() for alive in state.alive[rows]])
        ends = (left == 2) & (np.diff(offsets) > 1) & (state.sizes[rows].sum(axis=1) <= cards)
        for i in np.flatnonzero(ends & (state.phase[rows] == PHASE_PLAY))[: count - len(found)]:
            table, moves = state.take([rows[i]]), ids[offsets[i] : offsets[i + 1]]
            after, known = table.take(np.zeros(len(moves), int)), {}
            engine.step(after, moves)
            actor = int(table.actor[0])
            worth = [int(optimum(engine, after.take([j]), known)[actor]) for j in range(len(moves))]
            if min(worth) < max(worth):
                found.append((engine, table, dict(zip(moves.tolist(), worth, strict=True))))
        engine.step(state, ids[rng.integers(offsets[:-1], offsets[1:])], rows)
    assert len(found) == count
    return found


def regret(agent, games):
    """Points lost over all games against the true optimum."""
    lost = []
    for engine, state, worth in games:
        view = View.of(engine, state, int(state.actor[0]))
        lost.append(max(worth.values()) - worth[view.action_of(agent.act(view))])
    return np.array(lost)


def test_end_games_reach_the_optimum():
    games = duels(20)
    tree = SearchAgent(Options(method="tree", simulations=800, worlds=8, depth=24), seed=1)
    rollouts = SearchAgent(Options(simulations=256, worlds=4), seed=1)
    blind = regret(RandomAgent(1), games)
    assert blind.sum() > 0
    assert regret(tree, games).sum() == 0
    assert regret(rollouts, games).sum() <= blind.sum() / 4


# --- hidden means hidden --------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
def test_moves_do_not_depend_on_what_is_hidden(table):
    """The same decision in the true deal and with the hidden cards dealt anew."""
    rng, rules, count = random.Random(5), TABLES[table], Counter()
    agents = [
        SearchAgent(Options(simulations=16, worlds=4, candidates=3, method=method), seed=2)
        for method in ("flat", "tree")
    ]
    for every, own in [(60, rules)] + [(3, with_small_deck(rng, rules)) for _ in range(3)]:
        hands, start = biased_deal(rng, rules=own)
        env, other = new_env(own, hands, start), new_env(own, hands, start)
        story = Story(own, hands, start)
        while not env.terminations["player_0"]:
            viewer = int(env._state.actor[0])
            if len(env.legal_moves()) > 1 and rng.randrange(every) == 0:
                agent = rng.choice(agents)
                move = agent.act(env.view(f"player_{viewer}"))
                world = story.redeal(viewer, rng)
                if world is not None:
                    other._state = env._state.copy()
                    put_world(other, world, rng)
                    assert agent.act(other.view(f"player_{viewer}")) == move
                    now = world.hand
                    count["worlds"] += now.hands != story.hand.hands
                    count["roles"] += (story.hand.guard, story.hand.solo) != (now.guard, now.solo)
            env.step(env.action_of(choose(env.legal_moves(), rng)))
            if env._log.moves:
                story.tell(env._log.moves[-1])
    assert count["worlds"] > 3


# --- evident moves -----------------------------------------------------------------------------


def test_plays_a_sure_win():
    engine, state = small("R* 3c 3d 4c", "B 9h 9d 9s", "Ks Kh Kd Kc", "As Ah Ad Ac", "2s 2h 2d 2c")
    play(engine, state, "0 grab")
    view = View.of(engine, state, 0)
    assert SearchAgent(seed=1).act(view) in ("play 33R", "play 4R")
