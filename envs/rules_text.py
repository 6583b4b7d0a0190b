"""Where rules come from as text: strings such as ``qingdao;yield=false``, and YAML files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from lupai.envs.cards import shorten
from lupai.envs.errors import RulesError


def from_file(path: str) -> dict[str, Any]:
    """Preset and options of a YAML file.

    Raises:
        RulesError: no such file, no YAML, or no mapping.
    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RulesError(f"rules file {shorten(path)!r}: {error.strerror or error}") from None
    except RecursionError:
        raise RulesError(f"rules file {path!r}: no YAML: nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: no UTF-8, or a zero byte in path
        why = shorten(" ".join(str(error).split()), 200)
        raise RulesError(f"rules file {shorten(path)!r}: no YAML: {why}") from None
    if not isinstance(data, dict) or not all(isinstance(key, str) for key in data):
        raise RulesError(f"rules file {path!r}: a mapping of preset and options is needed")
    return data


def from_string(text: str) -> dict[str, Any]:
    """Preset and options of a rules string.

    Raises:
        RulesError: a part that is not ``option=value``, or an option twice.
    """
    preset, *pairs = text.split(";")
    options: dict[str, Any] = {"preset": preset}
    for pair in pairs:
        name, value = read_option(pair)
        if name in options:
            raise RulesError(f"rules {shorten(text)!r}: option {shorten(name)!r} stands twice")
        options[name] = value
    return options


def read_option(text: str) -> tuple[str, Any]:
    """Name and value of ``option=value``, as in a rules string.

    Raises:
        RulesError: no ``=`` in it.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise RulesError(f"rules: {shorten(text)!r} is not option=value")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def show(value: object) -> str:
    """A value for an error message, cut."""
    try:
        return shorten(repr(value))
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        return "a huge number"
