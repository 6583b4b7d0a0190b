"""Deals (rules/baohuang.md §2) and records (formats.md)."""

from collections import Counter
from typing import Any

from .hand import Hand
from .options import deck_of, options_of
from .sets import OracleError, parse_cards

RECORD_FIELDS = {
    "format", "game", "rules", "seed", "start", "hands", "moves", "roles",
    "finish", "scores", "redeals", "players", "meta",
}  # fmt: skip


def deal_sizes(total: int, start: int) -> list[int]:
    """Hand sizes when `total` cards are dealt one at a time from `start` (§2)."""
    sizes = [0] * 5
    for card in range(total):
        sizes[(start + card) % 5] += 1
    return sizes


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_shape(record: dict[str, Any]) -> None:
    """Fields and types of a record."""
    if set(record) != RECORD_FIELDS:
        missing, unknown = RECORD_FIELDS - set(record), set(record) - RECORD_FIELDS
        raise OracleError(f"record fields: missing {sorted(missing)}, unknown {sorted(unknown)}")
    if record["format"] != "lupai/1" or record["game"] != "baohuang":
        raise OracleError(f"format {record['format']!r}, game {record['game']!r}")
    rules = record["rules"]
    if not isinstance(rules, dict) or "preset" not in rules:
        raise OracleError(f"rules {rules!r}: a preset and the options that differ from it")
    options_of(rules)
    if record["seed"] is not None and not _is_int(record["seed"]):
        raise OracleError(f"seed {record['seed']!r}")
    if not _is_int(record["start"]) or record["start"] not in range(5):
        raise OracleError(f"start {record['start']!r}")
    if not _is_int(record["redeals"]) or record["redeals"] < 0:
        raise OracleError(f"redeals {record['redeals']!r}")
    for field, size in (("hands", 5), ("players", 5), ("moves", None)):
        value = record[field]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise OracleError(f"{field} is not a list of texts")
        if size is not None and len(value) != size:
            raise OracleError(f"{field} has {len(value)} entries")
    if not isinstance(record["meta"], dict):
        raise OracleError("meta is not an object")


def _check_deal(record: dict[str, Any], hands: list[list[str]]) -> None:
    cards = Counter(deck_of(record["rules"]))
    dealt = Counter(card for hand in hands for card in hand)
    if dealt != cards:
        extra, missing = dealt - cards, cards - dealt
        raise OracleError(f"hands are not the deck: extra {dict(extra)}, missing {dict(missing)}")
    sizes = [len(hand) for hand in hands]
    if sizes != deal_sizes(cards.total(), record["start"]):
        raise OracleError(f"hand sizes {sizes} do not fit start seat {record['start']}")


def play_record(record: dict[str, Any]) -> Hand:
    """Replay a record; raises OracleError when it is not a possible hand."""
    _check_shape(record)
    hands = [parse_cards(text) for text in record["hands"]]
    _check_deal(record, hands)
    hand = Hand(hands, record["start"], record["rules"])
    for number, move in enumerate(record["moves"]):
        try:
            hand.apply_record_move(move)
        except OracleError as error:
            raise OracleError(f"move {number}: {error}") from None
    if hand.phase != "over":
        raise OracleError(f"the record stops in phase {hand.phase}, seat {hand.seat} is asked")
    roles = {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo}
    for field, value in (("roles", roles), ("finish", hand.finish), ("scores", hand.scores)):
        if record[field] != value:
            raise OracleError(f"{field} {record[field]!r}, but the moves give {value!r}")
    return hand
