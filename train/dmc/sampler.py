"""Plays many tables at once by the move of highest value, and now and then at random."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from lupai.agents.network import advised_moves, offsets_to_rows, segment_argmax, table_of
from lupai.agents.policies import build_policy
from lupai.train.config import TrainConfig
from lupai.train.dmc.decisions import Columns, Waiting, one_of_each
from lupai.train.dmc.tally import Tally
from lupai.train.export import network_config
from lupai.train.games import training_game
from lupai.train.league.coach import seating
from lupai.train.league.lineups import Lineups
from lupai.train.privileged import LABEL, PRIVILEGED, UNLABELLED
from lupai.train.sampling.advised import ADVICE, ADVISED, advice_columns, adviser_of
from lupai.train.sampling.judged import Judging, columns_judged, nothing_judged
from lupai.train.sampling.tables import Finished, Tables
from lupai.train.sampling.teacher import Teacher

__all__ = ["ACTION", "OBSERVATION", "Sampler", "Weights", "needs_privileged"]

OBSERVATION: Final = "observation"
ACTION: Final = "action"
EXPLORATION_KEY: Final = 0x646D63  # stream of the draws of random moves

Weights = Mapping[str, npt.NDArray[Any]]


def needs_privileged(config: TrainConfig) -> bool:
    """Whether the learner wants what the seats cannot see."""
    return config.dmc.baseline == "perfect" or config.network.role_head > 0


class Sampler:
    """B tables, all played by one network.

    Args:
        config: the run.
        worker: number of this sampler; others play other deals.
        iteration: iterations done before; a resumed run that does not go on with its games deals
            others.

    Attributes:
        worker_index: its number.
        lineups: opponents at the tables; None: there are none.
        teacher: who plays in the network's place; None: it plays itself.
        judging: says what moves are worth; None: nothing does.
        epsilon: share of decisions that are made at random.
    """

    def __init__(self, config: TrainConfig, worker: int = 0, iteration: int = 0) -> None:
        self.config = config
        self.worker_index = worker
        count = config.workers.envs_per_runner
        seats = seating(config)
        game = training_game(config.game)
        self.lineups = (
            None if seats is None else Lineups(count, worker, seats, config.seed, game.seats)
        )
        self.teacher: Teacher | None = None
        self.judging: Judging | None = None
        self.epsilon = config.dmc.epsilon
        key = [config.seed, iteration, worker]
        self._rng = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(key, spawn_key=(EXPLORATION_KEY,)))
        )
        self._key = key
        self._tables: Tables | None = None
        self._policy: Any = None
        self._waiting = Waiting()
        self._hands = np.arange(count)  # [B] number of the running hand
        self._decisions = np.zeros(count, np.int64)  # [B] decisions in it so far
        self._stored = np.zeros(count, np.int64)  # [B] those of them that will be learned
        self._next_hand = count
        self._privileged = needs_privileged(config)
        self._adviser = adviser_of(config)

    @property
    def tables(self) -> Tables:
        """Its tables; dealt when they are first asked for, by then it knows who plays."""
        if self._tables is None:
            config = self.config
            self._tables = Tables(
                config.rules_string, config.env.skip, self._key, len(self._hands), self.lineups,
                config.game,
            )  # fmt: skip
        return self._tables

    def take(self, weights: Weights, epsilon: float) -> None:
        """Play with these from now on."""
        if self._policy is None:
            engine = self.tables.engine
            table = table_of(engine)
            self._policy = build_policy(table, network_config(self.config)).eval()
        self._policy.load_state_dict({k: torch.from_numpy(np.array(v)) for k, v in weights.items()})
        self.epsilon = epsilon

    def sample(self, decisions: int) -> tuple[Columns, Tally]:
        """Play until hands with so many decisions to learn, or a few more, have ended.

        Returns:
            Columns ``[N, ...]`` of these hands' decisions: OBSERVATION ``[N, D] int8``, ACTION,
            ``seat``, SCORE in points; those of :mod:`~lupai.train.sampling.advised` where the
            network takes advice and of :mod:`~lupai.train.sampling.judged` in a distillation,
            PRIVILEGED where it is wanted; of each seat's decisions in a hand that have a label one
            keeps it, see :class:`~lupai.agents.role_head.RoleHead`. And what was counted.
        """
        begin, tally, ready = time.perf_counter(), Tally(self.config.game), 0
        tables = self.tables
        numbers: list[int] = []
        scores: list[npt.NDArray[np.int64]] = []
        while ready < decisions:
            moves = self._decide(tables, tally)
            self._decisions[tables.rows] += 1
            for end in tables.step(moves):
                numbers.append(int(self._hands[end.table]))
                scores.append(end.scores)
                ready += self._close(end, tally)
        data = self._waiting.pay(np.array(numbers), np.array(scores))
        hands = data.pop("hand")
        if self.config.network.role_head > 0:
            # One draw for each, labelled or not: what is played next depends on nothing hidden.
            labels, draws = data[PRIVILEGED][:, LABEL], self._rng.random(len(hands))
            labels[~one_of_each(hands, data["seat"], labels != UNLABELLED, draws)] = UNLABELLED
        tally.seconds = time.perf_counter() - begin
        return data, tally

    def _close(self, end: Finished, tally: Tally) -> int:
        """Count a hand and give its table the next number; decisions in it that are learned."""
        tally.end(end, int(self._decisions[end.table]))
        stored = int(self._stored[end.table])
        self._hands[end.table] = self._next_hand
        self._next_hand += 1
        self._decisions[end.table] = self._stored[end.table] = 0
        return stored

    def _decide(self, tables: Tables, tally: Tally) -> npt.NDArray[np.int64]:
        """``[N] int64`` moves at the tables that wait; they are stored."""
        begin = time.perf_counter()
        observation, legal = tables.observation(), tables.asked
        advice: Columns = {}
        if self._adviser is not None:
            advice = advice_columns(self._adviser, tables)
        if self.teacher is not None:
            best = self.teacher.moves(tables)
        else:
            best = self._best(observation, tables, advice)
        tally.inference += time.perf_counter() - begin
        draws = self._rng.random((2, len(best)))
        wild = np.flatnonzero(draws[0] < self.epsilon)
        moves = best.copy()
        if len(wild) and advice:
            some = advice[ADVISED][wild]
            place = (draws[1][wild] * (some >= 0).sum(axis=1)).astype(np.int64)
            moves[wild] = some[np.arange(len(wild)), place]
        elif len(wild):
            moves[wild] = legal.take(wild).pick(draws[1][wild])
        tally.made += len(moves)
        tally.greedy += int(np.count_nonzero(moves == best))
        tally.illegal += int(np.count_nonzero(~legal.contains(moves)))
        self._store(tables, observation, moves, advice)
        return moves

    def _store(
        self,
        tables: Tables,
        observation: npt.NDArray[np.int8],
        moves: npt.NDArray[np.int64],
        advice: Columns,
    ) -> None:
        """Keep the decisions that will be learned."""
        share = self.config.dmc.share
        some = np.arange(len(moves))
        if share < 1:
            some = np.flatnonzero(self._rng.random(len(moves)) < share)
        if not len(some):
            return
        rows, seats = tables.rows[some], tables.seats[some]
        np.add.at(self._stored, rows, 1)
        columns: Columns = {
            "hand": self._hands[rows],
            "seat": seats.astype(np.int8),
            OBSERVATION: observation[some],
            ACTION: moves[some].astype(np.int32),
        }
        if self._privileged:
            every = len(some) == len(tables.rows)
            waiting = tables.waiting if every else tables.state.take(rows)
            columns[PRIVILEGED] = tables.game.privileged_rows(waiting, seats)
        columns |= {name: column[some] for name, column in advice.items()}
        if judged := columns_judged(self.config):
            columns |= (
                nothing_judged(len(some), judged)
                if self.judging is None
                else self.judging.columns(
                    tables, moves[some], some, {name: columns[name] for name in advice}
                )
            )
        self._waiting.add(columns)

    @torch.inference_mode()
    def _best(
        self, observation: npt.NDArray[np.int8], tables: Tables, advice: Columns
    ) -> npt.NDArray[np.int64]:
        features: torch.Tensor | None = None
        if advice:
            given = (torch.from_numpy(advice[name]) for name in (ADVISED, ADVICE))
            rows, flat, features = advised_moves(*given)
        else:
            ids, offsets = tables.asked.ids()
            flat = torch.from_numpy(ids.astype(np.int64))
            rows = offsets_to_rows(torch.from_numpy(offsets))
        values = self._policy(torch.from_numpy(observation), rows, flat, features)
        place = segment_argmax(values, rows, len(observation))
        if bool((place < 0).any()):
            raise RuntimeError("a decision without any legal move reached the network")
        best: npt.NDArray[np.int64] = flat[place].numpy()
        return best

    # --- going on ----------------------------------------------------------------------------

    def running(self) -> tuple[Columns, dict[str, Any]]:
        """What :meth:`go_on` needs: arrays, and JSON values."""
        arrays, values = self.tables.running()
        arrays = {f"tables.{name}": array for name, array in arrays.items()}
        arrays |= {f"waiting.{name}": column for name, column in self._waiting.columns.items()}
        arrays |= {"hands": self._hands, "decisions": self._decisions, "stored": self._stored}
        values |= {"next_hand": self._next_hand, "draws": self._rng.bit_generator.state}
        return arrays, values

    def go_on(self, arrays: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        """Play on where :meth:`running` was called.

        Raises:
            ValueError: it was called on another number of tables.
        """

        def below(prefix: str) -> Columns:
            names = [name for name in arrays if name.startswith(prefix)]
            return {name.removeprefix(prefix): np.array(arrays[name]) for name in names}

        self.tables.go_on(below("tables."), values)
        self._waiting.columns = below("waiting.")
        self._hands, self._decisions = np.array(arrays["hands"]), np.array(arrays["decisions"])
        self._stored = np.array(arrays["stored"])
        self._next_hand = int(values["next_hand"])
        self._rng.bit_generator.state = values["draws"]
