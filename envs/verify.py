"""Many records verified at once: replayed in step on one engine, some hundred tables in a call.

A record passes here only if every move of it is legal with the very cards that it names and its end
is as it says. Whatever does not pass at once goes through :func:`~lupai.envs.records.verify_record`
alone, which has the last word and the message; so a fault at one table disturbs no other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.actions import ACTIONS, SET, SET_IDENTITY
from lupai.envs.baohuang.sets import set_id
from lupai.envs.cards import KIND_B, KIND_R, KIND_TEXTS, NATURAL_RANKS, NUM_KINDS
from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.game import Game
from lupai.envs.records import (
    check_end,
    check_meta,
    check_voids,
    engine_of,
    verify_record,
)  # fmt: skip
from lupai.envs.seats import NOBODY
from lupai.envs.sets import MAX_JOKERS, MAX_NATURALS, ROW_JOKERS

I64 = npt.NDArray[np.int64]
Verdict = list[str] | RecordError

MOVE: Final = 1 << 16
_SAID: Final = {  # seat * MOVE + action id
    f"{seat} {ACTIONS.text(action)}": seat * MOVE + action
    for seat in range(10)
    for action in range(SET)
}
_PLAYS: Final = {f"{seat} play ": seat * MOVE + SET for seat in range(10)}
_CARDS: Final = {
    text + star: 2 * kind + (star == "*")
    for kind, text in enumerate(KIND_TEXTS)
    for star in ("", "*")
}


def verify_records(records: Sequence[dict[str, Any]]) -> list[Verdict]:
    """What :func:`verify_record` says of each record of :func:`load_record`.

    Returns:
        For each record its notes, or the error.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault((record["game"], json.dumps(record["rules"])), []).append(place)
    out: list[Verdict] = [[] for _ in records]
    for (game, rules), places in groups.items():
        some = [records[place] for place in places]
        engine = _engine(game, rules)
        notes = [None] * len(some) if engine is None else _replay(engine, some)
        for place, record, found in zip(places, some, notes, strict=True):
            out[place] = _alone(record, engine) if found is None else found
    return out


def _alone(record: dict[str, Any], engine: Game | None) -> Verdict:
    try:
        return verify_record(record, engine)
    except RecordError as error:
        return error


@lru_cache(maxsize=16)
def _engine(game: str, rules: str) -> Game | None:
    try:
        return engine_of({"game": game, "rules": json.loads(rules)})
    except RecordError:
        return None


class Moves:
    """Moves of many records, read as far as text alone tells.

    Attributes:
        said: of each move its number in :data:`_SAID`, or in :data:`_PLAYS` by its seat.
        codes: numbers in :data:`_CARDS` of all cards played.
        lengths: of each play its number of cards; the first, without any, is nobody's.
    """

    def __init__(self) -> None:
        self.said: list[int] = []
        self.codes: list[int] = []
        self.lengths: list[int] = [0]

    def add(self, moves: list[str]) -> None:
        """Read the moves of one record.

        Raises:
            KeyError: a move that is written in no usual way; nothing has been added.
        """
        said, codes, lengths = [], [], []
        for move in moves:
            number = _SAID.get(move)
            if number is None:
                number = _PLAYS[move[:7]]
                cards = [_CARDS[card] for card in move[7:].split(" ")]
                codes += cards
                lengths.append(len(cards))
            said.append(number)
        self.said += said
        self.codes += codes
        self.lengths += lengths


def read_sets(
    codes: list[int], lengths: list[int], supreme: bool
) -> tuple[I64, I64, npt.NDArray[np.int8]]:
    """Action ids ``[P]`` of played cards (-1: no set), kinds of their stars ``[P]`` (-1: none), and
    the cards ``[P, 54] int8``."""
    total = len(lengths)
    play = np.repeat(np.arange(total), lengths)
    kind, starred = np.divmod(np.array(codes, dtype=np.int64), 2)
    star = np.full(total, NOBODY, np.int64)
    marked = starred == 1
    star[play[marked]] = kind[marked]
    flagged = np.bincount(play[marked], minlength=total)
    size = total * NUM_KINDS
    cards = np.bincount(play * NUM_KINDS + kind, minlength=size).reshape(total, NUM_KINDS)
    ranked = cards
    if supreme:  # the starred card is X, whatever else it is
        plain = ~marked
        ranked = np.bincount((play * NUM_KINDS + kind)[plain], minlength=size)
        ranked = ranked.reshape(total, NUM_KINDS)
    naturals = ranked[:, :KIND_B].reshape(total, NATURAL_RANKS, 4).sum(axis=2)
    b, r, n = ranked[:, KIND_B], ranked[:, KIND_R], naturals.sum(axis=1)
    good = ((naturals > 0).sum(axis=1) <= 1) & (n <= MAX_NATURALS) & (flagged <= 1)
    good &= (b <= MAX_JOKERS) & (r <= MAX_JOKERS) & ((n + b + r + flagged) > 0)
    rank = np.where(n > 0, naturals.argmax(axis=1), ROW_JOKERS)
    ids = set_id(rank, n, b, r) + np.where(flagged > 0, SET_IDENTITY, SET)
    return np.where(good, ids, NOBODY), star, np.minimum(cards, 100).astype(np.int8)


def _replay(engine: Game, records: list[dict[str, Any]]) -> list[list[str] | None]:
    """Notes of the records that are possible, finished hands; None where that is not clear."""
    notes: list[list[str] | None] = [None] * len(records)
    moves, places, deals, counts = Moves(), [], [], []
    for place, record in enumerate(records):
        try:
            found = check_meta(record, engine)
            deal = engine.parse_deal(record["hands"], record["start"])
            moves.add(record["moves"])
        except (LupaiError, KeyError):
            continue
        notes[place] = found
        places.append(place)
        deals.append(deal)
        counts.append(len(record["moves"]))
    if not places:
        return notes
    some = [records[place] for place in places]
    codes, starts = np.array(deals), np.array([record["start"] for record in some])
    good = _as_dealt(engine, some, codes, starts)
    state = engine.reset_deals(codes, starts)
    good &= _play(engine, state, moves, np.array(counts))
    outcomes, void = engine.outcomes(state), state.void.tolist()
    for i, place in enumerate(places):
        try:
            if not good[i]:
                raise RecordError("somewhere")
            check_end(some[i], engine, bool(void[i]), outcomes[i])
        except RecordError:
            notes[place] = None
    return notes


def _as_dealt(
    engine: Game, records: list[dict[str, Any]], codes: npt.NDArray[np.int8], starts: I64
) -> npt.NDArray[np.bool_]:
    """``[N]``: with a seed the hands are the ones that it deals."""
    good = np.ones(len(records), bool)
    seeded = [i for i, record in enumerate(records) if record["seed"] is not None]
    if not seeded:
        return good
    seeds = np.array([records[i]["seed"] for i in seeded], np.uint64)
    redeals = np.array([records[i]["redeals"] for i in seeded])
    mine, start = engine.dealt_codes(seeds, redeals)
    good[seeded] = (start == starts[seeded]) & (mine == codes[seeded]).all(axis=(1, 2))
    for i in np.flatnonzero(redeals):
        record = records[seeded[i]]
        try:
            check_voids(record["seed"], record["redeals"], engine)
        except RecordError:
            good[seeded[i]] = False
    return good


def _play(engine: Game, state: Any, moves: Moves, counts: I64) -> npt.NDArray[np.bool_]:
    """Play the records' moves, table by table in step; ``[N]``: every move was possible and the
    hand ended with the last one."""
    supreme = bool(engine.rules.supreme)
    sets, star, cards = read_sets(moves.codes, moves.lengths, supreme)
    seat, action = np.divmod(np.array(moves.said, np.int64), MOVE)
    plays = action == SET  # the cards say which
    row = np.where(plays, np.cumsum(plays), 0)
    action = np.where(plays, sets[row], action)
    star = star[row]
    first = np.cumsum(counts) - counts
    good = np.ones(len(counts), bool)
    on = np.arange(len(counts))
    number = 0
    while (on := on[counts[on] > number]).size:
        at = first[on] + number
        asked = (state.actor[on] == seat[at]) & (action[at] >= 0)
        asked &= (star[at] < 0) | (star[at] == state.identity_kind[on])
        good[on[~asked]] = False
        on, at = on[asked], at[asked]
        if not on.size:
            break
        legal = engine.legal(state, on)
        taken = cards[row[at]]
        fits = legal.contains(action[at]) & engine.holds(state, action[at], on, taken)
        if not fits.all():
            good[on[~fits]] = False
            on, at, taken, legal = on[fits], at[fits], taken[fits], legal.take(np.flatnonzero(fits))
        engine.step(state, action[at], on, cards=taken, legal=legal)
        number += 1
    done: npt.NDArray[np.bool_] = good & state.over
    return done
