"""Observations: the layout is pinned, and they say all that a seat knows.

`decoder.py` reads the vector independently; test_hidden.py and test_leaks.py have the other half.
"""

import numpy as np
import pytest

from lupai.envs.baohuang.observation import EVENT_FIELDS, OBSERVATION, OPTION_FIELDS, STATE
from lupai.envs.baohuang.state import PHASE_NAMES, Said
from lupai.envs.layout import Layout
from tests.envs.decoder import OPTIONS, PHASES, SAID, SECTIONS, VERBS, decode
from tests.envs.side_by_side import hands, views, walk

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
    assert len(OPTION_FIELDS) == len(OPTIONS)


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


@pytest.mark.parametrize(("seed", "deck"), hands(40, 2))
def test_a_seat_sees_all_that_it_knows(seed: int, deck: list[str] | None) -> None:
    for party, known, _ in walk(seed, deck):
        seen = views(party.engine, party.state)
        assert seen.dtype == np.int8
        assert (OBSERVATION.low <= seen).all()
        assert (seen <= OBSERVATION.high).all()
        for viewer in range(5):
            assert decode(seen[viewer], viewer) == known.of(viewer), viewer


def test_the_state_vector_is_the_table() -> None:
    for seed, deck in hands(12, 1):
        for party, _, _ in walk(seed, deck):
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
            holder = [int(hand.holds_hidden(seat)) for seat in range(5)]
            assert part["identity_seat"].tolist() == holder
            solo = [int(hand.solo == name) for name in ("grab", "open", "secret")]
            assert part["solo"].tolist() == solo
            own = OBSERVATION.split(party.engine.observe(state, [0])[0])
            for name in [s.name for s in STATE.sections[5:]]:
                assert np.array_equal(own[name], part[name]), name
