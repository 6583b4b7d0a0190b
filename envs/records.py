"""Records: one hand per line of JSON, in the notation of docs/formats.md; make, read, verify.

A record is checked by replaying it on the rules engine: it passes only if it is a possible hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from lupai.envs.cards import shorten
from lupai.envs.deals import MAX_VOIDS
from lupai.envs.errors import LupaiError, RecordError
from lupai.envs.game import GAMES, Game, engine_class, make_game

FORMAT: Final = "lupai/1"
META: Final = "lupai"  # our own entry in a record's free ``meta``
META_LAYOUTS: Final = {"action_layout": "actions", "observation_layout": "observation_layout"}

Seat = Annotated[int, Field(ge=0)]


@cache
def _shape(game: str) -> type[BaseModel]:
    """Shape of a game's records; whether one is a possible hand only a replay can tell."""
    fields: dict[str, Any] = {
        "format": Literal["lupai/1"],
        "game": Literal.__getitem__(tuple(GAMES)),
        "rules": dict[str, Any],
        "seed": Annotated[int, Field(ge=0, lt=1 << 64)] | None,
        "start": Seat,
        "hands": list[str],
        "moves": list[str],
        **engine_class(game).record_fields,
        "finish": list[Seat],
        "scores": list[int],
        "redeals": Annotated[int, Field(ge=0, lt=MAX_VOIDS)],
        "players": list[str],
        "meta": dict[str, Any],
    }
    needed: Any = {name: (kind, ...) for name, kind in fields.items()}
    config = ConfigDict(extra="forbid", strict=True)
    shape: type[BaseModel] = create_model("Record", __config__=config, **needed)
    return shape


def make_record(
    engine: Game,
    seed: int | None,
    hands: list[str],
    start: int,
    moves: list[str],
    outcome: dict[str, Any],
    redeals: int,
    players: list[str] | None = None,
    options: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Record with its fields in the order of the format; layout hashes, rules and what else the
    hand was begun with (``options``) go into meta."""
    return {
        "format": FORMAT,
        "game": engine.game,
        "rules": engine.rules.differing(),
        "seed": seed,
        "start": start,
        "hands": list(hands),
        "moves": list(moves),
        **outcome,
        "redeals": redeals,
        "players": list(players) if players is not None else ["unknown"] * engine.seats,
        "meta": {META: provenance(engine) | (options or {})},
    }


def provenance(engine: Game) -> dict[str, str]:
    """Rules string and layout hashes, for records, checkpoints and evaluations."""
    layouts = {key: getattr(engine, name).hash for key, name in META_LAYOUTS.items()}
    return {"rules": str(engine.rules), **layouts}


def dump_record(record: dict[str, Any]) -> str:
    """One line of JSON, without the line end."""
    return json.dumps(record, ensure_ascii=False)


def load_record(line: str) -> dict[str, Any]:
    """Read one line and check the shape of it.

    Raises:
        RecordError: no JSON, a missing, unknown or ill-typed field; names the field.
    """
    try:
        data = json.loads(line, parse_constant=_no_constant, object_pairs_hook=_no_twins)
    except RecursionError:
        raise RecordError("no JSON: nested too deeply") from None
    except ValueError as error:
        raise RecordError(f"no JSON: {error} in {shorten(line.strip())!r}") from None
    if not isinstance(data, dict):
        raise RecordError(f"a record is a JSON object, not {shorten(line.strip())!r}")
    game = data.get("game")
    known = isinstance(game, str) and game in GAMES
    try:
        _shape(game if known else next(iter(GAMES))).model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(p) for p in first["loc"])
        why = first["msg"][0].lower() + first["msg"][1:]
        if first["type"] == "extra_forbidden":
            why = "unknown field"
        elif first["type"] != "missing":
            why += f", not {shorten(repr(first['input']))}"
        raise RecordError(f"field {field!r}: {why}") from None
    return data


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"field {key!r} stands twice")
        out[key] = value
    return out


def verify_record(record: dict[str, Any], engine: Game | None = None) -> list[str]:
    """Replay a record of :func:`load_record`; it must be a possible, finished hand.

    Many records at once are faster in :func:`lupai.envs.verify.verify_records`.

    Args:
        engine: engine to use if it has the record's rules, to spare building one.

    Returns:
        Notes that are no faults (another version's layout hashes).

    Raises:
        RecordError: not a possible hand; names the move number and what was wrong.
    """
    if engine is None or not _plays(engine, record):
        engine = engine_of(record)
    states = replay(record, engine)
    state = next(states)
    notes = check_meta(record, engine)
    check_deal(record, engine)
    for _ in states:  # the same state, move by move
        pass
    if not state.over[0]:
        count = len(record["moves"])
        raise RecordError(f"after {count} moves the hand goes on, seat {state.actor[0]} is asked")
    check_end(record, engine, bool(state.void[0]), engine.outcome(state, 0))
    return notes


def engine_of(record: dict[str, Any]) -> Game:
    """Engine with the rules of a record.

    Raises:
        RecordError: there are no such rules.
    """
    try:
        return make_game(record["game"], record["rules"])
    except LupaiError as error:
        raise RecordError(str(error)) from None


def replay(record: dict[str, Any], engine: Game) -> Iterator[Any]:
    """The table of a record as dealt, then after each of its moves: one state, changed in place.

    Raises:
        RecordError: the deal or a move that cannot be; names the move number.
    """
    try:
        reset: Any = engine.reset_hands
        state = reset(record["hands"], record["start"], **reset_options(record, engine))
    except LupaiError as error:
        raise RecordError(str(error)) from None
    yield state
    for number, move in enumerate(record["moves"], 1):
        try:
            if state.over[0]:
                raise RecordError("the hand is over before this move")
            seat, _, text = move.partition(" ")
            if seat != str(int(state.actor[0])):
                raise RecordError(f"seat {state.actor[0]} is asked")
            action, cards = engine.read_move(state, 0, text)
            engine.step(state, [action], cards=cards[None])
        except LupaiError as error:
            raise RecordError(f"move {number} {shorten(move)!r}: {error}") from None
        yield state


def reset_options(record: dict[str, Any], engine: Game) -> dict[str, Any]:
    """What a hand was begun with beside its deal, from our entry in ``meta``."""
    ours = record["meta"].get(META)
    ours = ours if isinstance(ours, dict) else {}
    return {name: ours[name] for name in engine.reset_options if name in ours}


def check_end(record: dict[str, Any], engine: Game, void: bool, outcome: dict[str, Any]) -> None:
    """Compare the end of a hand with what its record says.

    Raises:
        RecordError: a void deal that would have been dealt anew, or a field that is wrong.
    """
    if void and record["seed"] is not None and record["redeals"] + 1 < MAX_VOIDS:
        raise RecordError("the deal is void, so it would have been dealt anew")
    for field, value in outcome.items():
        if record[field] != value:
            shown = shorten(str(record[field]), 200)
            raise RecordError(f"field {field!r}: {shown}, but the moves give {value}")
    if len(record["players"]) != engine.seats:
        raise RecordError(f"field 'players': {len(record['players'])} names, not {engine.seats}")


def _plays(engine: Game, record: dict[str, Any]) -> bool:
    return bool(engine.game == record["game"] and engine.rules.differing() == record["rules"])


def check_meta(record: dict[str, Any], engine: Game) -> list[str]:
    """Compare our entry in ``meta``, if there is one, with this version."""
    theirs = record["meta"].get(META, {})
    if not isinstance(theirs, dict):
        raise RecordError(f"field 'meta.{META}': not an object")
    mine = provenance(engine)
    rules = theirs.get("rules", mine["rules"])
    if rules != mine["rules"]:
        raise RecordError(
            f"field 'meta.{META}.rules' {shorten(repr(rules))} contradicts 'rules', {mine['rules']}"
        )
    return [
        f"written with {key} {shorten(str(theirs[key]))}, this version has {mine[key]}"
        for key in META_LAYOUTS
        if key in theirs and theirs[key] != mine[key]
    ]


def check_deal(record: dict[str, Any], engine: Game) -> None:
    """With a seed the hands must be the ones it deals, after voids that could have happened."""
    seed, redeals = record["seed"], record["redeals"]
    if seed is None:
        return
    hands, start = engine.dealt_hands(seed, redeals)
    mine = engine.parse_deal(hands, start)
    if start != record["start"]:
        raise RecordError(f"field 'start': {record['start']}, but seed {seed} starts at {start}")
    theirs = engine.parse_deal(record["hands"], record["start"])
    seat = engine.differing_seat(mine, theirs, start)
    if seat is not None:
        raise RecordError(f"field 'hands': seed {seed} deals another hand to seat {seat}")
    check_voids(record, engine)


def check_voids(record: dict[str, Any], engine: Game) -> None:
    """Every deal of its seed before the last one must have been void.

    Raises:
        RecordError: one that could not be.
    """
    seed, options = record["seed"], reset_options(record, engine)
    void: Any = engine.can_be_void  # a game's own options are no part of the protocol
    for redeal in range(record["redeals"]):
        if not void(seed, redeal, **options):
            raise RecordError(f"field 'redeals': deal {redeal} of seed {seed} cannot be void")
