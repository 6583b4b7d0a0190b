"""The options of Baohuang: one validated object, and the presets that fix them all.

Sources: S0 (附一, 附二, the section 保皇), S1 (侍卫 game, 青岛保皇), S3 (青岛保皇),
S4 (威海保皇). docs/rules.md names them, restates the rules and says where they depart
from a source and why. The default preset is ``qingdao``.

An option that has no meaning under a preset is ``None`` there (a dash in the table of the docs)
and cannot be set. Rules print as one string that reads back: ``qingdao`` or
``qingdao;pass_scope=trick;yield=false``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import Field, field_validator

from lupai.envs.cards import Deck, four_packs, make_deck, weihai_deck
from lupai.envs.errors import NotationError, RulesError
from lupai.envs.rules import GameRules

Preset = Literal["qingdao", "shiwei", "weihai"]

_MARKS_ONLY: Final = ("open_solo", "oppose", "doubling", "votes_needed", "abandon_penalty")
_CALLED_ONLY: Final = ("guard_by", "grab", "forced_call", "tribute_on_cede")

_QINGDAO: Final[dict[str, Any]] = {
    "deck": "full216",
    "roles_by": "called_card",
    "guard_by": "called_card",
    "guard_card": "ordinary",
    "grab": True,
    "forced_call": True,
    "tribute_on_cede": False,
    "declare": True,
    "open_solo": None,
    "oppose": None,
    "doubling": None,
    "votes_needed": None,
    "abandon_penalty": None,
    "yield": True,
    "claim": True,
    "pass_scope": "set",
    "hold_sixes": False,
    "three_twos_beat_big": False,
    "end": "last_player",
}
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "qingdao": _QINGDAO,
    "shiwei": _QINGDAO
    | {
        "guard_card": "supreme",
        "tribute_on_cede": True,
        "yield": False,
        "claim": False,
        "end": "camp_out",
    },
    "weihai": _QINGDAO
    | dict.fromkeys(_CALLED_ONLY)
    | {
        "deck": "weihai165",
        "roles_by": "marks",
        "open_solo": True,
        "oppose": True,
        "doubling": True,
        "votes_needed": 2,
        "abandon_penalty": 12,
        "yield": False,
        "claim": False,
        "hold_sixes": True,
        "end": "decided",
    },
}
DEFAULT_PRESET: Final = "qingdao"
MIN_DECK: Final = 10
MIN_DECK_TRIBUTE: Final = 15


class Rules(GameRules):
    """All options of one table. Make one with :func:`load_rules`, which fills in the preset."""

    presets = MappingProxyType(PRESETS)
    default = DEFAULT_PRESET
    allowed = MappingProxyType(
        {
            "deck": "'full216', 'weihai165' or a list of cards",
            "votes_needed": "1, 2 or 3",
            "abandon_penalty": "a multiple of 4, from 0 to 1000000",
        }
    )

    preset: Preset = Field(description="named house rules that fix every other option")
    deck: Literal["full216", "weihai165"] | tuple[str, ...] = Field(
        description="cards in play: a named deck, or a list of cards (R* among them)"
    )
    roles_by: Literal["called_card", "marks"] = Field(
        description="roles by a called card, or by the marked jokers 皇 and 保"
    )
    guard_by: Literal["called_card", "marked_small_joker"] | None = Field(
        description="guard holds the fourth copy of the called card, or the marked small joker"
    )
    guard_card: Literal["ordinary", "supreme"] = Field(
        description="the guard's identity card is an ordinary copy, or 特画 above the big joker"
    )
    grab: bool | None = Field(description="抢庄: anybody may take the crown and play alone")
    forced_call: bool | None = Field(description="逼庄 when all five ceded")
    tribute_on_cede: bool | None = Field(description="贴牌: later ceders add their highest card")
    declare: bool = Field(description="明保: the guard may show himself before the first lead")
    open_solo: bool | None = Field(description="明度: anybody may play alone against four")
    oppose: bool | None = Field(description="反: rebels may double against a hidden guard")
    doubling: bool | None = Field(description="扭 and 踢")
    votes_needed: int | None = Field(ge=1, le=3, description="votes that a larger camp needs")
    abandon_penalty: int | None = Field(
        ge=0,
        le=1_000_000,
        multiple_of=4,
        description="弃皇: what the emperor loses when nobody takes the crown",
    )
    yield_: bool = Field(alias="yield", description="让牌: keep the right to answer in circle 2")
    claim: bool = Field(description="申请接风: announce the wish to inherit the lead")
    pass_scope: Literal["set", "trick"] = Field(description="how long a pass binds")
    hold_sixes: bool = Field(description="憋6: sixes leave the hand only as its last set")
    three_twos_beat_big: bool = Field(description="a single R is beaten by exactly 222")
    end: Literal["last_player", "camp_out", "decided"] = Field(description="when a hand stops")

    @field_validator("deck", mode="before")
    @classmethod
    def _deck_is_a_tuple(cls, value: Any) -> Any:
        return (
            tuple(value.split(" "))
            if isinstance(value, str) and " " in value
            else (tuple(value) if isinstance(value, list) else value)
        )

    @cached_property
    def cards(self) -> Deck:
        """The deck as card codes."""
        if self.deck == "full216":
            return four_packs(marked_b=self.needs_marked_b)
        if self.deck == "weihai165":
            return weihai_deck()
        return make_deck(self.deck)

    @property
    def supreme(self) -> bool:
        """Whether the identity card is 特画 X."""
        return self.guard_card == "supreme" and self.guard_by == "called_card"

    @property
    def needs_marked_b(self) -> bool:
        """Whether one small joker carries the mark 保."""
        return self.roles_by == "marks" or self.guard_by == "marked_small_joker"

    @classmethod
    def base(cls, preset: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a preset fixes, for the way to find roles in ``options``."""
        return base_options(preset, options.get("roles_by", PRESETS[preset]["roles_by"]))

    def check_sense(self) -> None:
        """Options that have no meaning with the way to find roles, and decks that do not fit."""
        _check_sense(self)


OPTION_NAMES: Final = tuple(_QINGDAO)


def base_options(preset: str, roles_by: object) -> dict[str, Any]:
    """What a preset fixes, for the given way to find roles.

    Where ``roles_by`` differs from the preset's own, options that lose their meaning are None, and
    those that gain one are as in the preset at home there (weihai for marks, else qingdao).
    """
    base = PRESETS[preset]
    if roles_by == base["roles_by"] or roles_by not in ("called_card", "marks"):
        return base
    home = PRESETS["weihai" if roles_by == "marks" else DEFAULT_PRESET]
    change = dict.fromkeys(_CALLED_ONLY + _MARKS_ONLY)
    change |= {name: home[name] for name in change}
    return base | change


def load_rules(source: Rules | str | dict[str, Any] = DEFAULT_PRESET) -> Rules:
    """Rules from a preset's name, a rules string, a YAML file, a dict, or Rules.

    A dict and a file hold ``preset`` and the options that differ from it.

    Raises:
        RulesError: unknown preset or option, wrong value, or a combination without sense; names
            the option and the allowed values.
    """
    return Rules.load(source)


def _check_sense(rules: Rules) -> None:
    by_marks = rules.roles_by == "marks"
    where = "roles_by=marks" if by_marks else "roles_by=called_card"
    for name in _CALLED_ONLY if by_marks else _MARKS_ONLY:
        if getattr(rules, name) is not None:
            raise RulesError(f"rules: option {name!r} has no meaning with {where}; leave it out")
    for name in _MARKS_ONLY if by_marks else _CALLED_ONLY:
        if getattr(rules, name) is None:
            choices = "'called_card' or 'marked_small_joker'" if name == "guard_by" else None
            allowed = choices or Rules.allowed.get(name, "true or false")
            raise RulesError(f"rules: option {name!r} must be set with {where}; allowed: {allowed}")
    if by_marks and rules.guard_card == "supreme":
        raise RulesError("rules: guard_card=supreme needs roles_by=called_card; allowed: ordinary")
    if not by_marks and rules.deck == "weihai165":
        raise RulesError("rules: deck=weihai165 needs roles_by=marks; allowed: full216 or a list")
    if isinstance(rules.deck, tuple):
        try:
            deck = make_deck(rules.deck)
        except NotationError as error:
            raise RulesError(f"rules: option 'deck': {error}") from None
        if deck.has_marked_b != rules.needs_marked_b:
            need = "one B*" if rules.needs_marked_b else "no B*"
            raise RulesError(f"rules: option 'deck' must hold {need} under these rules")
        gives = rules.tribute_on_cede and rules.guard_by == "called_card"
        least = MIN_DECK_TRIBUTE if gives else MIN_DECK
        if len(deck) < least:
            raise RulesError(
                f"rules: option 'deck' has {len(deck)} cards; it needs {least} or more, so that "
                f"every seat keeps a card when it has given away R* (and a tribute)"
            )
