"""Write the generated parts of README.md and docs/: `python tools/make_docs.py [--check]`.

Two kinds of parts, both between marks that stay in the pages:

* ``<!-- generated: NAME -->`` … ``<!-- /generated -->``: made by the function ``NAME`` below;
* a ``console`` block after ``<!-- console -->``: its ``$`` lines are run in order,
  all of a page in one empty folder, and what they print replaces what stood there.

tests/test_docs.py compares the committed pages with what this makes.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from lupai.envs import baohuang_v0
from lupai.envs.actions import ACTIONS, VERBS
from lupai.envs.baohuang.observation import EVENT_FIELDS, OBSERVATION, STATE
from lupai.envs.baohuang.rules import PRESETS, Rules, check_built, load_rules
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.errors import RulesError
from lupai.envs.layout import Layout

ROOT = Path(__file__).resolve().parents[1]
PARTS: dict[str, Callable[[], str]] = {}
_GENERATED = re.compile(r"(<!-- generated: (\w+) -->\n)(.*?\n)??(<!-- /generated -->)", re.DOTALL)
_CONSOLE = re.compile(r"(<!-- console -->\n```console\n)(.*?)(```\n)", re.DOTALL)


def pages() -> list[Path]:
    """README and every page of docs/."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def part(function: Callable[[], str]) -> Callable[[], str]:
    """Make a function's text available to the pages under its name."""
    PARTS[function.__name__] = function
    return function


def rows(header: tuple[str, ...], body: Iterator[tuple[Any, ...]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in body
    ]
    return "\n".join(lines)


# --- parts ---------------------------------------------------------------------------------------


@part
def table_picture() -> str:
    """A hidden guard looks at the table, some tricks into a hand."""
    env = baohuang_v0.raw_env(render_mode="ansi")
    env.reset(seed=7)
    rng = random.Random(2)
    while True:
        view = env.view()
        is_guard = view.state.guard[0] == view.seat
        late = len(view.history) > 40
        if late and is_guard and view.state.standing[0] >= 0 and len(view.legal) > 3:
            called = KIND_TEXTS[view.state.identity_kind[0]]
            return (
                f"```text\n{env.render()}\n```\n\nSeat {view.seat} is the guard: {called} was "
                f"called, and his copy of it carries a star. The others do not know."
            )
        first = [m for m in view.legal if m in ("decline", "silent") or m.startswith("call ")]
        plain = [m for m in view.legal if "*" not in m]  # the role stays hidden
        plays = [m for m in plain if m.startswith("play ")]
        env.step(env.action_of(rng.choice(first or (plays if rng.random() < 0.6 else []) or plain)))


def layout_table(layout: Layout) -> str:
    """Sections of a vector."""
    return rows(
        ("section", "offset", "shape", "range", "axes", "meaning"),
        (
            (
                f"`{s.name}`",
                layout.offsets[s.name],
                " × ".join(map(str, s.shape)),
                f"{s.low} … {s.high}",
                s.axes,
                s.meaning,
            )
            for s in layout.sections
        ),
    )


@part
def observation_table() -> str:
    """Sections of the observation."""
    return layout_table(OBSERVATION)


@part
def state_table() -> str:
    """Sections of the god's-eye vector."""
    return layout_table(STATE).replace("seat from the observer", "seat")


@part
def observation_hashes() -> str:
    """Names, sizes, hashes."""
    return rows(
        ("layout", "version", "length", "hash"),
        ((f"`{v.name}`", v.version, v.size, f"`{v.hash}`") for v in (OBSERVATION, STATE)),
    )


@part
def event_fields() -> str:
    """Columns of the section `recent`."""
    width = len(EVENT_FIELDS)
    names = ", ".join(f"{i} `{name}`" for i, name in enumerate(EVENT_FIELDS))
    return f"{width} fields: {names}."


_FORMULAS = {
    "verb": ("number of verbs", "the move is this word"),
    "call": ("13 · 4 + 2", "`call c`: guard is who holds the fourth copy"),
    "call_open": ("13 · 4 + 2", "`call c open` (明独)"),
    "call_secret": ("13 · 4 + 2", "`call c secret` (暗独)"),
    "set": ("13 · 16 · 25 + 24", "`play s`, the identity card not among the cards"),
    "set_identity": (
        "13 · 16 · 25 + 24 + 1",
        "`play s`, the identity card among the cards (`9*99`), or 特画 with them (`99X`); last `X`",
    ),
}


@part
def action_blocks() -> str:
    """Blocks of action ids."""
    return rows(
        ("block", "first id", "ids", "count", "move"),
        (
            (f"`{name}`", ACTIONS.offsets[name], count, *_FORMULAS[name])
            for name, count in ACTIONS.blocks
        ),
    )


@part
def action_total() -> str:
    """Size and hash."""
    return f"In all **{ACTIONS.size:,}** ids, 0 … {ACTIONS.size - 1}; layout hash `{ACTIONS.hash}`."


@part
def verb_ids() -> str:
    """Ids of the verbs."""
    return ", ".join(f"{i} `{verb}`" for i, verb in enumerate(VERBS)) + "."


@part
def action_examples() -> str:
    """Some ids."""
    texts = (
        ("pass", None), ("grab", None), ("call 9c", None), ("call 9c open", None),
        ("call B", None), ("call R secret", None), ("play 3", None), ("play 9", None),
        ("play 999BR", None), ("play 2222222222222222BBBBRRRR", None), ("play R", None),
        ("play BB", None), ("play BBBBRRRR", None), ("play 9*", 6), ("play 9*99", 6),
        ("play 55B*B", 13), ("play 99X", None), ("play X", None),
    )  # fmt: skip
    out = []
    for text, identity in texts:
        action = ACTIONS.encode(ACTIONS.parse(text))
        assert ACTIONS.text(action, identity, supreme="X" in text) == text
        block, place = ACTIONS.block_of(action)
        out.append((f"`{text}`", action, f"`{block}` + {place}"))
    return rows(("move", "id", "is"), iter(out))


def _shown(value: Any) -> str:
    return "–" if value is None else f"`{str(value).lower()}`"


@part
def option_table() -> str:
    """Options with the presets' values and what is built."""
    return rows(
        ("option", *(f"`{p}`" for p in PRESETS), "built", "meaning"),
        (
            (f"`{name}`", *(_shown(PRESETS[p][name]) for p in PRESETS), _built(name), meaning)
            for name, meaning in (
                (field.alias or key, field.description)
                for key, field in Rules.model_fields.items()
                if key != "preset"
            )
        ),
    )


def _built(name: str) -> str:
    """Which values of an option the engine plays, found out by asking it."""
    if name == "deck":
        return "`full216`, a list of cards"
    values = {
        "roles_by": ["called_card", "marks"], "guard_by": ["called_card", "marked_small_joker"],
        "guard_card": ["ordinary", "supreme"], "pass_scope": ["set", "trick"],
        "end": ["last_player", "camp_out", "decided"],
    }.get(name, [True, False])  # fmt: skip
    if PRESETS["qingdao"][name] is None:
        return "no"
    good = []
    for value in values:
        try:
            check_built(load_rules({"preset": "qingdao", name: value}))
        except RulesError:
            continue
        good.append(_shown(value))
    return ", ".join(good)


@part
def built_presets() -> str:
    """Which presets the engine plays."""
    lines = []
    for preset in PRESETS:
        try:
            check_built(load_rules(preset))
            lines.append(f"- `{preset}`: built.")
        except RulesError:
            lines.append(f"- `{preset}`: not built yet; asking for it is an error that says so.")
    return "\n".join(lines)


@part
def config_keys() -> str:
    """Keys of a training config, from the model that checks it."""
    from lupai.train.config import TrainConfig

    table = rows(("key", "default", "meaning"), _config_rows(TrainConfig, ""))
    if "evaluation" in TrainConfig.model_fields:
        table += (
            "\n\n`evaluation.*` is kept with the run; `lupai evaluate` goes by its own options."
        )
    return table


def _config_rows(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, str]]:
    for key, field in model.model_fields.items():
        name, kind = prefix + (field.alias or key), field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _config_rows(kind, name + ".")
            continue
        default: Any = field.default
        if default is PydanticUndefined:
            shown = "must be given"
        elif isinstance(default, tuple):
            shown = f"`[{', '.join(map(str, default))}]`"
        else:
            shown = "none" if default is None else f"`{default}`"
        yield f"`{name}`", shown, field.description or ""


# --- putting them in -----------------------------------------------------------------------------


def run_console(text: str, folder: Path) -> str:
    """Run the ``$`` lines of a console block in ``folder`` and put their output behind them.

    A line ``# exit N`` after a command says its exit status; 0 is not written.
    """
    out = []
    bin_folder = str(Path(sys.executable).parent)
    env = os.environ | {
        "PATH": bin_folder + os.pathsep + os.environ.get("PATH", ""),
        "PYTHONUTF8": "1", "COLUMNS": "80", "NO_COLOR": "1",
    }  # fmt: skip
    for line in text.splitlines():
        if line.startswith("$ "):
            done = subprocess.run(
                ["bash", "-c", line[2:]], cwd=folder, env=env, capture_output=True,
                stdin=subprocess.DEVNULL, text=True, encoding="utf-8", timeout=120,
            )  # fmt: skip
            # Progress bars and notes go to stderr; on a failure it is what a person would see.
            printed = done.stdout + (done.stderr if done.returncode else "")
            out += [line, *printed.rstrip().splitlines()]
            if done.returncode:
                out.append(f"# exit {done.returncode}")
    return "\n".join(out) + "\n"


def fill(text: str, *, consoles: bool = True) -> str:
    """A page with its generated parts made anew."""

    def part_of(match: re.Match[str]) -> str:
        return match[1] + PARTS[match[2]]() + "\n" + match[4]

    text = _GENERATED.sub(part_of, text)
    if consoles and _CONSOLE.search(text):
        with tempfile.TemporaryDirectory() as folder:
            text = _CONSOLE.sub(
                lambda m: m[1] + run_console(m[2], Path(folder)) + m[3],
                text,
            )
    return text


def main(argv: list[str] | None = None) -> int:
    """Rewrite the pages; with ``--check`` only say which would change."""
    parser = argparse.ArgumentParser(description="Write the generated parts of the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    options = parser.parse_args(argv)
    stale = []
    for page in pages():
        old = page.read_text("utf-8")
        new = fill(old)
        if new != old:
            stale.append(page.relative_to(ROOT).as_posix())
            if not options.check:
                page.write_text(new, "utf-8")
    if stale:
        print(("stale: " if options.check else "written: ") + ", ".join(stale))
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    raise SystemExit(main())
