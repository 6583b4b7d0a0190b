"""The examples in docstrings run.

`pytest --doctest-modules` would import the files as `envs.*`, a second copy of every class.
"""

import doctest
import importlib
import importlib.util
import pkgutil

import pytest

import lupai.agents
import lupai.envs
from lupai.envs.game import GAMES

HAS_TORCH = importlib.util.find_spec("torch") is not None
HEAVY = ("torch", "ray", "tensorboard")


def modules():
    """Full names of all modules of the packages; packages themselves included."""
    for package in (lupai.envs, lupai.agents):
        yield package.__name__
        for entry in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            yield entry.name


MODULES = sorted(modules())


def run(name):
    """Results of one module; skips where it needs what only the extra `train` brings."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in HEAVY and not HAS_TORCH:
            pytest.skip(f"needs {error.name}")
        raise
    return doctest.testmod(module, optionflags=doctest.ELLIPSIS)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert run(name).failed == 0


def test_the_walk_finds_modules_and_examples():
    # An editable install without the folders would give an empty list and a green test.
    games = [f"lupai.envs.{game}{module}" for game in GAMES for module in ("_v0", ".engine")]
    assert {*games, "lupai.agents"} <= set(MODULES)
    for name in games:
        assert run(name).attempted > 0
