"""Write the generated parts of README.md and docs/: `python tools/make_docs.py [--check]`.

Two kinds of parts, both between marks that stay in the pages:

* ``<!-- generated: NAME -->`` … ``<!-- /generated -->``: made by the function ``NAME`` below;
* a ``console`` block after ``<!-- console -->``: its ``$`` lines are run in order,
  all of a page in one empty folder, and what they print replaces what stood there.

tests/test_docs.py compares the committed pages with what this makes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
from annotated_types import Ge, Le, MultipleOf
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from lupai.envs import baohuang_v0
from lupai.envs.actions import ActionLayout
from lupai.envs.baohuang.actions import ACTIONS, VERBS
from lupai.envs.baohuang.observation import EVENT_FIELDS, OBSERVATION, STATE
from lupai.envs.baohuang.rules import PRESETS, Rules, load_rules
from lupai.envs.baohuang.scoring import final_scores
from lupai.envs.baohuang.state import PHASE_NAMES, SEATS, Phase, Solo, State
from lupai.envs.cards import KIND_TEXTS, RANKS
from lupai.envs.gouji import actions as gouji_actions
from lupai.envs.gouji import observation as gouji_observation
from lupai.envs.gouji.state import PHASE_NAMES as GOUJI_PHASES
from lupai.envs.layout import Layout
from lupai.envs.records import load_record

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


def layout_hashes(*layouts: Layout) -> str:
    """Names, sizes, hashes."""
    return rows(
        ("layout", "version", "length", "hash"),
        ((f"`{v.name}`", v.version, v.size, f"`{v.hash}`") for v in layouts),
    )


def numbered(names: Iterable[str]) -> str:
    """Names with their numbers."""
    return ", ".join(f"{i} `{name}`" for i, name in enumerate(names)) + "."


@part
def observation_hashes() -> str:
    """Names, sizes, hashes."""
    return layout_hashes(OBSERVATION, STATE)


@part
def event_fields() -> str:
    """Columns of the section `recent`."""
    return f"{len(EVENT_FIELDS)} fields: {numbered(EVENT_FIELDS)}"


@part
def gouji_observation_table() -> str:
    """Sections of Gouji's observation."""
    return layout_table(gouji_observation.OBSERVATION)


@part
def gouji_state_table() -> str:
    """Sections of Gouji's god's-eye vector that its observation has not."""
    own = [s for s in gouji_observation.STATE.sections if s.name in ("hands", "revolts")]
    return layout_table(Layout("", 0, tuple(own)))


@part
def gouji_observation_hashes() -> str:
    """Names, sizes, hashes."""
    return layout_hashes(gouji_observation.OBSERVATION, gouji_observation.STATE)


@part
def gouji_event_fields() -> str:
    """Columns of the section `recent`."""
    fields = gouji_observation.EVENT_FIELDS
    return f"{len(fields)} fields: {numbered(fields)}"


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
    return total_of(ACTIONS)


def total_of(actions: ActionLayout) -> str:
    """Size and hash of action ids."""
    return f"In all **{actions.size:,}** ids, 0 … {actions.size - 1}; layout hash `{actions.hash}`."


@part
def verb_ids() -> str:
    """Ids of the verbs."""
    return numbered(VERBS)


_GOUJI_FORMULAS = {
    "verb": ("number of verbs", "the move is this word"),
    "offer": ("13 + 2", "`offer c`: a card returned for tribute, by rank `3` … `2`, `B`, `R`"),
    "set": ("12 · 16 · 17 · 25 + 16 · 25 + 24", "`play s`"),
}


@part
def gouji_action_blocks() -> str:
    """Blocks of Gouji's action ids."""
    actions = gouji_actions.ACTIONS
    return rows(
        ("block", "first id", "ids", "count", "move"),
        (
            (f"`{name}`", actions.offsets[name], count, *_GOUJI_FORMULAS[name])
            for name, count in actions.blocks
        ),
    )


@part
def gouji_action_total() -> str:
    """Size and hash."""
    return total_of(gouji_actions.ACTIONS)


@part
def gouji_verb_ids() -> str:
    """Ids of the verbs."""
    return numbered(gouji_actions.VERBS)


@part
def gouji_action_examples() -> str:
    """Some ids."""
    actions, out = gouji_actions.ACTIONS, []
    texts = (
        "pass", "revolt", "offer 3", "offer R", "play 3", "play 32", "play KK", "play KK2B",
        "play 2", "play 22BR", "play B", "play BBBBRRRR",
    )  # fmt: skip
    for text in texts:
        action = actions.encode(actions.parse(text))
        assert actions.text(action) == text
        block, place = actions.block_of(action)
        out.append((f"`{text}`", action, f"`{block}` + {place}"))
    return rows(("move", "id", "is"), iter(out))


@part
def gouji_phase_numbers() -> str:
    """Numbers of Gouji's phases."""
    return numbered(GOUJI_PHASES)


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
    """Options with their values, the presets' choices and the meaning, from the Rules object."""
    return rows(
        ("option", "values", *(f"`{p}`" for p in PRESETS), "meaning"),
        (
            (
                f"`{name}`",
                _values(name, field),
                *(_shown(PRESETS[p][name]) for p in PRESETS),
                field.description,
            )
            for name, field in ((f.alias or key, f) for key, f in Rules.model_fields.items())
            if name != "preset"
        ),
    )


def _values(name: str, field: FieldInfo) -> str:
    """What an option may be, from its type."""
    kinds = [kind for kind in get_args(field.annotation) or (field.annotation,) if kind]
    out: list[str] = []
    for kind in kinds:
        if get_origin(kind) is Literal:
            out += [f"`{value}`" for value in get_args(kind)]
        elif kind is bool:
            out += ["`true`", "`false`"]
        elif kind is int:
            limits = {type(m): m for m in field.metadata}
            low, high = limits[Ge].ge, limits[Le].le
            out.append(f"{low} … {high:,}")
            if MultipleOf in limits:
                out.append(f"a multiple of {limits[MultipleOf].multiple_of}")
        elif get_origin(kind) is tuple:
            out.append("a list of cards")
        elif isinstance(kind, str):  # the arguments of a plain Literal
            out.append(f"`{kind}`")
        elif kind is not type(None):
            raise TypeError(f"option {name}: no words for {kind}")
    return ", ".join(out)


# --- scores, from the function that the engine scores with ----------------------------------------


def _finished(rules: Rules, hands: list[dict[str, Any]]) -> np.ndarray:
    """Scores ``[B, S]`` of finished hands; seat 0 is emperor, seat 1 guard if there is one."""
    state = State(len(hands))
    state.phase = Phase.OVER
    for i, hand in enumerate(hands):
        others = [place for place in range(1, SEATS + 1) if place not in hand["places"]]
        state.places[i] = hand["places"] + others
    state.emperor = 0
    state.guard = [1 if len(hand["places"]) == 2 else -1 for hand in hands]
    state.solo = [hand.get("solo", Solo.NONE) for hand in hands]
    state.multiplier = [hand["m"] for hand in hands]
    return final_scores(state, rules)


def _pair_scores(preset: str, multipliers: tuple[int, ...]) -> str:
    rules = load_rules(preset)
    body = []
    for pair in itertools.combinations(range(1, SEATS + 1), 2):
        cells = []
        for m in multipliers:
            two = [{"places": list(order), "m": m} for order in (pair, pair[::-1])]
            scores = _finished(rules, two)
            assert (scores[0] == scores[1]).all()  # it does not matter who of the two is first
            emperor, guard, rebel = (f"{int(v):+d}".replace("+0", "0") for v in scores[0, :3])
            cells.append(f"{emperor} / {guard} / {rebel}".replace("-", "−"))
        body.append((f"{pair[0]} and {pair[1]}", *cells))
    return rows(("places of emperor and guard", *(f"m = {m}" for m in multipliers)), iter(body))


def _solo_scores(preset: str, modes: tuple[tuple[str, Solo, int], ...]) -> str:
    rules = load_rules(preset)
    body = []
    for name, solo, m in modes:
        hands = [{"places": [place], "solo": solo, "m": m} for place in range(1, SEATS + 1)]
        scores = _finished(rules, hands)
        cells = (f"{int(own):+d} / {int(other):+d}" for own, other in scores[:, :2])
        body.append((name, *(re.sub(r"[+-]0\b", "0", c).replace("-", "−") for c in cells)))
    return rows(("alone", *(f"place {place}" for place in range(1, SEATS + 1))), iter(body))


@part
def called_pair_scores() -> str:
    """Emperor / guard / each rebel where a card is called."""
    return _pair_scores("qingdao", (1, 2))


@part
def called_solo_scores() -> str:
    """Emperor / each other where a card is called."""
    modes = (("暗独, secret", Solo.SECRET, 1), ("明独, open", Solo.OPEN, 1),
             ("抢庄, grab", Solo.GRAB, 1))  # fmt: skip
    return _solo_scores("qingdao", modes)


@part
def marks_pair_scores() -> str:
    """Emperor / guard / each rebel with marks."""
    return _pair_scores("weihai", (1, 2, 4, 8))


@part
def marks_solo_scores() -> str:
    """Soloist / each other with marks."""
    secret, open_ = Solo.SECRET, Solo.OPEN
    modes = (("暗度", secret, 1), ("暗度 after 反", secret, 2), ("暗度 after 反 and 踢", secret, 4),
             ("明度", open_, 1), ("明度 after 踢", open_, 2))  # fmt: skip
    return _solo_scores("weihai", modes)


# --- example hands ------------------------------------------------------------------------------

EXAMPLES = {"qingdao": 1, "shiwei": 11, "weihai": 15}  # preset: line of tests/cases/hands_*.jsonl


def example_record(preset: str) -> dict[str, Any]:
    """The stored hand that a preset's page tells."""
    lines = (ROOT / "tests" / "cases" / f"hands_{preset}.jsonl").read_text("utf-8").splitlines()
    return load_record(lines[EXAMPLES[preset] - 1])


def _example_deal(preset: str) -> str:
    def order(card: str) -> tuple[int, str]:
        return (RANKS + "BR").index(card[0]), card

    hands = (sorted(hand.split(" "), key=order) for hand in example_record(preset)["hands"])
    lines = [f"seat {seat} ({len(hand)})  {' '.join(hand)}" for seat, hand in enumerate(hands)]
    return "```text\n" + "\n".join(lines) + "\n```"


@part
def example_deal_qingdao() -> str:
    """Dealt hands of the example."""
    return _example_deal("qingdao")


@part
def example_deal_shiwei() -> str:
    """Dealt hands of the example."""
    return _example_deal("shiwei")


@part
def example_deal_weihai() -> str:
    """Dealt hands of the example."""
    return _example_deal("weihai")


@part
def phase_numbers() -> str:
    """Numbers of the phases, as in `state.phase` and the one-hot of the observation."""
    return numbered(PHASE_NAMES)


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


# --- measured numbers, from the files that tools/make_performance.py leaves -----------------------


def _measured(name: str) -> dict[str, Any]:
    text = (ROOT / "docs" / "performance" / f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@part
def performance_peers() -> str:
    """Our loops beside those of other suites."""
    from lupai.train.bench.report import machine_sentence, peers_markdown

    data = _measured("peers")
    return f"{machine_sentence(data)}\n\n{peers_markdown(data)}"


@part
def performance_growth() -> str:
    """Cost by tables, by cards in hand, by preset."""
    from lupai.train.bench.growth import tables_markdown
    from lupai.train.bench.report import machine_sentence

    data = _measured("growth")
    return f"{machine_sentence(data)}\n\n{tables_markdown(data)}"


# --- experiments, from the files that tools/make_training.py leaves -------------------------------


def _experiment(name: str) -> str:
    from lupai.train.experiments import pages, results

    file = ROOT / "docs" / "training" / f"{name}.json"
    if not file.is_file():
        return f"Not measured yet: `python tools/make_training.py {name}`."
    picture = f"![learning curves of {name}](training/{name}.png)"
    return f"{pages.tables(results.read(file))}\n\n{picture}"


@part
def training_quick() -> str:
    """Reference runs of the quick recipes."""
    return _experiment("quick")


@part
def training_full() -> str:
    """Reference runs of qingdao_full."""
    return _experiment("full")


@part
def training_ablation() -> str:
    """What each part of the recipe gives."""
    return _experiment("ablation")


@part
def training_algorithms() -> str:
    """Deep Monte Carlo against PPO."""
    return _experiment("algorithms")


@part
def training_dmc() -> str:
    """What each part of Deep Monte Carlo gives."""
    return _experiment("dmc")


# --- particle posteriors, from the file that tools/make_particles.py leaves -----------------------


@part
def belief_particles() -> str:
    """Errors of particle posteriors against the exact ones."""
    data = json.loads((ROOT / "docs" / "belief" / "particles.json").read_text("utf-8"))
    out = [
        f"`{data['command']}`; population: {data['population']}; {data['seeds']} seeds.",
        "",
        f"| rules | moments | worlds | error, weights only | effective | ms "
        f"| error, {data['steps']} steps | effective | ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for preset, found in data["presets"].items():
        for i, plain in enumerate(found["weights"]["rows"]):
            names = (preset, str(found["moments"])) if i == 0 else ("", "")
            cells = [*names, str(plain["worlds"])]
            for row in (plain, *found["moved"]["rows"][i : i + 1]):
                share, time = f"{row['share']:.0%}", f"{1000 * row['seconds']:.0f}"
                cells += [f"{row['error']:.4f}", share, time]
            cells += ["–"] * (9 - len(cells))
            out.append(f"| {' | '.join(cells)} |")
        cells = [f"{found['grounded']:.4f}", "", "exact", f"{1000 * found['exact_seconds']:.0f}"]
        slopes = f"slope {found['weights']['slope']:.2f}", f"slope {found['moved']['slope']:.2f}"
        out.append(f"| | | | {slopes[0]} | | | {slopes[1]} | | |")
        out.append(f"| | | | grounded: {cells[0]} | | | exact in {cells[3]} ms | | |")
    return "\n".join(out)


@part
def belief_particles_full() -> str:
    """What particle posteriors gain over grounded with full decks."""
    data = _belief("particles-full")
    if data is None:
        return "Not measured yet: `python tools/make_particles_full.py`."
    out = [
        f"`{data['command']}`",
        "",
        "| rules | moments | moves | grounded, nats | worlds | steps | gain, nats | 95 % "
        "| effective | seeds apart | s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for preset, found in data["presets"].items():
        names = [preset, str(found["moments"]), f"{found['moves']:.0f}", f"{found['grounded']:.3f}"]
        for row in (found["weights"], found["moved"]):
            interval = f"{row['low']:+.3f} … {row['high']:+.3f}"
            cells = [*names, str(row["worlds"]), str(row["steps"]), f"{row['gain']:+.3f}", interval]
            cells += [f"{row['effective']:.1f}", f"{row['apart']:.3f}", f"{row['seconds']:.2f}"]
            out.append(f"| {' | '.join(cells)} |")
            names = [""] * 4
    return "\n".join(out)


@part
def belief_worth() -> str:
    """What it changes if players are told who is guard."""
    data = _belief("worth")
    if data is None:
        return "Not measured yet: `python tools/make_worth.py`."
    out = [
        f"`{data['command']}`",
        "",
        "| rules | hands | who | before | truth | grounded | flat | wrong |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for preset, found in data["presets"].items():
        names = [preset, str(found["hands"])]
        rows = found["interventions"]
        for who in dict.fromkeys(row["who"] for row in rows):
            mine = [row for row in rows if row["who"] == who]
            cells = [*names, who, f"{mine[0]['before']:+.2f}", *map(_difference, mine)]
            out.append(f"| {' | '.join(cells)} |")
            names = ["", ""]
    return "\n".join(out)


@part
def belief_price() -> str:
    """What it changes if the guard is public."""
    data = _belief("worth")
    if data is None:
        return "Not measured yet: `python tools/make_worth.py`."
    out = [
        "| rules | players | whose score | hidden | public | public less hidden | hands |",
        "|---|---|---|---|---|---|---|",
    ]
    for preset, found in data["presets"].items():
        for player, rows in found["price"].items():
            names = [preset, player]
            for row in rows:
                who = {"rebels": "a rebel", "camp": "emperor and guard"}.get(row["who"], row["who"])
                cells = [*names, who, f"{row['before']:+.2f}", f"{row['after']:+.2f}"]
                out.append(f"| {' | '.join([*cells, _difference(row), str(row['hands'])])} |")
                names = ["", ""]
    return "\n".join(out)


@part
def belief_data() -> str:
    """Data sets with their commands and hashes: the samples, and those of the results."""
    from lupai.train.belief.data import open_data, sample_names

    out = ["| data set | command | SHA-256 |", "|---|---|---|"]
    sets = [(f"`{name}`", open_data(name).plan, open_data(name).sha256) for name in sample_names()]
    made = [(name, plan.rules, plan.hands, plan.seed, digest) for name, plan, digest in sets]
    for preset in PRESETS:
        table = _belief(f"table-{preset}")
        if table is not None:
            words = table["command"].split(" ")
            hands = int(words[words.index("--hands") + 1]) if "--hands" in words else 2000
            digest = table["results"][0]["data_sha256"]
            made.append((f"[results](#results), {preset}", preset, hands, 20, digest))
    for name, rules, hands, seed, digest in made:
        command = (
            f"lupai belief make-data --rules {rules} --players tactical --calling neutral "
            f"--hands {hands} --seed {seed} -o data"
        )
        out.append(f"| {name} | `{command}` | `{digest}` |")
    return "\n".join(out)


@part
def belief_leak() -> str:
    """What moves tell of the guard, over all kinds of moves."""
    data = _belief("leak")
    if data is None:
        return "Not measured yet: `python tools/make_leak.py`."
    out = [
        f"`{data['command']}`",
        "",
        "| rules | players | roles in training | observer | hands | leak of a guard's move "
        "| control | leak of a guard's moves in a hand | of the rebels' | of the emperor's |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in data["results"]:
        for found in result["results"]:
            rows = _leak_rows(found, "per_hand")
            hands = [_interval(rows[who]["per_hand"]) if who in rows else "" for who in _MOVERS]
            guard = rows["guard"]
            cells = [
                result["rules"], result["population"], found["roles"], found["observer"],
                str(found["hands"]), _interval(guard["leak"]), _interval(guard["control"]), *hands,
            ]  # fmt: skip
            out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


@part
def belief_leak_kinds() -> str:
    """The same by kind of move."""
    from lupai.train.belief.leak import KINDS

    data = _belief("leak")
    if data is None:
        return "Not measured yet: `python tools/make_leak.py`."
    out = [
        "| rules | move | by the guard | leak | by a rebel | leak |",
        "|---|---|---|---|---|---|",
    ]
    for rules, found in _shown_leaks(data):
        rows = {(row["mover"], row["kind"]): row for row in found["rows"]}
        name = rules
        for kind in KINDS:
            cells = []
            for mover in ("guard", "rebel"):
                row = rows.get((mover, kind))
                told = "" if row is None else _interval(row.get("leak", row["change"]))
                cells += ["" if row is None else f"{row['moves']:,}", told]
            if any(cells):
                shown = f"{kind} (change)" if kind == KINDS[-1] else kind
                out.append(f"| {name} | {shown} | {' | '.join(cells)} |")
                name = ""
    return "\n".join(out)


@part
def belief_leak_tricks() -> str:
    """The same by trick."""
    from lupai.train.belief.tables import span

    data = _belief("leak")
    if data is None:
        return "Not measured yet: `python tools/make_leak.py`."
    out = ["| rules | trick | moves | change | leak | control |", "|---|---|---|---|---|---|"]
    for rules, found in _shown_leaks(data):
        name = rules
        for row in found["rows"]:
            if row["mover"] == "guard" and row["tricks"] is not None:
                cells = [name, span(*row["tricks"]), f"{row['moves']:,}"]
                cells += [_interval(row[key]) for key in ("change", "leak", "control")]
                out.append(f"| {' | '.join(cells)} |")
                name = ""
    return "\n".join(out)


_MOVERS = ("guard", "rebel", "emperor")


def _shown_leaks(data: Any) -> Iterator[tuple[str, Any]]:
    for result in data["results"]:
        for found in result["results"]:
            shown = result["population"], found["roles"], found["observer"]
            if shown == ("tactical", "true", "spectator"):
                yield result["rules"], found


def _leak_rows(found: Any, key: str) -> dict[str, Any]:
    return {row["mover"]: row for row in found["rows"] if key in row}


def _interval(told: Any) -> str:
    if told["low"] is None:
        return f"{told['value']:+z.3f}"
    return f"{told['value']:+z.3f} ({told['low']:+z.3f} … {told['high']:+z.3f})"


def _belief(name: str) -> Any:
    file = ROOT / "docs" / "belief" / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else None


def _difference(row: dict[str, Any]) -> str:
    return f"{row['mean']:+.2f} ({row['low']:+.2f} … {row['high']:+.2f})"


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
