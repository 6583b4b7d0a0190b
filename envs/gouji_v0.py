"""够级 (Gouji) as a PettingZoo AEC environment.

>>> from lupai.envs import gouji_v0
>>> env = gouji_v0.env()
>>> env.reset(seed=7)
>>> rng = __import__("numpy").random.default_rng(0)
>>> for agent in env.agent_iter():
...     obs, reward, term, trunc, info = env.last()
...     legal = obs["action_mask"].nonzero()[0]
...     env.step(None if term or trunc else int(rng.choice(legal)))

Six players, three against three, four packs of cards. Strong sets (够级牌) are a matter between a
player and the one opposite him (对头), unless somebody burns them (烧牌). Who gets rid of his cards
first scores for his side. Rules and their sources: docs/rules-gouji.md.

====================  ==========================================================================
agents                ``player_0`` … ``player_5``, seats in play order; even seats are one side
action space          ``Discrete(82046)``, the same ids under all options (docs/actions.md)
observation           ``{"observation": int8[D], "action_mask": int8[82046]}``
                      (docs/observation.md)
rewards               0 until the hand ends, then every seat's whole score; they sum to zero
episode               one hand; a deal made void by two revolters is dealt anew inside the episode
end                   all six terminate together; never truncated
info                  ``rules``, ``phase``, ``redeals``; at the end also ``finish``, ``scores``,
                      ``revolter`` and ``recorded``
reset options         ``hands`` and ``start``: a deal of one's own; ``previous_finish``: the order
                      in which the previous hand ended, for tribute
====================  ==========================================================================

The dense mask is made when an observation is asked for; who needs speed uses :func:`vector_env` and
its ``legal_ids``.

Version history: v0 (0.1.0) first release, preset ``shandong``. The version rises when a rule, an
action id or the meaning of an observation changes, not when presets are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
from pettingzoo import AECEnv

from lupai.envs.aec import CardGameEnv, Observation, wrap
from lupai.envs.gouji.engine import Engine
from lupai.envs.gouji.rules import Rules
from lupai.envs.vector import VectorEnv

__all__ = ["Engine", "Rules", "VectorEnv", "env", "raw_env", "vector_env"]

RulesSource = Rules | str | dict[str, Any]
GYMNASIUM_ID = "lupai/Gouji-v0"  # one seat against agents; docs/environment.md

if GYMNASIUM_ID not in gymnasium.registry:
    gymnasium.register(
        GYMNASIUM_ID,
        entry_point="lupai.agents.single_agent:SingleAgentEnv",
        vector_entry_point="lupai.agents.single_vector:SingleAgentVectorEnv",
        kwargs={"game": "gouji", "rules": "shandong"},
    )


def env(
    rules: RulesSource = "shandong", reward: str = "score", render_mode: str | None = None
) -> AECEnv[str, Observation, int | None]:
    """The environment with PettingZoo's usual wrappers.

    An illegal action ends the hand: the offender gets -1, the others 0. (:func:`raw_env` raises
    an error instead.) What the wrappers do not offer is reached by ``env.unwrapped``.

    Args:
        rules: preset (``shandong``), rules string, path of a YAML file, dict with ``preset`` and
            options, or :class:`Rules`.
        reward: ``"score"``.
        render_mode: ``"ansi"``, ``"human"`` or None.

    Raises:
        RulesError: options that do not exist or make no sense.
    """
    return wrap(raw_env(rules, reward, render_mode))


def raw_env(
    rules: RulesSource = "shandong", reward: str = "score", render_mode: str | None = None
) -> CardGameEnv:
    """The environment without wrappers; an illegal action raises ``IllegalMoveError``."""
    return CardGameEnv(Engine(rules), Path(__file__).stem, reward, render_mode)


def vector_env(
    num_envs: int,
    rules: RulesSource = "shandong",
    seed: int | Sequence[int] | None = None,
    *,
    skip_forced: bool = False,
    autoreset: bool = True,
    copy: bool = True,
) -> VectorEnv:
    """Many tables at once; see :class:`~lupai.envs.vector.VectorEnv`."""
    return VectorEnv(
        Engine(rules), num_envs, seed, skip_forced=skip_forced, autoreset=autoreset, copy=copy
    )
