"""Options of a game: one validated object, presets that fix them all, and one string for both.

A game's rules are a subclass of :class:`GameRules` that declares the options as fields. Rules
print as a string that reads back: ``PRESET`` or ``PRESET;option=value;option=value``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lupai.envs.cards import Deck
from lupai.envs.errors import RulesError
from lupai.envs.rules_text import from_file, from_string, show


class GameRules(BaseModel):
    """All options of one table. Make one with :meth:`load`, which fills in the preset.

    Attributes:
        presets: every option of each preset, by its name in rules strings.
        default: the preset that holds where none is named.
        allowed: for error messages: what an option may be, where its type does not say so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    presets: ClassVar[Mapping[str, dict[str, Any]]]
    default: ClassVar[str]
    allowed: ClassVar[Mapping[str, str]] = {}

    preset: str = Field(description="named house rules that fix every other option")

    @property
    def cards(self) -> Deck:
        """The deck as card codes."""
        raise NotImplementedError

    @classmethod
    def base(cls, preset: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a preset fixes, where ``options`` are chosen: an option may take the meaning of
        others away."""
        return cls.presets[preset]

    def check_sense(self) -> None:
        """Check options against each other.

        Raises:
            RulesError: a combination without sense.
        """

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """Names of all options, without ``preset``."""
        return tuple(cls.presets[cls.default])

    @classmethod
    def load(cls, source: Self | str | dict[str, Any]) -> Self:
        """Rules from a preset's name, a rules string, a YAML file, a dict, or rules.

        A dict and a file hold ``preset`` and the options that differ from it.

        Raises:
            RulesError: unknown preset or option, wrong value, or a combination without sense;
                names the option and the allowed values.
        """
        if isinstance(source, cls):
            return source
        options: Any = source
        if isinstance(source, str):
            file = source.endswith((".yaml", ".yml"))
            options = from_file(source) if file else from_string(source)
        if not isinstance(options, dict):
            raise RulesError(
                f"rules {show(source)}: give a preset's name, a rules string or a dict"
            )
        preset = options.get("preset", cls.default)
        if not isinstance(preset, str) or preset not in cls.presets:
            raise RulesError(
                f"rules: unknown preset {show(preset)}; presets: {', '.join(cls.presets)}"
            )
        names = cls.option_names()
        for name in options:
            if name not in names and name != "preset":
                near = difflib.get_close_matches(str(name), names, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise RulesError(
                    f"rules: unknown option {show(name)}{hint} (options: {', '.join(names)})"
                )
        try:
            rules = cls.model_validate(cls.base(preset, options) | options | {"preset": preset})
        except ValidationError as error:
            raise RulesError(cls._explain(error)) from None
        rules.check_sense()
        return rules

    @classmethod
    def _explain(cls, error: ValidationError) -> str:
        first = error.errors()[0]
        name = str(first["loc"][0])
        by_type = {
            "literal_error": str(first.get("ctx", {}).get("expected", "")),
            "bool_type": "true or false",
        }
        allowed = cls.allowed.get(name) or by_type.get(first["type"]) or first["msg"]
        return f"rules: option {name!r} cannot be {show(first['input'])}; allowed: {allowed}"

    def differing(self) -> dict[str, Any]:
        """Options that differ from the preset, for records: ``{"preset": …, option: value}``."""
        mine = self.model_dump(by_alias=True)
        base = self.base(self.preset, mine)
        out: dict[str, Any] = {"preset": self.preset}
        for name, value in mine.items():
            if name != "preset" and value != base[name]:
                out[name] = list(value) if isinstance(value, tuple) else value
        return out

    def __str__(self) -> str:
        parts = []
        for name, value in self.differing().items():
            if name == "preset":
                parts.append(str(value))
            else:
                text = " ".join(value) if isinstance(value, list) else value
                parts.append(f"{name}={text if isinstance(text, str) else json.dumps(text)}")
        return ";".join(parts)
