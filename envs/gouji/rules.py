"""The options of Gouji: one validated object, and the preset that fixes them all.

Sources: S0 (the section 够级) and S3 (够级). Rules print as one string that reads back:
``shandong`` or ``shandong;tribute=true``.
"""

from __future__ import annotations

import difflib
import json
from functools import cached_property
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lupai.envs.baohuang.rules_text import from_file, from_string, show
from lupai.envs.cards import Deck, four_packs
from lupai.envs.errors import RulesError

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


class Rules(BaseModel):
    """All options of one table. Make one with :func:`load_rules`, which fills in the preset."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

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

    def differing(self) -> dict[str, Any]:
        """Options that differ from the preset, for records: ``{"preset": …, option: value}``."""
        base = PRESETS[self.preset]
        mine = self.model_dump()
        return {name: mine[name] for name in mine if name == "preset" or mine[name] != base[name]}

    def __str__(self) -> str:
        preset, *options = self.differing().items()
        texts = (f"{k}={v if isinstance(v, str) else json.dumps(v)}" for k, v in options)
        return ";".join([preset[1], *texts])


def load_rules(source: Rules | str | dict[str, Any] = DEFAULT_PRESET) -> Rules:
    """Rules from a preset's name, a rules string, a YAML file, a dict, or Rules.

    A dict and a file hold ``preset`` and the options that differ from it.

    Raises:
        RulesError: unknown preset or option, or a wrong value; names the option and the allowed
            values.
    """
    if isinstance(source, Rules):
        return source
    if isinstance(source, str) and source.endswith((".yaml", ".yml")):
        options = from_file(source)
    else:
        options = from_string(source) if isinstance(source, str) else source
    if not isinstance(options, dict):
        raise RulesError(f"rules {show(source)}: give a preset's name, a rules string or a dict")
    preset = options.get("preset", DEFAULT_PRESET)
    if not isinstance(preset, str) or preset not in PRESETS:
        raise RulesError(f"rules: unknown preset {show(preset)}; presets: {', '.join(PRESETS)}")
    for name in options:
        if name not in OPTION_NAMES and name != "preset":
            near = difflib.get_close_matches(str(name), OPTION_NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise RulesError(
                f"rules: unknown option {show(name)}{hint} (options: {', '.join(OPTION_NAMES)})"
            )
    try:
        return Rules.model_validate(PRESETS[preset] | options | {"preset": preset})
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        allowed = "true or false"
        if first["type"] == "literal_error":
            allowed = str(first.get("ctx", {}).get("expected", ""))
        if name == "burn_fail":
            allowed += " or null"
        raise RulesError(
            f"rules: option {name!r} cannot be {show(first['input'])}; allowed: {allowed}"
        ) from None
