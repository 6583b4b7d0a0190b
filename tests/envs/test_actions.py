"""Action ids: every one of them decodes, encodes, prints and reads back; the layout is pinned."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lupai.envs.baohuang.actions import ACTIONS, CALL, SET, SET_IDENTITY, VERB_ID, VERBS, Move
from lupai.envs.baohuang.sets import PARTS, X_ALONE
from lupai.envs.cards import KIND_TEXTS, RANK_B, RANK_R
from lupai.envs.errors import NotationError
from lupai.envs.sets import ROW_JOKERS

ALL = range(ACTIONS.size)


def test_blocks_in_closed_form() -> None:
    sets = 13 * 16 * 25 + 24
    assert ACTIONS.blocks == (
        ("verb", 17),
        ("call", 52 + 2),
        ("call_open", 52 + 2),
        ("call_secret", 52 + 2),
        ("set", sets),
        ("set_identity", sets + 1),
    )
    assert ACTIONS.size == 17 + 3 * 54 + 5224 + 5225 == 10_628
    assert (CALL, SET, SET_IDENTITY) == (17, 179, 5403)


def test_verbs_are_those_of_the_formats_page() -> None:
    page = (
        "grab decline cede declare silent solo ti niu keep abandon accept refuse oppose open "
        "pass yield claim"
    )
    assert set(VERBS) == set(page.split(" "))
    assert [VERB_ID[verb] for verb in VERBS] == list(range(17))


def test_layout_hash_is_pinned() -> None:
    """Changing it breaks every record, checkpoint and golden that was ever written: never edit the
    number, make a new layout beside the old one."""
    assert ACTIONS.hash == "6f8c1df5631bb651"


def test_layout_hash_sees_every_change() -> None:
    hashes = {ACTIONS.hash}
    for i, (name, count) in enumerate(ACTIONS.blocks):
        for block in ((name + "x", count), (name, count + 1)):
            blocks = (*ACTIONS.blocks[:i], block, *ACTIONS.blocks[i + 1 :])
            hashes.add(dataclasses.replace(ACTIONS, blocks=blocks).hash)
    assert len(hashes) == 1 + 2 * len(ACTIONS.blocks)


@pytest.mark.parametrize("supreme", [False, True])
def test_every_id_decodes_and_encodes(supreme: bool) -> None:
    moves = [ACTIONS.decode(action, supreme=supreme) for action in ALL]
    assert [ACTIONS.encode(move) for move in moves] == list(ALL)
    assert len(set(moves)) == ACTIONS.size
    flagged = [move.cards for move in moves[SET_IDENTITY:]]
    assert all(c is not None and c.x + c.starred == 1 for c in flagged)
    # X alone has no starred twin: a star stands on a card
    assert [c.x for c in flagged if c is not None] == [int(supreme)] * 5224 + [1]


def test_every_id_has_a_text_that_reads_back() -> None:
    seen = set()
    for action in ALL:
        ranks: list[int | None] = [None]
        if SET_IDENTITY <= action < SET_IDENTITY + X_ALONE:
            rank, n, b, r = PARTS[action - SET_IDENTITY].tolist()
            ranks = [rank] * (n > 0) + [RANK_B] * (b > 0) + [RANK_R] * (r > 0)
        for rank in ranks:
            text = ACTIONS.text(action, rank)
            assert ACTIONS.encode(ACTIONS.parse(text)) == action
            assert text.isascii()
            seen.add(text)
    # starred sets have a text for each rank that they hold
    assert len(seen) == SET_IDENTITY + 13 * 16 * (25 + 20 + 20) + 20 + 20 + 1


def test_every_supreme_id_has_a_text_that_reads_back() -> None:
    texts = [ACTIONS.text(action, supreme=True) for action in ALL]
    assert [ACTIONS.encode(ACTIONS.parse(text)) for text in texts] == list(ALL)
    assert len(set(texts)) == ACTIONS.size


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("pass", 0),
        ("yield", 1),
        ("claim", 2),
        ("grab", 3),
        ("call 3s", 17),
        ("call R", 17 + 53),
        ("call 3s open", 17 + 54),
        ("call B secret", 17 + 108 + 52),
        ("play 3", 179),
        ("play 33", 179 + 25),
        ("play 4BR", 179 + 400 + 6),
        ("play R", 179 + 5200),
        ("play BBBBRRRR", 5402),
        ("play 3*", 5403),
        ("play X", 10_627),
    ],
)
def test_some_ids_by_hand(text: str, action: int) -> None:
    assert ACTIONS.encode(ACTIONS.parse(text)) == action


@pytest.mark.parametrize("action", [-1, 10_628, 10**9, -(10**9)])
def test_no_such_id(action: int) -> None:
    with pytest.raises(NotationError, match=r"not in 0 … 10627"):
        ACTIONS.decode(action)


@pytest.mark.parametrize(
    "text",
    ["", " ", "Pass", "pass ", " pass", "call", "call 9", "call 9c*", "call 9c loud", "call 9c ",
     "call  9c", "call 9c open x", "play", "play ", "play 9 9", "play 9c", "grab it", "play  9"],
)  # fmt: skip
def test_unreadable_moves(text: str) -> None:
    with pytest.raises(NotationError):
        ACTIONS.parse(text)


words = st.lists(
    st.sampled_from([*VERBS, "call", "play", "open", "secret", *KIND_TEXTS, "999BR", "9*9", "X"]),
    max_size=4,
).map(" ".join)


@given(st.one_of(st.text(), words))
def test_any_text_is_read_or_a_notation_error(text: str) -> None:
    try:
        move = ACTIONS.parse(text)
    except NotationError:
        return
    assert isinstance(move, Move)
    assert 0 <= ACTIONS.encode(move) < ACTIONS.size


def test_features() -> None:
    """Each row says what its id is, decoded independently of how the table was made."""
    table, names = ACTIONS.features, ACTIONS.feature_names
    assert table.shape == (ACTIONS.size, len(names))
    assert table.dtype == np.float32
    assert not table.flags.writeable
    assert len(set(names)) == len(names)
    assert table.min() == 0
    assert table.max() == 24 / 4  # the size of the largest set without X
    column = {name: table[:, i] for i, name in enumerate(names)}
    kinds = [*(f"verb_{verb}" for verb in VERBS), "call", "call_open", "call_secret", "play"]
    assert (sum(column[name] for name in kinds) == 1).all()
    for action in [*range(SET), *range(SET, ACTIONS.size, 7), ACTIONS.size - 1]:
        move = ACTIONS.decode(action)
        row = {name: float(column[name][action]) for name in names}
        ranks = [name for name in names if name.startswith("rank_") and row[name]]
        if move.cards is not None:
            c = move.cards
            assert row["play"] == 1
            assert ranks == ([f"rank_{c.rank}"] if c.n else [])
            assert row["jokers_only"] == (c.n == 0)
            assert c.rank == ROW_JOKERS or c.n > 0
            assert (row["n"], row["b"], row["r"]) == (c.n / 4, c.b / 4, c.r / 4)
            assert row["identity"] == (c.starred or c.x)
            assert row["size"] == (c.n + c.b + c.r) / 4
        elif move.verb == "call":
            assert row["_".join(filter(None, ("call", move.way)))] == 1
            assert ranks == ([f"rank_{move.kind // 4}"] if move.kind < 52 else [])
            assert (row["b"], row["r"]) == (move.kind == 52, move.kind == 53)
        else:
            assert row[f"verb_{move.verb}"] == 1
            assert sum(row.values()) == 1
    plays = table[SET:]
    assert len(np.unique(plays, axis=0)) == len(plays)
