"""What an install must bring, from a checkout or from the wheel."""

import hashlib
import importlib.metadata
import importlib.resources
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
import yaml

import lupai
from lupai.agents.search.network import load_value, sight_of
from lupai.agents.shipped import shipped_folder, shipped_names
from lupai.envs.baohuang.rules import PRESETS
from lupai.envs.game import GAMES, rules_class
from lupai.envs.records import verify_record
from lupai.train.belief.data import open_data, sample_names
from lupai.train.belief.splits import SPLITS, deal_hash, split_of

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parents[1]
in_checkout = pytest.mark.skipif(
    not (ROOT / "src" / "lupai").is_dir(), reason="compares with files that only a checkout has"
)


def setuptools_settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


@in_checkout
def test_every_folder_with_an_init_is_in_the_packages_list():
    settings = setuptools_settings()
    found = {
        ".".join([package, *init.parent.relative_to(ROOT / folder).parts])
        for package, folder in settings["package-dir"].items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert sorted(settings["packages"]) == sorted(found)


@in_checkout
def test_every_folder_with_code_has_an_init():
    for folder in setuptools_settings()["package-dir"].values():
        for module in (ROOT / folder).rglob("*.py"):
            assert (module.parent / "__init__.py").is_file(), module


@in_checkout
def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == lupai.__version__


def test_the_version_is_the_installed_one():
    assert re.fullmatch(r"\d+\.\d+\.\d+", lupai.__version__)
    assert importlib.metadata.version("lupai") == lupai.__version__


def test_the_types_are_shipped():
    assert importlib.resources.files("lupai").joinpath("py.typed").is_file()


def test_the_console_command_exists_and_helps():
    # In the wheel's environment this also says that the command line starts without torch.
    command = shutil.which("lupai", path=sysconfig.get_path("scripts"))
    assert command
    done = subprocess.run([command, "--help"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "lupai" in done.stdout


def test_importing_the_envs_brings_neither_torch_nor_ray():
    code = "import sys, lupai.envs; print(sorted({'torch', 'ray'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_every_recipe_is_readable_from_the_package():
    folder = importlib.resources.files("lupai.configs")
    recipes = [entry for entry in folder.iterdir() if entry.name.endswith(".yaml")]
    assert recipes
    for recipe in recipes:
        assert isinstance(yaml.safe_load(recipe.read_text("utf-8")), dict), recipe.name


@pytest.mark.parametrize("game", GAMES)
def test_every_preset_has_its_value_network(game):
    files = importlib.resources.files(sight_of(game).package)
    for preset in rules_class(game).presets:
        assert load_value(game, rules_class(game).load(preset)) is not None
        assert len(files.joinpath(f"value_{preset}.npz").read_bytes()) <= 400_000


def test_shipped_agents_are_whole_and_small():
    limit = 10_000_000  # tools/ship_agent.py refuses more
    for name in shipped_names():
        folder = shipped_folder(name)
        sizes = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
        assert {"agent.json", "weights.pt", "agent.onnx", "README.md"} <= set(sizes), name
        assert sum(sizes.values()) <= limit, name
        card = json.loads((folder / "agent.json").read_text("utf-8"))
        digest = hashlib.sha256((folder / "weights.pt").read_bytes()).hexdigest()
        assert card["weights_sha256"] == digest, name
        assert digest in (folder / "README.md").read_text("utf-8"), name
        assert str(rules_class(card["game"]).load(card["rules"])) == card["rules"], name


def test_every_preset_has_sample_hands():
    """Hands for ``lupai belief`` that are possible, in their splits, whole and small."""
    assert sample_names() == tuple(f"sample:{preset}" for preset in sorted(PRESETS))
    for name in sample_names():
        data = open_data(name)
        assert name == f"sample:{data.rules}"
        assert (data.plan.players, data.plan.calling) == (("tactical",), "neutral")  # as docs say
        sizes = [path.stat().st_size for path in data.folder.rglob("*") if path.is_file()]
        assert sum(sizes) < 400_000
        for split in SPLITS:
            records = [record for some in data.records(split) for record in some]
            assert len(records) == data.hands(split) > 0
            assert {split_of(deal_hash(record)) for record in records} == {split}
            assert verify_record(records[0]) == []


@in_checkout
def test_every_file_of_a_sample_is_in_the_package_data():
    patterns = setuptools_settings()["package-data"]["lupai.train.belief"]
    home = ROOT / "train" / "belief"
    for path in (home / "samples").rglob("*"):
        if path.is_file():
            assert any(path.relative_to(home).match(pattern) for pattern in patterns), path


@in_checkout
def test_every_file_of_a_shipped_agent_is_in_the_package_data():
    patterns = setuptools_settings()["package-data"]["lupai.agents.shipped"]
    home = ROOT / "agents" / "shipped"
    for path in home.glob("*/*"):
        if path.parent.name != "__pycache__":
            assert any(path.match(pattern) for pattern in patterns), path
