"""The pages say what the code does: tables are current, code runs, links and commands hold."""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

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


def test_the_readme_tells_what_is_not_built():
    from lupai.envs.baohuang.rules import PRESETS, check_built, load_rules
    from lupai.envs.errors import RulesError

    text = (ROOT / "README.md").read_text("utf-8")
    section = text.split("## Not built yet")[1].split("\n## ")[0]
    for preset in PRESETS:
        try:
            check_built(load_rules(preset))
        except RulesError:
            assert f"`{preset}`" in section


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
