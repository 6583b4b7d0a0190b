"""The notebooks run from their first cell to their last in a fresh kernel."""

import importlib.util
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read(name):
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def printed(notebook):
    """Everything that the cells print or show as text."""
    outputs = (out for cell in notebook.cells for out in cell.get("outputs", []))
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def execute(name, timeout=120):
    notebook = read(name)
    resources = {"metadata": {"path": str(FOLDER)}}
    client = nbclient.NotebookClient(
        notebook, timeout=timeout, startup_timeout=120, kernel_name="python3", resources=resources
    )
    client.execute()
    return notebook


def quickstart(monkeypatch, run):
    monkeypatch.setenv("LUPAI_RUN", str(run))  # the kernel inherits it
    return printed(execute("quickstart"))


@pytest.mark.slow
def test_it_runs_where_nothing_was_trained(tmp_path, monkeypatch):
    text = quickstart(monkeypatch, tmp_path / "no such run")
    assert "greedy would play" in text
    assert "guard" in text  # the guard's own view was shown


@pytest.mark.slow
def test_it_runs_with_a_trained_agent(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from tests.tiny_agent import save_tiny_agent

    text = quickstart(monkeypatch, save_tiny_agent(tmp_path / "run"))
    assert "tiny would play" in text
    assert "no trained agent here" not in text


@pytest.mark.train
@pytest.mark.slow
@pytest.mark.xdist_group("ray commands")
def test_self_play_trains_shows_curves_and_measures(tmp_path, monkeypatch):
    for name in ("ray", "tensorboard", "matplotlib"):
        pytest.importorskip(name)
    small = (
        "network.hidden=[16] network.move_hidden=8 network.value_hidden=[8] ppo.batch_size=512 "
        "ppo.minibatch_size=256 ppo.epochs=1 workers.envs_per_runner=8 watch.every=1 watch.deals=2"
    )
    monkeypatch.setenv("LUPAI_MINUTES", "0.01")
    monkeypatch.setenv("LUPAI_VALUES", f"{small} runs={tmp_path}")
    notebook = execute("self_play", timeout=280)
    text = printed(notebook)
    assert (tmp_path / "notebook" / "metrics.jsonl").is_file()
    assert "curves, such as" in text
    assert "finished: " in text
    assert "notebook" in text.split("finished: ")[1]  # the agent's row in the arena's table
    pictures = [out for cell in notebook.cells for out in cell.get("outputs", [])
                if "image/png" in out.get("data", {})]  # fmt: skip
    assert len(pictures) == 1


@pytest.mark.slow
def test_the_guard_is_looked_for_in_one_hand_and_in_many(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("LUPAI_HANDS", "60")
    monkeypatch.setenv("LUPAI_RUNS", str(tmp_path))
    monkeypatch.delenv("LUPAI_GRU", raising=False)
    notebook = execute("who_is_the_guard", timeout=240)
    text = printed(notebook)
    assert (tmp_path / "guard-60" / "data.json").is_file()
    assert "(guard)" in text
    assert "nats for the guard" in text
    assert "tactical, rules qingdao, split test" in text
    assert "all moves of the guard" in text
    outputs = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    pictures = [data["image/svg+xml"] for data in outputs if "image/svg+xml" in data]
    assert len(pictures) == 3
    assert all("naive Bayes" in picture for picture in pictures)


@pytest.mark.parametrize("name", NAMES)
def test_notebooks_are_stored_without_outputs(name):
    notebook = read(name)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("name", NAMES)
def test_they_are_valid_without_a_kernel_of_the_authors_machine(name):
    metadata = read(name).metadata
    assert metadata.kernelspec.name == "python3"
    assert set(metadata) <= {"kernelspec", "language_info"}
    assert importlib.util.find_spec("ipykernel"), "the dev extra brings it"
