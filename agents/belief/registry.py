"""Predictors by name, by the folder of a trained one, or by the class of a module.

Those of known populations have options in their names (:mod:`lupai.agents.belief.known`), those of
trained agents the agent's (:mod:`lupai.agents.belief.role_head`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lupai.agents.belief.base import BeliefError, Predictor
from lupai.agents.belief.files import CARD_FILE, read_folder
from lupai.agents.belief.known import KNOWN, is_known, known_predictor
from lupai.agents.belief.naive_bayes import NaiveBayes
from lupai.agents.belief.simple import Grounded, TacticalBelief, Uniform
from lupai.agents.registry import import_object

__all__ = ["PREDICTORS", "load_predictor"]

PREDICTORS: Final[dict[str, Callable[[], Predictor]]] = {
    "uniform": Uniform,
    "grounded": Grounded,
    "tactical": TacticalBelief,
}
ROLE_HEAD: Final = "role-head:"


def load_predictor(name: str | os.PathLike[str], rules: str | None = None) -> Predictor:
    """A predictor by name, by its folder, or by its class ``module:Class``.

    Names come first: a folder that is called ``uniform`` is ``./uniform``. ``exact`` and
    ``particles`` take options, ``exact:agent=tactical+noise=0.1``. ``role-head:AGENT`` is what a
    trained agent (a run, its folder, ``lupai/NAME``) says of itself. Modules are looked for
    in the current folder too; the class (or any function) is called without arguments, and what is
    a predictor already is taken as it is.

    Args:
        name: of the predictor, its folder, or ``module:Class``.
        rules: rules string it is wanted for; a trained predictor of others is refused.

    Raises:
        BeliefError: there is none; says which names there are, or what is wrong with the options,
            folder or module. Or torch is not installed.
    """
    text = os.fspath(name)
    if text in PREDICTORS:
        return PREDICTORS[text]()
    if is_known(text):
        return known_predictor(text, rules)
    if text.startswith(ROLE_HEAD):
        return _from_agent(text, rules)
    if Path(text).exists() and text:
        return _from_folder(text, rules)
    if ":" in text:
        return _from_module(text)
    raise BeliefError(
        f"predictor {text!r}: no such predictor and no such folder; predictors: "
        f"{', '.join((*PREDICTORS, *KNOWN))}, {ROLE_HEAD}AGENT, or a folder with {CARD_FILE}, or a "
        f"class, such as my_module:MyPredictor"
    )


def _from_folder(text: str, rules: str | None) -> Predictor:
    card, _ = read_folder(text, rules)
    if card.kind == "naive_bayes":
        return NaiveBayes.load(text, rules)
    with _needing_torch(text, f"a {card.kind}"):
        from lupai.agents.belief.network import NetworkPredictor
    predictor: Predictor = NetworkPredictor.load(text, rules)
    return predictor


def _from_agent(text: str, rules: str | None) -> Predictor:
    with _needing_torch(text, "a role head"):
        from lupai.agents.belief.role_head import RoleHeadPredictor
    predictor: Predictor = RoleHeadPredictor.load(text.removeprefix(ROLE_HEAD), rules)
    return predictor


@contextmanager
def _needing_torch(text: str, what: str) -> Iterator[None]:
    # More threads make small batches slower, and many times so on a machine that is not idle.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lupai"):
            raise
        raise BeliefError(
            f'predictor {text!r}: {what} needs {error.name}; pip install "lupai[train]"'
        ) from None


def _from_module(text: str) -> Predictor:
    found: Any = import_object(text, "predictor", "MyPredictor", BeliefError)
    if isinstance(found, type) or (callable(found) and not isinstance(found, Predictor)):
        try:
            found = found()
        except Exception as error:
            raise BeliefError(
                f"predictor {text!r}: {text.partition(':')[2]}() failed: {type(error).__name__}: "
                f"{error}"
            ) from error
    missing = [attribute for attribute in ("name", "predict") if not hasattr(found, attribute)]
    if missing:
        raise BeliefError(
            f"predictor {text!r}: it lacks {', '.join(missing)}; a predictor has a name and "
            f"predict(views)"
        )
    predictor: Predictor = found
    return predictor
