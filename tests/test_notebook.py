"""The quickstart notebook runs from its first cell to its last in a fresh kernel."""

import importlib.util
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "quickstart.ipynb"


def read():
    return nbformat.read(NOTEBOOK, as_version=4)


def printed(notebook):
    """Everything that the cells print or show as text."""
    outputs = (out for cell in notebook.cells for out in cell.get("outputs", []))
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def execute(monkeypatch, run):
    monkeypatch.setenv("LUPAI_RUN", str(run))  # the kernel inherits it
    notebook = read()
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    client = nbclient.NotebookClient(
        notebook, timeout=120, startup_timeout=120, kernel_name="python3", resources=resources
    )
    client.execute()
    return printed(notebook)


@pytest.mark.slow
def test_it_runs_where_nothing_was_trained(tmp_path, monkeypatch):
    text = execute(monkeypatch, tmp_path / "no such run")
    assert "greedy would play" in text
    assert "guard" in text  # the guard's own view was shown


@pytest.mark.slow
def test_it_runs_with_a_trained_agent(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from tests.tiny_agent import save_tiny_agent

    text = execute(monkeypatch, save_tiny_agent(tmp_path / "run"))
    assert "tiny would play" in text
    assert "no trained agent here" not in text


def test_it_is_stored_without_outputs():
    notebook = read()
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_it_is_valid_without_a_kernel_of_the_authors_machine():
    metadata = read().metadata
    assert metadata.kernelspec.name == "python3"
    assert set(metadata) <= {"kernelspec", "language_info"}
    assert importlib.util.find_spec("ipykernel"), "the dev extra brings it"
