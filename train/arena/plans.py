"""Who sits where: the formats of a match as lineups of agents for each deal and rotation.

Every deal of a pack is played several times, with the agents of each side in turn where the others
were, so that the luck of the deal cancels. Hands of one deal are numbered by their rotation.

``seat``
    The player in one seat, copies of the opponent in the others; rotation r: the player in seat r.
one camp (in Baohuang ``emperor_camp`` / ``rebel_camp``; each game has two such formats)
    The player plays all members of one camp, the opponent those of the other; one rotation each.
    Where camps do not exist before the calls, a neutral caller plays everything before the first
    lead. Both formats play the same deals with the same camps, and the mean of the two, ``camp``,
    is 0 for equal agents.
``mixed``
    All agents of a population at common tables: over the rotations of a deal each of them sits
    in each seat once, beside neighbours that are drawn anew for each deal.
``round_robin``
    ``seat`` for every ordered pair of a population, and the camps for every pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.errors import LupaiError
from lupai.train.arena.games import DEFAULT, ArenaGame, arena_game

__all__ = ["ArenaError", "Match", "formats_of", "make_matches"]

NEIGHBOURS: Final = 0x6E65  # stream that draws the neighbours of mixed tables
_LANES: Final = {"seat": 0, "mixed": 16}
_LANES_OF_CAMPS: Final = (8, 9)
_LANES_OF_DEAL: Final = 1 << 16
MOST_AGENTS: Final = 1000

I64 = npt.NDArray[np.int64]


class ArenaError(LupaiError):
    """A match that cannot be played; says which value and what is allowed."""


@dataclass(frozen=True)
class Match:
    """One format for some agents on the first deals of a pack.

    Attributes:
        format: ``seat``, ``mixed``, or one camp; see the module's text.
        agents: numbers of the agents: player and opponent, or the population.
        deals: how many.
    """

    format: str
    agents: tuple[int, ...]
    deals: int

    @property
    def in_camps(self) -> bool:
        """Whether the player plays one camp."""
        return self.format not in _LANES

    def rotations(self, seats: int) -> int:
        """Hands of each deal."""
        if self.format == "seat":
            return seats
        return len(self.agents) if self.format == "mixed" else 1

    def lineups(
        self, deals: I64, rotations: I64, camp: npt.NDArray[np.bool_] | None, seats: int, seed: int
    ) -> I64:
        """Number of the agent in each seat, ``[H, S]``.

        Args:
            deals: ``[H]`` numbers of the deals in the pack.
            rotations: ``[H]``.
            camp: ``[H, S]`` seats of the player's camp, in formats of one camp.
            seats: of a table.
            seed: of the match; draws the neighbours at mixed tables.
        """
        if self.format == "mixed":
            return self._mixed(deals, rotations, seats, seed)
        mine = rotations[:, None] == np.arange(seats) if self.format == "seat" else camp
        assert mine is not None
        return np.where(mine, *self.agents)

    def _mixed(self, deals: I64, rotations: I64, seats: int, seed: int) -> I64:
        count = len(self.agents)
        offsets = {}
        for deal in np.unique(deals).tolist():
            key = np.random.SeedSequence(seed, spawn_key=(NEIGHBOURS, deal))
            rng = np.random.default_rng(key)
            # seat s gets agent order[r + offset[s]]; no agent sits twice at a table if it need not
            rounds = [rng.permutation(count) for _ in range(-(-seats // count))]
            order, places = rng.permutation(count), np.concatenate(rounds)[:seats]
            offsets[deal] = order, rng.permutation(places)
        out = np.zeros((len(deals), seats), np.int64)
        for row, (deal, rotation) in enumerate(
            zip(deals.tolist(), rotations.tolist(), strict=True)
        ):
            order, places = offsets[deal]
            out[row] = order[(rotation + places) % count]
        return np.asarray(self.agents)[out]

    def lanes(self, deals: I64, rotations: I64, game: ArenaGame) -> I64:
        """Number of the random stream of each hand and seat, ``[H, S]``."""
        first = _LANES | dict(zip(game.camps.halves, _LANES_OF_CAMPS, strict=True))
        hand = deals * _LANES_OF_DEAL + (first[self.format] + rotations) * 8
        return hand[:, None] + np.arange(game.seats)


def formats_of(game: ArenaGame) -> tuple[str, ...]:
    """Names of all formats of a game."""
    return ("seat", *game.camps.halves, game.camps.both, "round_robin", "mixed")


def make_matches(
    formats: Sequence[str],
    players: Sequence[int],
    opponents: Sequence[int],
    deals: int,
    hands: int | None = None,
    game: str = DEFAULT,
) -> list[Match]:
    """Matches of the asked formats.

    Args:
        formats: of :func:`formats_of`; ``camp`` is both camps.
        players: numbers of the agents that are measured; the population of ``round_robin`` and
            ``mixed``.
        opponents: numbers of the agents that ``seat`` and the camps are played against.
        deals: how many each match has.
        hands: instead, about how many hands each has.
        game: name.

    Raises:
        ArenaError: an unknown format, nobody to play, or opponents where there are none.
    """
    arena = arena_game(game)
    camps, known = arena.camps, formats_of(arena)
    for name in formats:
        if name not in known:
            raise ArenaError(
                f"format {name!r} is unknown in {game}; formats: {', '.join(known)}"
            )  # fmt: skip
    single: list[str] = []
    for name in formats:
        single += camps.halves if name == camps.both else [name]
    if len(set(single)) < len(single):
        raise ArenaError(f"formats {','.join(formats)}: one stands twice")
    if not formats or not players:
        raise ArenaError("a match needs a format, an agent and at least one hand")
    if deals < 1 or (hands is not None and hands < 1):
        raise ArenaError("a match needs an opponent, a format and at least one hand")
    population = [name for name in formats if name in ("round_robin", "mixed")]
    if population and len(players) < 2:
        raise ArenaError(f"format {population[0]!r} needs at least two players")
    if not opponents and len(population) < len(formats):
        raise ArenaError(f"formats seat and {camps.both} need an opponent: --against")
    if opponents and len(population) == len(formats):
        raise ArenaError(f"format {population[0]!r} is played among the players, without opponents")
    if len(players) + len(opponents) > MOST_AGENTS:
        raise ArenaError(f"at most {MOST_AGENTS} agents")

    def match(name: str, agents: tuple[int, ...]) -> Match:
        empty = Match(name, agents, 0)
        count = deals if hands is None else -(-hands // empty.rotations(arena.seats))
        return Match(name, agents, count)

    out = []
    for player in players:
        for opponent in opponents:
            out += [match(name, (player, opponent)) for name in single if name not in population]
    if "round_robin" in formats:
        pairs = [(a, b) for a in players for b in players if a != b]
        out += [match("seat", pair) for pair in pairs]
        out += [match(camps.first, pair) for pair in pairs]
    if "mixed" in formats:
        out.append(match("mixed", tuple(players)))
    return out
