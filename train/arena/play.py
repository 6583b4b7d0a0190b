"""The one loop that plays: some deals of a match, all rotations of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.envs.game import Game
from lupai.envs.log import Log
from lupai.envs.records import dump_record, make_record
from lupai.envs.view import Views
from lupai.train.arena.asking import Asker
from lupai.train.arena.games import ArenaGame, arena_game
from lupai.train.arena.games.base import PLAYERS
from lupai.train.arena.hands import Hands
from lupai.train.arena.packs import Pack
from lupai.train.arena.plans import Match

__all__ = ["calling_of", "play_deals"]

ARENA: Final = "arena"  # our entry in a record's meta

I64 = npt.NDArray[np.int64]


def calling_of(game: ArenaGame, pack: Pack, match: Match) -> str:
    """Who plays what comes before the first lead: the caller of the pack, or of formats of one
    camp, or the players."""
    if pack.calling != PLAYERS or not match.in_camps:
        return pack.calling
    return game.camps.calling


def play_deals(
    engine: Game,
    pack: Pack,
    match: Match,
    deals: range,
    askers: Sequence[Asker],
    seed: int,
    *,
    records: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Hands:
    """Play some deals of a match.

    Args:
        engine: the rules.
        pack: the deals.
        match: who sits where.
        deals: numbers of deals in the pack.
        askers: all agents; their counts are those of this call if they were started before.
        seed: of the match.
        records: keep the hands as records too.
        progress: called with the number of hands that were finished since the last call.
    """
    game = arena_game(engine.game)
    turns = match.rotations(game.seats)
    numbers = np.repeat(np.arange(deals.start, deals.stop), turns)
    rotations = np.tile(np.arange(turns), len(deals))
    state = engine.reset(pack.hand_seeds(numbers))
    # Only who is asked view by view reads the history, which is slow to write.
    reads = records or any(askers[a].reads_history for a in set(match.agents))
    log = Log(engine, state) if reads else None
    table = _Table(game, engine, state, log)
    if (calling := calling_of(game, pack, match)) != PLAYERS:
        game.call(engine, state, calling, table.step)
    camp = game.first_camp(state) == (match.format == game.camps.first) if match.in_camps else None
    lineups = match.lineups(numbers, rotations, camp, game.seats, seed)
    lanes = match.lanes(numbers, rotations, game)
    _play(table, lineups, lanes, askers, (numbers, rotations), progress)
    return _hands(table, numbers, rotations, lineups, askers, match, pack, records)


class _Table:
    """Tables, their log if there is one, and what their game keeps of hands."""

    def __init__(self, game: ArenaGame, engine: Game, state: Any, log: Log | None) -> None:
        self.game, self.engine, self.state, self.log = game, engine, state, log
        self.watch = game.watch(engine, state)

    def step(self, actions: I64, rows: I64, legal: Any) -> None:
        """Play moves that are legal."""
        seen = self.watch.before(actions, rows)
        if self.log is None:
            self.engine.step(self.state, actions, rows, legal=legal)
        else:
            self.log.step(actions, rows, legal)
        self.watch.after(rows, seen)


def _play(
    table: _Table, lineups: I64, lanes: I64, askers: Sequence[Asker],
    hand: tuple[I64, I64], progress: Any,
) -> None:  # fmt: skip
    engine, state, log = table.engine, table.state, table.log
    done = 0
    while True:
        rows = np.flatnonzero(~state.over)
        if progress is not None and len(state) - len(rows) > done:
            progress(len(state) - len(rows) - done)
        done = len(state) - len(rows)
        if not rows.size:
            return
        actors = state.actor[rows].astype(np.intp)
        agents = lineups[rows, actors]
        # Tables need not keep step: whom most of them wait for is asked, in large batches.
        agent = int(np.bincount(agents).argmax())
        mine = np.flatnonzero(agents == agent)
        at, seats = rows[mine], actors[mine]

        def views_of(some: I64, at: I64 = at, seats: I64 = seats) -> Views:
            histories = None if log is None else [log.history[row] for row in at[some]]
            return Views(engine, state, seats[some], at[some], histories)

        def where(i: int, at: I64 = at, seats: I64 = seats) -> str:
            row = int(at[i])
            return (
                f"deal {hand[0][row]}, rotation {hand[1][row]}, seat {seats[i]}, "
                f"move {state.moves[row]}"
            )

        views = views_of(np.arange(len(mine)))
        actions = askers[agent].choose(views, lanes[at, seats], views_of, where)
        table.step(actions, at, views.legal)


def _hands(
    table: _Table, numbers: I64, rotations: I64, lineups: I64, askers: Sequence[Asker],
    match: Match, pack: Pack, records: bool,
) -> Hands:  # fmt: skip
    engine, state = table.engine, table.state
    scores = engine.scores(state)
    if scores.sum(axis=1).any():
        raise RuntimeError("engine fault: a hand's scores do not sum to zero")
    playing = [a in match.agents for a in range(len(askers))]
    hands = Hands(
        numbers.astype(np.int32),
        rotations.astype(np.int16),
        lineups.astype(np.int16),
        scores.astype(np.int32),
        state.places.copy(),
        table.watch.columns(),
        np.array([a.decisions for a in askers], np.int64) * playing,
        np.array([a.seconds for a in askers]) * playing,
        np.array([a.faults for a in askers]) * np.array(playing)[:, None],
        {str(i): a.examples for i, a in enumerate(askers) if a.examples and playing[i]},
    )
    if records:
        hands.records = _records(table, hands, askers, match, pack)
    return hands


def _records(
    table: _Table, hands: Hands, askers: Sequence[Asker], match: Match, pack: Pack
) -> list[str]:
    engine, state, log = table.engine, table.state, table.log
    assert log is not None
    out = []
    for row, outcome in enumerate(engine.outcomes(state)):
        seed, redeals = int(state.seeds[row, 0]), int(state.redeals[row])
        dealt, start = engine.dealt_hands(seed, redeals)
        players = [askers[a].label for a in hands.lineups[row]]
        record = make_record(
            engine, seed, dealt, start, log.moves[row], outcome, redeals, players
        )  # fmt: skip
        record["meta"][ARENA] = {
            "format": match.format,
            "deal": int(hands.deals[row]),
            "rotation": int(hands.rotations[row]),
            "calling": calling_of(table.game, pack, match),
        }
        out.append(dump_record(record))
    return out
