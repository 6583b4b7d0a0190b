"""The pages say what the code does: tables are current, code runs, links and commands hold."""

import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
import types
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from lupai.agents.registry import AGENTS
from lupai.envs import baohuang_v0
from lupai.envs.baohuang.actions import ACTIONS, VERB_ID, VERBS
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import OPTION_NAMES, PRESETS, Rules, load_rules
from lupai.envs.baohuang.state import PHASE_NAMES, PHASE_PLAY
from lupai.envs.game import GAMES
from lupai.envs.records import verify_record
from lupai.train.cli import make_parser

ROOT = Path(__file__).resolve().parents[1]
_SPEC = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
make_docs = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_docs)

PAGES = make_docs.pages()
PROSE = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
every_prose = pytest.mark.parametrize("page", PROSE, ids=lambda p: p.stem)

# A fence, with the comment on the line before it if there is one.
_FENCE = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)


def blocks(page, *kinds):
    """(mark, text) of the page's code blocks of some kinds."""
    found = _FENCE.finditer(page.read_text("utf-8"))
    return [(m["mark"] or "", m["text"]) for m in found if m["kind"] in kinds]


@every_page
def test_generated_parts_are_current(page):
    text = page.read_text("utf-8")
    new = make_docs.fill(text, consoles=False)
    assert new == text, "run: python tools/make_docs.py"


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if "<!-- console -->" in p.read_text("utf-8")])
def test_the_shown_output_of_commands_is_what_they_print(page):
    text = page.read_text("utf-8")
    assert make_docs.fill(text) == text, "run: python tools/make_docs.py"


@pytest.fixture
def place_with_a_run(tmp_path, monkeypatch):
    """An empty working folder; with torch, `runs/quick` in it is an (untrained) agent."""
    monkeypatch.chdir(tmp_path)
    if importlib.util.find_spec("torch") is not None:
        from tests.tiny_agent import save_tiny_agent

        save_tiny_agent(tmp_path / "runs" / "quick")
    return tmp_path


@every_page
def test_python_blocks_run(page, place_with_a_run):
    """All blocks of a page share one namespace, in order, as a reader would type them."""
    # In sys.modules, so that classes defined on a page can be pickled.
    module = types.ModuleType("docs_page")
    sys.modules["docs_page"] = module
    for number, (mark, text) in enumerate(blocks(page, "python"), 1):
        if mark == "needs torch" and importlib.util.find_spec("torch") is None:
            continue
        name = f"{page.name}, python block {number}"
        if ">>> " in text:
            test = doctest.DocTestParser().get_doctest(text, module.__dict__, name, None, None)
            result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
                test, clear_globs=False
            )
            assert result.failed == 0, name
            module.__dict__.update(test.globs)
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, name, "exec"), module.__dict__)
    del sys.modules["docs_page"]


def test_the_readme_loop_is_ten_lines():
    loop = blocks(ROOT / "README.md", "python")[0][1]
    assert len([line for line in loop.splitlines() if line.strip()]) == 10


def commands(page):
    """Every `lupai …` line of the page's shell and console blocks, continued lines joined."""
    for _, text in blocks(page, "console", "sh", "bash"):
        for line in text.replace("\\\n", " ").splitlines():
            line = line.removeprefix("$ ")
            for piece in re.split(r" (?:\||&&|<|>) ", line):
                if piece.startswith("lupai "):
                    yield shlex.split(piece, comments=True)


COMMANDS = sorted({tuple(c) for page in PROSE for c in commands(page)})


def test_some_commands_are_shown():
    assert {c[1] for c in COMMANDS} >= {"legal", "record", "verify", "train", "evaluate"}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command_lines_parse(command):
    """Options are known to the parser; what the command would do is not done."""
    assert make_parser().parse_args(command[1:]).command == command[1]


def anchors(page):
    """Anchors of a page's headings, as the usual renderers make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-") for head in heads}


@every_prose
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        assert ROOT in file.parents or file == ROOT, f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}"


@every_prose
def test_no_path_of_a_certain_machine_is_named(page):
    text = page.read_text("utf-8")
    found = re.findall(
        r"(?<![\w.])(?:/(?:home|work|tmp|root|usr|opt|mnt|Users)/|[A-Z]:\\)\S*", text
    )
    assert not found, page.name
    assert str(ROOT) not in text
    assert not re.search(r"\.\./shared|pypi\.org|\.whl\b.*https?:", text), page.name


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem
)
def test_links_of_notebooks_lead_somewhere(notebook):
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        for target in re.findall(r"\]\(([^)\s]+)\)", "".join(cell["source"])):
            path, _, anchor = target.partition("#")
            file = (notebook.parent / path).resolve()
            assert file.exists(), target
            assert not anchor or anchor in anchors(file), target


def test_the_table_of_commands_holds_every_command():
    (table,) = tables(ROOT / "docs" / "command-line.md", "command", "does")
    told = [word.removeprefix("lupai ") for row in table for word in coded(row[0])]
    (there,) = (a for a in make_parser()._actions if a.dest == "command")
    assert sorted(told) == sorted(there.choices)


def test_the_readme_says_which_agent_plays_which_game():
    (table,) = tables(ROOT / "README.md", "what there is", "保皇")
    (row,) = (row for row in table if row[0] == "agents by rules")
    agents = {name: getattr(make(), "games", tuple(GAMES)) for name, make in AGENTS.items()}
    for game, cell in zip(GAMES, row[1:], strict=True):
        assert coded(cell) == [name for name, games in agents.items() if game in games]


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index


def test_make_docs_says_which_pages_are_stale(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: action_total -->\nold\n<!-- /generated -->\n", "utf-8")
    monkeypatch.setattr(make_docs, "pages", lambda: [page])
    monkeypatch.setattr(make_docs, "ROOT", tmp_path)
    assert make_docs.main(["--check"]) == 1
    assert "stale: page.md" in capsys.readouterr().out
    assert make_docs.main([]) == 0
    assert make_docs.main(["--check"]) == 0
    assert "old" not in page.read_text("utf-8")


def test_the_metrics_of_a_run_are_explained():
    """Each name that the trainer writes stands in docs/training.md."""
    page = (ROOT / "docs" / "training.md").read_text("utf-8")
    code = "\n".join(p.read_text("utf-8") for p in (ROOT / "train").glob("*.py"))
    names = set(re.findall(r'"((?:time|play|loss|score)/[a-z_]+)"', code))
    assert names, "the trainer's metric names are not where this test looks"
    assert not {name for name in names if f"`{name}`" not in page}


# --- rules: what the pages say of options, phases and answers is what the engine does ------------

RULES_PAGE = {preset: ROOT / "docs" / f"rules-{preset}.md" for preset in PRESETS}
every_preset = pytest.mark.parametrize("preset", PRESETS)
MARKED = "shiwei;guard_by=marked_small_joker"
# Under all of these together every phase and every answer is met.
TABLES = (*PRESETS, MARKED)


def tables(page, *header):
    """Rows (lists of cells) of each table of a page that begins with these column names."""
    start = re.escape("| " + " | ".join(header))
    found = re.findall(rf"^{start}.*\n\|---.*\n((?:\|.*\n)+)", page.read_text("utf-8"), re.M)
    return [[cells(row) for row in body.splitlines()] for body in found]


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def coded(text):
    """What stands in backticks."""
    return re.findall(r"`([^`]+)`", text)


@cache
def answers_met(rules):
    """Answers that are legal somewhere in each phase, over many half random hands."""
    engine, rng = Engine(rules), np.random.default_rng(0)
    met = {}
    # Calm tables reach the late phases; wild ones take every chance. A few play on to the end.
    for calm, count, to_the_end in ((0.9, 400, False), (0.3, 200, False), (0.5, 24, True)):
        state = engine.reset(range(count))
        while True:
            t = np.flatnonzero(~state.over if to_the_end else state.phase < PHASE_PLAY)
            if not t.size:
                break
            ids, offsets = engine.legal(state, t).ids()
            phases = state.phase[t]
            for phase in np.unique(phases):
                of = np.repeat(phases == phase, np.diff(offsets))
                words = met.setdefault(PHASE_NAMES[phase], set())
                words.update(answer(action) for action in np.unique(ids[of]))
            first, last = offsets[:-1], offsets[1:] - 1
            quiet = np.where(np.isin(ids[last], QUIET), last, first)
            quiet = np.where(np.isin(ids[first], QUIET), first, quiet)
            wild = rng.integers(first, last + 1)
            if to_the_end:  # sets have the highest ids; playing them ends the hand sooner
                quiet = np.where(phases == PHASE_PLAY, last, quiet)
            engine.step(state, ids[np.where(rng.random(len(t)) < calm, quiet, wild)], t)
        if to_the_end:
            met["over"] = set()
    return met


QUIET = [VERB_ID[verb] for verb in ("decline", "cede", "keep", "silent")]


@cache
def answer(action):
    """An action as the pages write answers."""
    move = ACTIONS.decode(int(action))
    if move.verb == "play":
        return "play s"
    return f"call c {move.way}".strip() if move.verb == "call" else move.verb


@pytest.mark.parametrize("rules", TABLES)
def test_the_page_of_a_preset_tells_every_phase_and_every_answer(rules):
    """Its table of phases is what the engine asks, no more and no less, in this order."""
    preset = rules.partition(";")[0]
    told = tables(RULES_PAGE[preset], "phase", "in Chinese")[rules == MARKED]
    told = {coded(phase)[0]: set(coded(answers)) for phase, _, _, answers in told}
    assert told == answers_met(rules)
    places = [list(told).index(phase) for phase in PHASE_NAMES if phase in told]
    assert places == sorted(places)


def test_the_table_of_all_phases_is_what_the_engine_asks():
    (table,) = tables(ROOT / "docs" / "environment.md", "phase", "in Chinese")
    told = {coded(phase)[0]: set(coded(answers)) for phase, _, answers, _ in table}
    assert tuple(told) == PHASE_NAMES
    met = {phase: set() for phase in PHASE_NAMES}
    for rules in TABLES:
        for phase, words in answers_met(rules).items():
            met[phase] |= words
    assert told == met


@pytest.mark.parametrize("rules", TABLES)
def test_the_table_of_infos_holds_every_key(rules):
    (table,) = tables(ROOT / "docs" / "environment.md", "key", "when")
    env = baohuang_v0.raw_env(rules)
    env.reset(seed=7)
    env.action_space("player_0").seed(0)
    told = {when: {coded(row[0])[0] for row in table if row[1] == when} for _, when, _ in table}
    assert set(env.last()[4]) == told["always"]
    while not env.terminations["player_0"]:
        env.step(env.action_space("player_0").sample(env.last()[0]["action_mask"]))
    assert set(env.last()[4]) == told["always"] | told["at the end"]


def test_the_table_of_moves_holds_every_verb_with_its_phases():
    (table,) = tables(ROOT / "docs" / "formats.md", "move", "when")
    told = {}
    for moves, when, _ in table:
        for move in coded(moves):
            parsed = ACTIONS.parse(move)
            told.setdefault(answer(ACTIONS.encode(parsed)), set()).update(coded(when))
    met = {}
    for rules in TABLES:
        for phase, words in answers_met(rules).items():
            for word in words:
                met.setdefault(word, set()).add(phase)
    assert told == met
    assert {word.split(" ")[0] for word in told} == {*VERBS, "call", "play"}


def choices(option):
    """Named values of an option, none for flags and numbers."""
    kinds = get_args(Rules.model_fields["yield_" if option == "yield" else option].annotation)
    values = [value for kind in kinds for value in (get_args(kind) or (kind,))]
    return {value for value in values if isinstance(value, str)}


@every_preset
def test_the_page_of_a_preset_tells_where_tables_differ(preset):
    """Every option that can be changed, its value here, and changes that the engine plays."""
    (table,) = tables(RULES_PAGE[preset], "other tables", "option")
    fixed = {name for name, value in PRESETS[preset].items() if value is None}
    fixed |= {"guard_card"} if preset == "weihai" else set()  # 特画 needs a called card
    assert {coded(row[1])[0] for row in table} == set(OPTION_NAMES) - fixed
    base = load_rules(preset).model_dump(by_alias=True)
    for row in table:
        option, here, changes = coded(row[1])[0], coded(row[2])[0], coded(row[3])
        assert here == str(base[option]).lower(), option
        values = []
        for change in changes:
            rules = load_rules(f"{preset};{change}")
            values.append(rules.model_dump(by_alias=True)[option])
            state = Engine(rules).reset([0])
            assert not state.over[0]
        assert len({*values, base[option]}) == len(changes) + 1, f"{option}: {changes}"
        assert {*values, base[option]} >= choices(option), option


def test_the_common_table_holds_every_option():
    (table,) = tables(ROOT / "docs" / "rules.md", "option", "values")
    assert [coded(row[0])[0] for row in table] == list(OPTION_NAMES)
    for row in table:
        option = coded(row[0])[0]
        assert set(coded(row[1])) >= choices(option)
        for preset, shown in zip(PRESETS, row[2:5], strict=True):
            value = PRESETS[preset][option]
            assert shown == ("–" if value is None else f"`{str(value).lower()}`"), option


@every_preset
def test_the_example_hand_is_the_beginning_of_a_stored_record(preset):
    record = make_docs.example_record(preset)
    assert record["rules"] == {"preset": preset}
    text = RULES_PAGE[preset].read_text("utf-8")
    name, number = f"hands_{preset}.jsonl", make_docs.EXAMPLES[preset]
    assert f"line {number} of `tests/cases/{name}`" in text
    section = text.split(f"<!-- example: {preset} -->\n")[1]
    table = section.split("\n\n")[0].splitlines()
    moves = [move for row in table[2:] for move in coded(cells(row)[0])]
    assert len(moves) >= 12
    assert moves == record["moves"][: len(moves)]
    end = coded(section.split("\n\n")[1])
    assert json.loads(end[0]) == record["finish"]
    assert json.loads(end[1]) == record["scores"]
    assert verify_record(record) == []


@every_preset
def test_the_readme_helps_to_choose_a_preset(preset):
    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split("## Which preset do I play?")[1].split("\n## ")[0]
    assert f"[`{preset}`](docs/rules-{preset}.md)" in section


def test_no_page_calls_a_rule_unbuilt():
    """All presets and options are built; what is not (other games) may be said to be so."""
    for page in PROSE:
        for line in page.read_text("utf-8").splitlines():
            said = re.search(r"not built", line) and re.search(r"preset|option|特画|shiwei", line)
            assert not said, f"{page.name}: {line}"


def test_shown_python_is_formatted():
    """ruff format, on every block that is no doctest."""
    ruff = Path(sys.executable).with_name("ruff")
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    for page in PAGES:
        for _, text in blocks(page, "python"):
            if ">>> " in text:
                continue
            done = subprocess.run(
                [ruff, "format", "--diff", "--line-length", "100", "-"], input=text, text=True,
                capture_output=True, cwd=ROOT, env=os.environ, timeout=60,
            )  # fmt: skip
            assert done.returncode == 0, f"{page.name}\n{done.stdout}"
