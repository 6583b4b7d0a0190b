"""The options of rules/baohuang.md §7, and the decks that they name (§2)."""

from typing import Any

from .sets import OracleError, full_deck, parse_cards, plain, weihai_deck

OPTIONS = (
    "deck", "roles_by", "guard_by", "guard_card", "grab", "forced_call", "tribute_on_cede",
    "declare", "open_solo", "oppose", "doubling", "votes_needed", "abandon_penalty", "yield",
    "claim", "pass_scope", "hold_sixes", "three_twos_beat_big", "end",
)  # fmt: skip

# The table of §7, column by column.
PRESETS: dict[str, dict[str, Any]] = {
    "qingdao": {
        "deck": "full216",
        "roles_by": "called_card",
        "guard_by": "called_card",
        "guard_card": "ordinary",
        "grab": True,
        "forced_call": True,
        "tribute_on_cede": False,
        "declare": True,
        "yield": True,
        "claim": True,
        "pass_scope": "set",
        "hold_sixes": False,
        "three_twos_beat_big": False,
        "end": "last_player",
    },
    "shiwei": {
        "deck": "full216",
        "roles_by": "called_card",
        "guard_by": "called_card",
        "guard_card": "supreme",
        "grab": True,
        "forced_call": True,
        "tribute_on_cede": True,
        "declare": True,
        "yield": False,
        "claim": False,
        "pass_scope": "set",
        "hold_sixes": False,
        "three_twos_beat_big": False,
        "end": "camp_out",
    },
    "weihai": {
        "deck": "weihai165",
        "roles_by": "marks",
        "guard_card": "ordinary",
        "declare": True,
        "open_solo": True,
        "oppose": True,
        "doubling": True,
        "votes_needed": 2,
        "abandon_penalty": 12,
        "yield": False,
        "claim": False,
        "pass_scope": "set",
        "hold_sixes": True,
        "three_twos_beat_big": False,
        "end": "decided",
    },
}

# Where a preset's column has a dash and `roles_by` differs from the preset's: the value of
# the preset that has one (grab, forced_call: both; tribute_on_cede: qingdao's).
UNSAID: dict[str, Any] = {
    "guard_by": "called_card",
    "grab": True,
    "forced_call": True,
    "tribute_on_cede": False,
    "open_solo": True,
    "oppose": True,
    "doubling": True,
    "votes_needed": 2,
    "abandon_penalty": 12,
}

ALLOWED: dict[str, tuple[Any, ...]] = {
    "roles_by": ("called_card", "marks"),
    "guard_by": ("called_card", "marked_small_joker"),
    "guard_card": ("ordinary", "supreme"),
    "votes_needed": (1, 2, 3),
    "pass_scope": ("set", "trick"),
    "end": ("last_player", "camp_out", "decided"),
}
DECKS = ("full216", "weihai165")


def options_of(rules: str | dict[str, Any] | None) -> dict[str, Any]:
    """All options for a preset's name, or a dict of a preset and options; default `qingdao`."""
    if rules is None:
        rules = {}
    if isinstance(rules, str):
        rules = {"preset": rules}
    preset = rules.get("preset", "qingdao")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise OracleError(f"preset {preset!r}: one of {', '.join(PRESETS)}")
    given = {name: value for name, value in rules.items() if name != "preset"}
    for name, value in given.items():
        _check_value(name, value)
    options = {**UNSAID, **PRESETS[preset], **given}
    marks = options["roles_by"] == "marks"
    if marks and options["guard_card"] == "supreme":
        raise OracleError("guard_card supreme is not for roles_by marks: ordinary")
    if marks and options["guard_by"] == "marked_small_joker":
        raise OracleError("guard_by marked_small_joker is for roles_by called_card only")
    if not marks and options["deck"] == "weihai165":
        raise OracleError("deck weihai165 is not for roles_by called_card")
    return options


def _check_value(name: str, value: Any) -> None:
    if name not in OPTIONS:
        raise OracleError(f"unknown option {name!r}: one of {', '.join(OPTIONS)}")
    if name == "deck":
        return  # deck_of looks at it
    if name == "abandon_penalty":
        if type(value) is not int or value < 0 or value % 4:
            raise OracleError(f"{name} {value!r}: a multiple of 4")
        return
    allowed = ALLOWED.get(name, (False, True))
    # 1 is no True here, nor True a 1
    if not any(type(value) is type(one) and value == one for one in allowed):
        raise OracleError(f"{name} {value!r}: one of {allowed}")


def joker_marked(options: dict[str, Any]) -> bool:
    """Whether the deck has a B* (§2)."""
    return options["roles_by"] == "marks" or options["guard_by"] == "marked_small_joker"


def has_supreme(options: dict[str, Any]) -> bool:
    """Whether the identity card is 特画 (§4.2): without effect where a small joker is marked."""
    return options["guard_card"] == "supreme" and not joker_marked(options)


def deck_of(rules: str | dict[str, Any] | None) -> list[str]:
    """The cards that these rules deal."""
    options = options_of(rules)
    deck = options["deck"]
    if deck == "full216":
        return full_deck(joker_marked(options))
    if deck == "weihai165":
        return weihai_deck()
    if isinstance(deck, str):
        deck = parse_cards(deck)
    if not isinstance(deck, list) or not all(isinstance(card, str) for card in deck):
        raise OracleError(f"deck {deck!r}: {', '.join(DECKS)} or a list of cards")
    for card in deck:
        plain(card)
    check_marks([card for card in deck if card.endswith("*")], options)
    return list(deck)


def check_marks(stars: list[str], options: dict[str, Any]) -> None:
    """One R*, one B* where these rules mark a small joker, and no other star."""
    wanted = ["B*", "R*"] if joker_marked(options) else ["R*"]
    if sorted(stars) != wanted:
        raise OracleError(f"marked cards {sorted(stars)}, but these rules have {wanted}")
