"""Each script of tools/ can be started: what it imports is where it looks for it."""

import runpy
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

TOOLS = sorted((Path(__file__).resolve().parents[1] / "tools").glob("*.py"))
EXTRAS = ("torch", "ray", "matplotlib", "build")  # may be missing


def test_the_tools_are_found():
    assert len(TOOLS) > 15


@pytest.mark.parametrize("tool", TOOLS, ids=lambda path: path.stem)
def test_a_tool_says_what_it_is_for(tool, monkeypatch, capsys):
    """``--help`` of a script; what the scripts share is only imported.

    tools/tune_tactical.py once imported a class from where it no longer was, unnoticed.
    """
    monkeypatch.setattr(sys, "argv", [str(tool), "--help"])
    monkeypatch.syspath_prepend(str(tool.parent))
    script = '__name__ == "__main__"' in tool.read_text("utf-8")
    leave = None
    try:
        with pytest.raises(SystemExit) if script else nullcontext() as leave:
            runpy.run_path(str(tool), run_name="__main__" if script else tool.stem)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        pytest.skip(f"{error.name} is not installed")
    if script:
        assert leave.value.code == 0
        assert f"usage: {tool.name}" in capsys.readouterr().out
