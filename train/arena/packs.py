"""Deal packs: which deals a match is played on, as a small file that can be checked and cited.

A pack names rules and either a rule for its deals (deal i is the i-th episode of a seed, as in
``lupai record``), or, if only some deals are wanted, their hand seeds. A SHA-256 over the content
tells whether it was altered. Two packs for each preset come with lupai: ``dev`` to work with,
``test`` to be kept for what is reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.cards import shorten
from lupai.envs.deals import check_seed, hand_seeds
from lupai.envs.errors import LupaiError
from lupai.envs.game import make_game, rules_class
from lupai.train.arena.games import DEFAULT, arena_game, game_in, tag
from lupai.train.arena.games.base import PLAYERS

__all__ = ["SHIPPED", "Pack", "PackError", "load_pack", "make_pack", "read_pack"]

FORMAT: Final = "lupai-deals/1"
SHIPPED: Final = ("dev", "test")
MAX_DEALS: Final = 10_000_000
TRIED_AT_ONCE: Final = 2000
TRIED_AT_MOST: Final = 20_000  # deals tried for the first that fits

U64 = npt.NDArray[np.uint64]


class PackError(LupaiError):
    """A pack that cannot be read, was altered, or belongs to other rules."""


@dataclass(frozen=True)
class Pack:
    """Deals of a match.

    Attributes:
        rules: rules string.
        seed: deals are episodes of this seed.
        start: number of the first episode.
        count: how many deals.
        only: what all of them have in common at the first lead; None: nothing.
        calling: who plays what comes before the first lead: the ``players``, or in a pack of
            certain deals the caller whose calls made them so.
        seeds: hand seeds of the deals, where they are not all episodes from ``start`` on.
        name: for tables.
        game: which the rules are of.
    """

    rules: str
    seed: int
    start: int
    count: int
    only: str | None = None
    calling: str = PLAYERS
    seeds: tuple[int, ...] | None = None
    name: str = "deals"
    game: str = DEFAULT

    def hand_seeds(self, deals: npt.NDArray[np.integer]) -> U64:
        """Seeds ``[N]`` under which deals ``[N]`` of the pack are dealt."""
        if self.seeds is not None:
            return np.array([self.seeds[i] for i in deals.tolist()], dtype=np.uint64)
        episodes = deals.astype(np.int64) + self.start
        return hand_seeds(np.full(len(episodes), self.seed, np.uint64), episodes)

    @property
    def sha256(self) -> str:
        """Digest of the content, the name aside."""
        content = {key: value for key, value in self.to_json().items() if key != "name"}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Content of the file without the digest."""
        values = asdict(self)
        data = {"format": FORMAT, **tag(values.pop("game")), **values}
        data["seeds"] = None if self.seeds is None else list(self.seeds)
        return data

    def to_text(self) -> str:
        """Content of the file."""
        return json.dumps(self.to_json() | {"sha256": self.sha256}, indent=1) + "\n"

    def of_rules(self, rules: Any) -> Pack:
        """This pack, if it was made for these rules of its game.

        Raises:
            PackError: it was made for others.
        """
        wanted = str(rules_class(self.game).load(rules))
        if wanted != self.rules:
            raise PackError(
                f"pack {self.name!r} holds deals of rules {self.rules!r}, not of {wanted!r}; "
                f"`lupai deals make --rules {wanted!r}` makes one"
            )
        return self


def make_pack(
    rules: Any,
    deals: int,
    seed: int,
    only: str | None = None,
    *,
    start: int = 0,
    name: str = "deals",
    game: str = DEFAULT,
    progress: Callable[[int], object] | None = None,
) -> Pack:
    """Make a pack.

    Args:
        rules: of the game.
        deals: how many.
        seed: which.
        only: a restriction of the game: deals that are so at the first lead, after the calls of
            its caller if it has one, who then calls in the match too.
        start: episode from which deals are taken or tried.
        name: for tables.
        game: name.
        progress: called with the number of deals found since the last call.

    Raises:
        PackError: an unknown restriction, or one that no deal of these rules meets.
    """
    arena = arena_game(game)
    text = str(rules_class(game).load(rules))
    check_seed(seed)
    if not 1 <= deals <= MAX_DEALS or start < 0:
        raise PackError(f"a pack has 1 … {MAX_DEALS:,} deals from episode 0 on")
    if only is None:
        return Pack(text, seed, start, deals, name=name, game=game)
    if only not in arena.only:
        raise PackError(f"deals {only!r} only: unknown; there are {', '.join(arena.only)}")
    restriction = arena.only[only]
    calling = restriction.calling
    engine = make_game(game, text)
    found: list[int] = []
    tried = start
    while len(found) < deals:
        if not found and tried - start >= TRIED_AT_MOST:
            raise PackError(
                f"deals {only!r} only ({restriction.text}): none among {TRIED_AT_MOST:,} deals of "
                f"rules {text!r}"
            )
        episodes = np.arange(tried, tried + TRIED_AT_ONCE)
        seeds = hand_seeds(np.full(TRIED_AT_ONCE, seed, np.uint64), episodes)
        state = engine.reset(seeds)
        if calling != PLAYERS:
            arena.call(engine, state, calling)
        good = seeds[restriction.fits(engine, state)].tolist()[: deals - len(found)]
        found += good
        tried += TRIED_AT_ONCE
        if progress is not None:
            progress(len(good))
    return Pack(text, seed, start, deals, only, calling, tuple(found), name, game)


def load_pack(source: str, rules: Any = None, game: str | None = None) -> Pack:
    """A pack that comes with lupai (``dev``, ``test``), or from a file.

    Args:
        source: name or file.
        rules: of the match; None: those of the pack (of ``dev`` and ``test``: the game's default).
        game: of the match; None: that of the pack (of ``dev`` and ``test``: baohuang).

    Raises:
        PackError: there is none, it cannot be read, its digest is wrong, or its game or rules are
            others.
    """
    if source in SHIPPED:
        options = rules_class(game or DEFAULT)
        wanted = options.load(options.default if rules is None else rules)
        file = files("lupai.train.arena").joinpath("packs", f"{source}-{wanted.preset}.json")
        return read_pack(file.read_text("utf-8"), source).of_rules(wanted)
    path = Path(source)
    if not path.is_file():
        raise PackError(f"pack {source!r}: no such file; packs of lupai: {', '.join(SHIPPED)}")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise PackError(f"pack {source!r}: no UTF-8") from None
    pack = read_pack(text, source)
    if game not in (None, pack.game):
        raise PackError(f"pack {source!r} holds deals of {pack.game}, not of {game}")
    return pack if rules is None else pack.of_rules(rules)


def read_pack(text: str, where: str) -> Pack:
    """A pack from the text of its file.

    Raises:
        PackError: it cannot be read, or its digest is wrong.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise PackError(f"pack {where!r}: no JSON: {shorten(text.strip())!r}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise PackError(f"pack {where!r}: no pack of format {FORMAT}")
    given = data.pop("sha256", None)
    try:
        pack = _from_json({key: value for key, value in data.items() if key != "format"})
    except (TypeError, ValueError, LupaiError) as error:
        raise PackError(f"pack {where!r}: {error}") from None
    if given != pack.sha256:
        raise PackError(
            f"pack {where!r}: its content has SHA-256 {pack.sha256}, but it says "
            f"{shorten(str(given), 64)}: it was altered or damaged"
        )
    return pack


def _from_json(data: dict[str, Any]) -> Pack:
    seeds = data.get("seeds")
    whole = [data.get(key) for key in ("seed", "start", "count")]
    if not all(isinstance(v, int) and not isinstance(v, bool) and v >= 0 for v in whole):
        raise ValueError("seed, start and count are whole numbers from 0 up")
    if not 1 <= data["count"] <= MAX_DEALS:
        raise ValueError(f"count is in 1 … {MAX_DEALS:,}")
    check_seed(data["seed"])
    if not all(isinstance(data.get(key), str) for key in ("rules", "name", "calling")):
        raise ValueError("rules, name and calling are texts")
    arena = game_in(data)
    if str(rules_class(arena.name).load(data["rules"])) != data["rules"]:
        raise ValueError(f"rules {data['rules']!r} are not written as a rules string")
    if data.get("only") not in (None, *arena.only):
        raise ValueError(f"only {data.get('only')!r}: not one of {', '.join(arena.only)}")
    callings = (PLAYERS, *arena.callings)
    if data["calling"] not in callings:
        raise ValueError(f"calling {data['calling']!r}: not {', '.join(callings)}")
    if seeds is not None:
        if not isinstance(seeds, list) or len(seeds) != data["count"]:
            raise ValueError("seeds are a list of count numbers")
        data["seeds"] = tuple(check_seed(seed) for seed in seeds)
    return Pack(**data)
