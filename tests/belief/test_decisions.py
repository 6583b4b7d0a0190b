"""Which decisions count, for whom, and what their views hold."""

from collections import Counter

import numpy as np
import pytest

from lupai.agents.belief import BeliefError, PublicLog, candidates, hand_views
from lupai.agents.belief.base import ALONE
from lupai.envs.records import replay
from lupai.envs.view import Views
from lupai.train.belief.decisions import OBSERVERS
from lupai.train.belief.splits import SPLITS, deal_hash, split_of
from tests.belief.hands import RULES, decisions


@pytest.mark.parametrize("rules", RULES)
def test_decisions_are_those_with_a_hidden_role(rules):
    """By the plain replay of each record, and its roles."""
    found = decisions(rules)
    expected = []
    for hand, record in enumerate(found.records):
        guard, solo = record["roles"]["guard"], record["roles"]["solo"]
        states = [state.copy() for state in replay(record, found.engine)]
        for number, state in enumerate(states[:-1]):
            hidden = int(state.emperor[0]) >= 0 and not state.public[0]
            if hidden and (guard is not None or solo == "secret"):
                expected.append((hand, number, ALONE if guard is None else guard))
        assert found.ends_public[hand] == (bool(states[-1].public[0]) and found.rebel[hand] >= 0)
    moves = found.state.moves
    assert list(zip(found.hand, moves, found.label, strict=True)) == expected
    assert (np.diff(found.hand) >= 0).all()


@pytest.mark.parametrize("rules", RULES)
def test_observers_do_not_know_and_are_who_they_are(rules):
    found = decisions(rules)
    for observer in OBSERVERS:
        rows, views = found.rows(observer), found.views(observer)
        label, seats = found.label[rows], np.asarray(views.seats)
        emperor = views.state.emperor
        assert (views.state.guard == -1).all()
        assert (views.state.solo == 0).all()
        if observer == "rebel":
            assert ((seats != emperor) & (seats != label) & (seats >= 0)).all()
            for hand in np.unique(found.hand):
                assert len(set(seats[found.hand == hand])) == 1
        elif observer == "emperor":
            assert (seats == emperor).all()
            assert (label != ALONE).all()
        else:
            assert (seats == -1).all()
        assert candidates(views)[np.arange(len(rows)), label].all()
        assert ((views.grounded > 0) <= candidates(views)).all()


def test_histories_are_what_was_public_until_then():
    found = decisions("weihai")
    views = found.views("spectator")
    for row in range(0, len(views), 37):
        record = found.records[found.hand[row]]
        public = [move.removesuffix(" secret") for move in record["moves"]]
        assert list(views.histories[row]) == public[: views.counts[row]]
        assert views[row].history == tuple(public[: views.counts[row]])


@pytest.mark.parametrize("rules", RULES)
def test_a_log_read_from_texts_is_the_same(rules):
    views = decisions(rules).views("rebel")
    rows = np.arange(0, len(views), 53)
    some = views.take(rows)
    texts = [some.histories[i] for i in range(len(some))]
    read = hand_views(Views(views.engine, views.state, some.seats, rows, texts))
    for i in range(len(rows)):
        count = some.counts[i]
        assert read.counts[i] == count
        for name in ("seats", "actions"):
            mine, theirs = getattr(read.log, name)[i], getattr(some.log, name)[some.hand[i]]
            assert (mine[:count] == theirs[:count]).all()
            assert (mine[count:] == -1).all()


def test_views_without_a_history_are_refused():
    views = decisions("qingdao").views("rebel")
    with pytest.raises(BeliefError, match="without histories"):
        hand_views(Views(views.engine, views.state, views.seats))


def test_the_log_ends_with_the_last_decision():
    """Nobody can look up how it was revealed."""
    found = decisions("qingdao")
    lengths = (found.log.seats >= 0).sum(axis=1)
    last = np.zeros(len(lengths), int)
    np.maximum.at(last, found.hand, found.state.moves)
    assert (lengths == last).all()
    more = (found.whole.seats >= 0).sum(axis=1)
    assert (more == last + (found.rebel >= 0)).all()


def test_until_cuts_views_and_log():
    views = decisions("qingdao").views("emperor")
    half = views.until(60)
    assert (half.counts <= 60).all()
    assert len(half) == (views.counts <= 60).sum()
    assert half.log.seats.shape[1] == 60
    assert PublicLog(views.log.seats, views.log.actions).cut([3] * len(views.log)).seats.shape == (
        len(views.log),
        3,
    )


# --- splits -------------------------------------------------------------------------------------


def test_splits_are_fixed_for_all_time():
    """Golden: another hash would move deals that were trained on into the test."""
    record = {"start": 2, "hands": ["3s 3h R*", "4s", "5s", "6s", "7s"]}
    deal = deal_hash(record)
    assert deal == deal_hash(record | {"hands": ["R* 3h 3s", "4s", "5s", "6s", "7s"]})
    assert deal != deal_hash(record | {"start": 3})
    assert deal[:16] == GOLDEN
    count = Counter(split_of(f"{i * 7919 % 65536:04x}" + "0" * 60) for i in range(65536))
    for name, share in SPLITS.items():
        assert abs(count[name] / 65536 - share / 100) < 1e-3


GOLDEN = "57c18671bc182c93"
