"""PettingZoo's wrappers, the same in all they do, with a short way to what each step asks for.

Its wrappers find ``agents``, ``infos`` and the like by going through every wrapper, some twenty
times in a step, which took longer than the game itself.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils import wrappers


class _Forwarded:
    """An attribute of the innermost environment, read in one step instead of wrapper by wrapper.

    Where the wrapper has a value of its own by that name, or no hand has been dealt yet, the
    wrapper's usual way of finding attributes goes on.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, wrapper: Any, owner: type) -> Any:
        env = wrapper.__dict__["_innermost"]
        if wrapper._has_reset and self.name in env.__dict__:
            return env.__dict__[self.name]
        raise AttributeError(self.name)


class _Direct(wrappers.BaseWrapper[str, Any, int | None]):
    """What a wrapper is asked for several times in each step."""

    _has_reset = True  # only the outermost wrapper enforces the order of calls
    agent_selection = _Forwarded()
    agents = _Forwarded()
    terminations = _Forwarded()
    truncations = _Forwarded()
    rewards = _Forwarded()
    infos = _Forwarded()
    _cumulative_rewards = _Forwarded()

    def __init__(self, env: Any, **options: Any) -> None:
        super().__init__(env, **options)
        self.__dict__["_innermost"] = env.unwrapped

    def __str__(self) -> str:
        return str(self.env)


class TerminateIllegal(_Direct, wrappers.TerminateIllegalWrapper[str, Any, int | None]): ...


class AssertOutOfBounds(_Direct, wrappers.AssertOutOfBoundsWrapper[str, Any, int | None]): ...


class OrderEnforcing(_Direct, wrappers.OrderEnforcingWrapper[str, Any, int | None]): ...
