"""Action ids of Gouji: every one decodes, encodes, prints and reads back; the layout is pinned."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.errors import NotationError
from lupai.envs.gouji.actions import ACTIONS, OFFER, SET, VERB_ID, VERBS, Move

# every word and offer; of the sets, whose texts test_sets.py reads back one and all, many
MANY = [*range(SET), *range(SET, ACTIONS.size, 11), *range(81_600, ACTIONS.size)]


def test_blocks_in_closed_form() -> None:
    assert ACTIONS.blocks == (("verb", 7), ("offer", 15), ("set", 82_024))
    assert (OFFER, SET, ACTIONS.size) == (7, 22, 82_046)
    assert VERBS == ("pass", "yield", "silent", "revolt", "waive", "take", "refuse")
    assert [VERB_ID[verb] for verb in VERBS] == list(range(7))


def test_layout_hash_is_pinned() -> None:
    """Changing it breaks every record, checkpoint and golden that was ever written: never edit the
    number, make a new layout beside the old one."""
    assert ACTIONS.hash == "61476984ec899029"


def test_layout_hash_sees_every_change() -> None:
    hashes = {ACTIONS.hash}
    for i, (name, count) in enumerate(ACTIONS.blocks):
        for block in ((name + "x", count), (name, count + 1)):
            blocks = (*ACTIONS.blocks[:i], block, *ACTIONS.blocks[i + 1 :])
            hashes.add(dataclasses.replace(ACTIONS, blocks=blocks).hash)
    assert len(hashes) == 1 + 2 * len(ACTIONS.blocks)


def test_ids_decode_and_encode_print_and_read_back() -> None:
    moves = [ACTIONS.decode(action) for action in MANY]
    assert [ACTIONS.encode(move) for move in moves] == MANY
    texts = [ACTIONS.text(action) for action in MANY]
    assert len(set(texts)) == len(set(MANY))
    assert [ACTIONS.parse(text) for text in texts] == moves


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("pass", 0),
        ("yield", 1),
        ("refuse", 6),
        ("offer 3", 7),
        ("offer 2", 19),
        ("offer R", 21),
        ("play 3", 22),
        ("play 3R", 23),
        ("play 32", 22 + 25),
        ("play 33", 22 + 17 * 25),
        ("play 4B", 22 + 16 * 17 * 25 + 5),
        ("play KK2B", 22 + ((10 * 16 + 1) * 17 + 1) * 25 + 5),
        ("play 2", 22 + 81_600),
        ("play 22B", 22 + 81_600 + 25 + 5),
        ("play R", 22 + 82_000),
        ("play BBBBRRRR", 82_045),
    ],
)
def test_some_ids_by_hand(text: str, action: int) -> None:
    assert ACTIONS.encode(ACTIONS.parse(text)) == action
    assert ACTIONS.text(action) == text


@pytest.mark.parametrize("action", [-1, 82_046, 10**9, -(10**9)])
def test_no_such_id(action: int) -> None:
    with pytest.raises(NotationError, match=r"not in 0 … 82045"):
        ACTIONS.decode(action)


@pytest.mark.parametrize(
    "text",
    ["", " ", "Pass", "pass ", " pass", "claim", "offer", "offer 9c", "offer X", "offer 33",
     "offer ", "offer 3 3", "play", "play ", "play 9 9", "play 9c", "take it", "play  9"],
)  # fmt: skip
def test_unreadable_moves(text: str) -> None:
    with pytest.raises(NotationError):
        ACTIONS.parse(text)


words = st.lists(
    st.sampled_from([*VERBS, "offer", "play", "K", "R", "3B", "KK2B", "22", "X"]), max_size=3
).map(" ".join)


@given(st.one_of(st.text(), words))
def test_any_text_is_read_or_a_notation_error(text: str) -> None:
    try:
        move = ACTIONS.parse(text)
    except NotationError:
        return
    assert isinstance(move, Move)
    assert ACTIONS.text(ACTIONS.encode(move)) == text


def test_features() -> None:
    """Each row says what its id is, decoded independently of how the table was made."""
    table, names = ACTIONS.features, ACTIONS.feature_names
    assert table.shape == (ACTIONS.size, len(names))
    assert table.dtype == np.float32
    assert not table.flags.writeable
    assert len(set(names)) == len(names)
    least = {"2": 1, "A": 2, "K": 2, "Q": 3, "J": 4, "T": 5}
    for action in MANY[::3] + MANY[:30]:
        move = ACTIONS.decode(action)
        row = {n: float(v) for n, v in zip(names, table[action], strict=True) if v}
        expected = {f"verb_{move.verb}": 1.0}
        if move.verb == "offer":
            expected = {"offer": 1.0, f"rank_{move.rank}": 1.0}
        elif move.cards is not None:
            c = move.cards
            counts = {"n": c.n, "t": c.t, "b": c.b, "r": c.r, "size": c.size}
            text = c.text
            gouji = "B" in text or "R" in text or len(text) >= least.get(text[0], 99)
            expected = {
                "play": 1.0,
                f"rank_{c.row}" if c.row < 13 else "jokers_only": 1.0,
                **{name: count / 4 for name, count in counts.items() if count},
                **({"gouji": 1.0} if gouji else {}),
                **({"dead": 1.0} if "R" in text else {}),
            }
        assert row == expected
    keys = table @ np.random.default_rng(0).random(len(names))  # equal rows have equal keys
    assert len(np.unique(keys)) == len(table)
