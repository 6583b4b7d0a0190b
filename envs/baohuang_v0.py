"""保皇 (Baohuang) as a PettingZoo AEC environment.

>>> from lupai.envs import baohuang_v0
>>> env = baohuang_v0.env(rules="qingdao")
>>> env.reset(seed=7)
>>> rng = __import__("numpy").random.default_rng(0)
>>> for agent in env.agent_iter():
...     obs, reward, term, trunc, info = env.last()
...     legal = obs["action_mask"].nonzero()[0]
...     env.step(None if term or trunc else int(rng.choice(legal)))

Five players, four packs of cards. The emperor (皇帝) shows three copies of a card; whoever holds
the fourth is his guard (保) and need not say so; the other three are rebels (革命党). Who gets rid
of his cards first, and who last, decides the score of both camps. (Under ``weihai`` marked jokers
make the roles.) Rules and their sources: docs/rules.md.

====================  ==========================================================================
agents                ``player_0`` … ``player_4``, seats in play order
action space          ``Discrete(10628)``, the same ids under every preset (docs/actions.md)
observation           ``{"observation": int8[D], "action_mask": int8[10628]}`` (docs/observation.md)
rewards               0 until the hand ends, then every seat's whole score; they sum to zero
episode               one hand; a void deal is dealt anew inside the episode
end                   all five terminate together; never truncated
info                  ``rules``, ``phase``, ``redeals``; at the end also ``roles``, ``finish``,
                      ``scores`` and ``multiplier``
====================  ==========================================================================

Version history: v0 (0.1.0) first release, presets ``qingdao``, ``shiwei``,
``weihai``. The version rises when a rule, an
action id or the meaning of an observation changes, not when presets are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
from pettingzoo import AECEnv

from lupai.envs.aec import CardGameEnv, Observation, wrap
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import Rules
from lupai.envs.vector import VectorEnv

__all__ = ["Engine", "Rules", "VectorEnv", "env", "raw_env", "vector_env"]

RulesSource = Rules | str | dict[str, Any]
GYMNASIUM_ID = "lupai/Baohuang-v0"  # one seat against agents; docs/environment.md

if GYMNASIUM_ID not in gymnasium.registry:
    gymnasium.register(
        GYMNASIUM_ID,
        entry_point="lupai.agents.single_agent:SingleAgentEnv",
        vector_entry_point="lupai.agents.single_vector:SingleAgentVectorEnv",
    )


def env(
    rules: RulesSource = "qingdao", reward: str = "score", render_mode: str | None = None
) -> AECEnv[str, Observation, int | None]:
    """The environment with PettingZoo's usual wrappers.

    An illegal action ends the hand: the offender gets -1, the others 0. (:func:`raw_env` raises
    an error instead.) What the wrappers do not offer is reached by ``env.unwrapped``.

    Args:
        rules: preset (``qingdao``, ``shiwei``, ``weihai``), rules string, path of a YAML file, dict
            with ``preset`` and options, or :class:`Rules`.
        reward: ``"score"``.
        render_mode: ``"ansi"``, ``"human"`` or None.

    Raises:
        RulesError: options that do not exist or make no sense.
    """
    return wrap(raw_env(rules, reward, render_mode))


def raw_env(
    rules: RulesSource = "qingdao", reward: str = "score", render_mode: str | None = None
) -> CardGameEnv:
    """The environment without wrappers; an illegal action raises ``IllegalMoveError``."""
    return CardGameEnv(Engine(rules), Path(__file__).stem, reward, render_mode)


def vector_env(
    num_envs: int,
    rules: RulesSource = "qingdao",
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
