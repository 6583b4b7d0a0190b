"""Hands played and paid as a sampler does; for tests of the rewards of any game."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import lupai.agents
from lupai.envs.view import Views
from lupai.train.rewards import Rewards
from lupai.train.sampling.payroll import Payroll
from lupai.train.sampling.tables import Tables
from lupai.train.sampling.trajectories import Recorder


def mover(name, engine, seed=0, *, before=0.05):
    """A function from tables to moves: `greedy`'s, or random ones in play; before it a share of
    ``before`` is random."""
    rng = np.random.default_rng(seed)
    agent = lupai.agents.load("greedy")
    play = 1.0 if name == "random" else 0.05

    def move(state, legal):
        ids, offsets = legal.ids()
        chosen = agent.act_batch(Views(engine, state, state.actor)).astype(np.int64)
        # Random all the way, hands are grabbed or ceded away and nobody has a guard.
        share = np.where(state.phase == engine.state_class.PLAY, play, before)
        odd = rng.random(len(state)) < share
        some = ids[rng.integers(offsets[:-1], offsets[1:])]
        return np.where(odd, some, chosen)

    return move


def paid(
    rules,
    kinds,
    play,
    *,
    gamma=1.0,
    c=0.75,
    rounds=(60, 7, 120),
    tables=64,
    game="baohuang",
    before=0.05,
):
    """Play as the sampler does, and pay by each kind.

    Returns:
        for each kind ``{(hand, seat): (rewards, Φ at the decisions)}`` of hands that ended, and
        ``{hand: scores}``.
    """
    table = Tables(rules, "idle", [5], tables, game=game)
    potential = table.game.potential
    kinds = [Rewards(table.engine.rules, kind, 0.1, gamma, c, game) for kind in kinds]
    payrolls = [Payroll(rewards, tables) for rewards in kinds]
    records = [Recorder() for _ in kinds]
    move = mover(play, table.engine, before=before)
    hands, next_hand = np.arange(tables), tables
    scores, parts = {}, [defaultdict(list) for _ in kinds]
    for count in rounds:
        for record in records:
            record.begin(count * tables)
        for _ in range(count):
            seats = table.seats
            phi = potential(table.state, table.engine.rules)[np.arange(tables), seats]
            for payroll, record in zip(payrolls, records, strict=True):
                columns = payroll.columns(table.waiting, seats, table.rows)
                record.add(hand=hands, seat=seats, about=phi, **columns)
            for end in table.step(move(table.state, table.legal)):
                scores[int(hands[end.table])] = end.scores
                for payroll in payrolls:
                    payroll.close(end.table, int(hands[end.table]), end.scores)
                hands[end.table], next_hand = next_hand, next_hand + 1
        for payroll, record, found in zip(payrolls, records, parts, strict=True):
            data = record.finish(payroll.ended)
            payroll.settle(data)
            for i in range(len(data.hands)):
                rows = slice(data.offsets[i], data.offsets[i + 1])
                found[int(data.hands[i]), int(data.seats[i])].append(
                    (data.columns["rewards"][rows], data.columns["about"][rows])
                )
    done = [
        {
            key: tuple(np.concatenate(some) for some in zip(*pieces, strict=True))
            for key, pieces in found.items()
            if key[0] in scores
        }
        for found in parts
    ]
    return done, scores


def check_telescoping(done, scores, gamma):
    """Discounted sum of the shaping = -c Φ(s0): no preference between plays changes.

    Args:
        done: rewards and Φ by hand and seat, of the kind `potential` with c = 0.75.
    """
    shaped = 0
    for (hand, seat), (rewards, phi) in done.items():
        discount = gamma ** np.arange(len(rewards))
        due = discount[-1] * scores[hand][seat] - 0.75 * phi[0]
        assert (discount * rewards).sum() == pytest.approx(0.1 * due, abs=1e-4)
        shaped += np.count_nonzero(rewards) > 1
    assert shaped > 50


def check_payment(done, scores, seats, least):
    """Every kind pays a seat its score in the end: `score` all at once, `placement` whole points
    earlier, `potential` with Φ of the first decision taken off; a hand's rewards sum to zero.

    Args:
        done, scores: of :func:`paid` with the kinds in this order, c = 0.75.
        least: hands in which everybody decided, at least.
    """
    score, placement, shaped = done
    before_the_end, who = 0, defaultdict(set)
    for (hand, seat), (rewards, phi) in shaped.items():
        who[hand].add(seat)
        due = int(scores[hand][seat])
        assert rewards.sum() == pytest.approx(0.1 * (due - 0.75 * phi[0]), abs=1e-4)
        once, _ = score[hand, seat]
        assert once[-1] == np.float32(0.1 * due)
        assert not once[:-1].any()
        # In points these are whole numbers, and so their sum is exact.
        by_place, _ = placement[hand, seat]
        points = np.rint(by_place.astype(np.float64) * 10).astype(int)
        assert np.abs(0.1 * points - by_place).max() < 1e-5
        assert points.sum() == due
        before_the_end += points[:-1].any()
    assert before_the_end > 10
    whole = [hand for hand, some in who.items() if len(some) == seats]
    assert len(whole) > least
    for hand in whole:
        assert abs(sum(placement[hand, seat][0].sum() for seat in range(seats))) < 1e-4
