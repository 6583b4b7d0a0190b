"""The options of the rules page (§1, §3, §4, §6, §8)."""

from dataclasses import dataclass

from .sets import OracleError

HAND_SIZES = ("ten", "always")
BURN_FAIL = ("never", "last_place")
END = ("side_out", "last_player")


@dataclass(frozen=True)
class Options:
    """How one hand is played; the defaults are the page's."""

    revolution: bool = True  # §6
    hand_sizes: str = "ten"  # §1: shown at ten cards or fewer, or "always"; display only
    burn_fail: str = "never"  # §3: a burn cannot fail, or its failure is "last_place"
    tribute: bool = False  # §8
    end: str = "side_out"  # §4: a side is out, or "last_player": one player is left

    def __post_init__(self) -> None:
        for name, allowed in (("hand_sizes", HAND_SIZES), ("burn_fail", BURN_FAIL), ("end", END)):
            if getattr(self, name) not in allowed:
                raise OracleError(f"{name}: {getattr(self, name)!r} is none of {allowed}")
