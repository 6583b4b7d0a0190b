"""A trainer without Ray: what the loop, the checkpoints and the run folder are tested with."""

from __future__ import annotations

import json

import lupai.agents


class Counter:
    """A part with JSON values and a file."""

    def __init__(self, value=0):
        self.value = value

    def save(self, folder):
        (folder / "more.txt").write_text(f"{self.value}\n" * 3)
        return {"value": self.value}

    def restore(self, state, folder):
        assert (folder / "more.txt").read_text() == f"{state['value']}\n" * 3
        self.value = state["value"]


class PlainTrainer:
    """Counts; plays like `greedy`."""

    def __init__(self, entropy=lambda n: 1.0, agent="greedy", fail=None):
        self.counter, self.closed = Counter(), False
        self._entropy, self._agent, self._fail = entropy, agent, fail

    def train(self):
        self.counter.value += 1
        if self._fail is not None:
            self._fail(self.counter.value)
        return {
            "steps": 100,
            "hands": 2,
            "loss/entropy": self._entropy(self.counter.value),
            "play/illegal_actions": 0,
        }

    def after(self, progress):
        return {}

    def agent(self):
        return lupai.agents.load(self._agent)

    def parts(self):
        return {"agent": _Agent(), "counter": self.counter}

    def close(self):
        self.closed = True


class _Agent:
    def save(self, folder):
        (folder / "agent.json").write_text(json.dumps({"name": "plain"}))

    def restore(self, state, folder):
        pass
