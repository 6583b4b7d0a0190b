"""A vector environment with an oracle at each of its tables, compared at every step."""

import random
from typing import Any

import numpy as np

from lupai.envs.baohuang.state import PHASE_NAMES
from lupai.envs.vector import VectorEnv
from tests.envs.decoder import Knowledge, decode
from tests.envs.side_by_side import Party, Remembering, Rules
from tests.oracle.hand import Hand
from tests.oracle.random_play import biased_move


def mix(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def hand_seed(seed: int, episode: int) -> int:
    """Seed of each hand of a table, written from docs/environment.md."""
    g = 0x9E3779B97F4A7C15
    if episode == 0:
        return seed
    return mix((mix((seed + g) % 2**64) + episode * g) % 2**64) >> 11


class VectorParty(Party):
    """B tables of a vector environment that deals the next hand where one has ended.

    Attributes:
        env: the environment.
        seed: table i has ``seed + i``.
        skip_forced: the environment plays single answers; here the oracle plays them for itself.
        episodes, redeals: of the hand at each table.
        known: what is public there.
        steps: so far.
        unasked: answers that the environment played.
    """

    def __init__(self, rules: Rules, tables: int, seed: int, *, skip_forced: bool = False) -> None:
        super().__init__(rules, [])
        self.seed, self.skip_forced = seed, skip_forced
        self.env = VectorEnv(self.engine, tables, seed, skip_forced=skip_forced)
        self.obs, self.info = self.env.reset()
        self.state = self.env.state
        self.tables = list(range(tables))
        self.episodes, self.redeals = [0] * tables, [0] * tables
        self.hands = [self._dealt(table) for table in self.tables]
        self.known = [Knowledge(hand) for hand in self.hands]
        self.steps, self.unasked = 0, 0
        for table in self.tables:
            self._go_on(table)

    def check_step(self) -> list[list[str]]:
        """Compare what the last step gave out; returns the legal moves."""
        for table, hand in enumerate(self.hands):
            self._compare(table)
            assert self.obs["acting_seat"][table] == hand.seat
            assert PHASE_NAMES[self.info["phase"][table]] == hand.phase
        self._compare_observation(self.steps % len(self.hands))  # the slowest: one at a time
        assert self.info["episode"].tolist() == self.episodes
        assert self.info["redeals"].tolist() == self.redeals
        legal = self.check_legal(self.tables, self.env.legal)
        if self.skip_forced:
            assert min(map(len, legal)) > 1
        return legal

    def play(self, rng: random.Random) -> None:
        """A biased move at every table, compared before and after."""
        moves = [biased_move(legal, rng) for legal in self.check_step()]
        actions = [
            self.engine.action_of(self.state, table, move)
            for table, move in zip(self.tables, moves, strict=True)
        ]
        self.obs, rewards, terminated, truncated, self.info = self.env.step(actions)
        self.steps += 1
        assert not truncated.any()
        final = self.info.get("final_info", [None] * len(moves))
        for table, move in zip(self.tables, moves, strict=True):
            self._say(table, move)
            last = self._go_on(table)
            assert final[table] == last
            assert terminated[table] == (last is not None)
            assert rewards[table].tolist() == (last["scores"] if last else [0] * 5)
        assert ("_final_info" in self.info) == terminated.any()
        assert np.array_equal(self.info.get("_final_info", terminated), terminated)

    def _compare_observation(self, table: int) -> None:
        seat = self.hands[table].seat
        assert seat is not None
        known = self.known[table].of(seat) | {"redeals": self.redeals[table]}
        assert decode(self.obs["observation"][table], seat) == known

    # ---- the oracle's side

    def _say(self, table: int, move: str) -> None:
        hand = self.hands[table]
        seat, phase = hand.seat, hand.phase
        assert seat is not None
        picked = hand.pick(move[5:]) if move.startswith("play ") else None
        self.tell(table, move, picked)
        self.known[table].hear(seat, phase, move, picked or [])

    def _go_on(self, table: int) -> dict[str, Any] | None:
        """Play and deal up to the next decision; the last info of the hand that has ended."""
        last = None
        while True:
            hand = self.hands[table]
            if hand.void:
                self.redeals[table] += 1
                self._deal(table)
            elif hand.seat is None:
                if last is None:  # one that ends without a decision after it is not paid
                    last = self._last_info(hand, self.redeals[table])
                self.episodes[table] += 1
                self.redeals[table] = 0
                self._deal(table)
            elif self.skip_forced and len(hand.legal()) == 1:
                self.unasked += 1
                self._say(table, hand.legal()[0])
            else:
                return last

    def _deal(self, table: int) -> None:
        self.hands[table] = self._dealt(table)
        self.known[table] = Knowledge(self.hands[table])

    def _dealt(self, table: int) -> Hand:
        seed = hand_seed(self.seed + table, self.episodes[table])
        hands, start = self.engine.dealt_hands(seed, self.redeals[table])
        return Remembering([hand.split(" ") for hand in hands], start, self.rules)

    def _last_info(self, hand: Hand, redeals: int) -> dict[str, Any]:
        return {
            "rules": str(self.engine.rules),
            "phase": "over",
            "redeals": redeals,
            "roles": {"emperor": hand.emperor, "guard": hand.guard, "solo": hand.solo},
            "finish": hand.finish,
            "scores": hand.scores,
            "multiplier": hand.multiplier,
        }
