"""The options of Gouji: one validated object, and the preset that fixes them all.

Sources: S0 (the section 够级) and S3 (够级). Rules print as one string that reads back:
``shandong`` or ``shandong;tribute=true``.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import Field

from lupai.envs.cards import Deck, four_packs
from lupai.envs.rules import GameRules

Preset = Literal["shandong"]

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "shandong": {
        "revolution": True,
        "hand_sizes": "ten",
        "burn_fail": None,
        "tribute": False,
        "end": "side_out",
    },
}
DEFAULT_PRESET: Final = "shandong"
OPTION_NAMES: Final = tuple(PRESETS[DEFAULT_PRESET])


class Rules(GameRules):
    """All options of one table. Make one with :func:`load_rules`, which fills in the preset."""

    presets = MappingProxyType(PRESETS)
    default = DEFAULT_PRESET
    allowed = MappingProxyType({"burn_fail": "'last_place' or null"})

    preset: Preset = Field(description="named house rules that fix every other option")
    revolution: bool = Field(
        description="革命: who holds no R, B and 2 may lay down before the first lead"
    )
    hand_sizes: Literal["ten", "always"] = Field(
        description="报牌: hand sizes are announced at ten cards or fewer, or at all times"
    )
    burn_fail: Literal["last_place"] | None = Field(
        description="烧牌: null: a burner plays only what keeps his promise; last_place: he plays "
        "what he likes, and is placed last where he breaks it"
    )
    tribute: bool = Field(description="进贡 by the finishing order of the hand before")
    end: Literal["side_out", "last_player"] = Field(description="when a hand stops")

    @cached_property
    def cards(self) -> Deck:
        """The deck as card codes."""
        return four_packs(marked_r=False)


def load_rules(source: Rules | str | dict[str, Any] = DEFAULT_PRESET) -> Rules:
    """Rules from a preset's name, a rules string, a YAML file, a dict, or Rules.

    A dict and a file hold ``preset`` and the options that differ from it.

    Raises:
        RulesError: unknown preset or option, or a wrong value; names the option and the allowed
            values.
    """
    return Rules.load(source)
