"""Observations: the layout is pinned, and they say all that a seat knows.

`decoder.py` reads the vector independently; test_hidden.py and test_leaks.py have the other half.
"""

import random

import numpy as np
import pytest

from lupai.envs.baohuang.observation import EVENT_FIELDS, OBSERVATION, OPTION_FIELDS, STATE
from lupai.envs.baohuang.state import PHASE_NAMES, Said
from lupai.envs.layout import Layout
from tests.envs.decoder import (
    OPTION_VALUES,
    PHASES,
    SAID,
    SECTIONS,
    VERBS,
    decode,
    option_numbers,
)
from tests.envs.side_by_side import PRESETS, Rules, hands, views, walk
from tests.oracle.hand import Hand
from tests.oracle.options import options_of
from tests.oracle.random_play import random_rules

# ---- layout


def test_layouts_are_pinned() -> None:
    """Changing a hash makes trained networks unreadable: raise the version and say so."""
    assert (OBSERVATION.size, OBSERVATION.hash) == (1411, "f9430fc11e07643a")
    assert (STATE.size, STATE.hash) == (1635, "58c8dc145b804f19")


def test_layout_is_the_one_of_the_decoder() -> None:
    assert tuple((s.name, *s.shape) for s in OBSERVATION.sections) == SECTIONS
    assert PHASE_NAMES == PHASES
    assert tuple(s.name.lower() for s in Said) == SAID
    assert EVENT_FIELDS[5:24] == VERBS
    assert tuple(OPTION_VALUES) == OPTION_FIELDS


def test_options_of_the_presets() -> None:
    """-1 where an option has no meaning."""
    assert [option_numbers(options_of(preset)) for preset in PRESETS] == [
        [0, 0, 0, 1, 1, 0, 1, -1, -1, -1, -1, -1, 1, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 1],
        [1, -1, 0, -1, -1, -1, 1, 1, 1, 1, 2, 3, 0, 0, 0, 1, 0, 2],
    ]


@pytest.mark.parametrize("layout", [OBSERVATION, STATE], ids=lambda layout: layout.name)
def test_offsets_and_bounds(layout: Layout) -> None:
    at = 0
    for section in layout.sections:
        assert layout.offsets[section.name] == at
        place = layout.slice(section.name)
        assert place == slice(at, at + int(np.prod(section.shape)))
        assert (layout.low[place] == section.low).all()
        assert (layout.high[place] == section.high).all()
        assert section.meaning
        at += section.length
    assert at == layout.size
    assert (np.abs(layout.scale * layout.high) <= 1).all()


# ---- random hands


def see_a_hand(seed: int, rules: Rules) -> None:
    """In every state each seat sees what it knows, and no more."""
    for party, known, _ in walk(seed, rules):
        seen = views(party.engine, party.state)
        assert seen.dtype == np.int8
        assert (OBSERVATION.low <= seen).all()
        assert (seen <= OBSERVATION.high).all()
        for viewer in range(5):
            assert decode(seen[viewer], viewer) == known.of(viewer), viewer


@pytest.mark.parametrize(("seed", "rules"), hands(40, 2))
def test_a_seat_sees_all_that_it_knows(seed: int, rules: Rules) -> None:
    see_a_hand(seed, rules)


@pytest.mark.parametrize("preset", ["shiwei", "weihai"])
def test_a_seat_sees_all_that_it_knows_under_other_presets(preset: str) -> None:
    for seed, rules in hands(20, 1, preset):
        see_a_hand(seed, rules)


def test_a_seat_sees_all_that_it_knows_under_random_options() -> None:
    for seed in range(20):
        see_a_hand(seed, random_rules(random.Random(seed), named_deck=0.05))


@pytest.mark.parametrize("table", [*PRESETS, "random"])
def test_the_state_vector_is_the_table(table: str) -> None:
    some = hands(12, 1, table) if table in PRESETS else []
    some += [(s, random_rules(random.Random(s), 0)) for s in range(12)] if not some else []
    for seed, rules in some:
        for party, _, _ in walk(seed, rules):
            state, hand = party.state, party.hands[0]
            vector = party.engine.state_vector(state)[0]
            assert (STATE.low <= vector).all()
            assert (vector <= STATE.high).all()
            part = STATE.split(vector)
            assert np.array_equal(part["hands"], state.hands[0])
            roles = np.zeros((5, 3), np.int8)
            if hand.emperor is not None:
                roles[:, 2] = 1
                for seat, column in ((hand.emperor, 0), (hand.guard, 1)):
                    if seat is not None:
                        roles[seat] = np.eye(3, dtype=np.int8)[column]
            assert np.array_equal(part["roles"], roles)
            assert part["identity_seat"].tolist() == holders(hand)
            true_solo = "secret" if hand.phase == "offer" else hand.solo
            solo = [int(true_solo == name) for name in ("grab", "open", "secret")]
            assert part["solo"].tolist() == solo
            assert part["marked_b"].tolist() == [int(state.marked_b[0] == s) for s in range(5)]
            own = OBSERVATION.split(party.engine.observe(state, [0])[0])
            for name in [s.name for s in STATE.sections[5:]]:
                assert np.array_equal(own[name], part[name]), name


def holders(hand: Hand) -> list[int]:
    """Who holds an identity card that is no ordinary one, once there are roles."""
    refused = hand.phase == "over" and not hand.void and not hand.finish
    if hand.emperor is None or refused:
        return [0] * 5
    return [int(hand.holds_special(seat)) for seat in range(5)]
