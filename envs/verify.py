"""Many records verified at once: replayed in step on one engine, some hundred tables in a call.

A record passes here only if every move of it is legal with the very cards that it names and its end
is as it says. Whatever does not pass at once goes through :func:`~lupai.envs.records.verify_record`
alone, which has the last word and the message; so a fault at one table disturbs no other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.game import Game
from lupai.envs.reading import Moves
from lupai.envs.records import (
    check_end,
    check_meta,
    check_voids,
    engine_of,
    reset_options,
    verify_record,
)  # fmt: skip

I64 = npt.NDArray[np.int64]
Verdict = list[str] | RecordError


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


def _replay(engine: Game, records: list[dict[str, Any]]) -> list[list[str] | None]:
    """Notes of the records that are possible, finished hands; None where that is not clear."""
    notes: list[list[str] | None] = [None] * len(records)
    moves, places, deals, counts = Moves(engine), [], [], []
    for place, record in enumerate(records):
        try:
            found = check_meta(record, engine)
            if reset_options(record, engine):
                continue
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
    engine: Game, records: list[dict[str, Any]], codes: npt.NDArray[Any], starts: I64
) -> npt.NDArray[np.bool_]:
    """``[N]``: with a seed the hands are the ones that it deals."""
    good = np.ones(len(records), bool)
    seeded = [i for i, record in enumerate(records) if record["seed"] is not None]
    if not seeded:
        return good
    seeds = np.array([records[i]["seed"] for i in seeded], np.uint64)
    redeals = np.array([records[i]["redeals"] for i in seeded])
    mine, start = engine.dealt_codes(seeds, redeals)
    good[seeded] = (start == starts[seeded]) & (mine == codes[seeded]).reshape(len(seeded), -1).all(
        axis=1
    )
    for i in np.flatnonzero(redeals):
        record = records[seeded[i]]
        try:
            check_voids(record, engine)
        except RecordError:
            good[seeded[i]] = False
    return good


def _play(engine: Game, state: Any, moves: Moves, counts: I64) -> npt.NDArray[np.bool_]:
    """Play the records' moves, table by table in step; ``[N]``: every move was possible and the
    hand ended with the last one."""
    seat, action, row, cards, star = moves.numbers()
    star = star[row]
    first = np.cumsum(counts) - counts
    good = np.ones(len(counts), bool)
    on = np.arange(len(counts))
    number = 0
    while (on := on[counts[on] > number]).size:
        at = first[on] + number
        asked = (state.actor[on] == seat[at]) & (action[at] >= 0)
        asked &= star[at] == engine.stars(state, on, action[at])
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
