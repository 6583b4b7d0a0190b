"""Processes and interruptions change nothing: the same bytes in the end."""

import json

import pytest

import lupai.train.arena.work as work
from lupai.train.arena.plans import ArenaError
from lupai.train.arena.results import to_json
from lupai.train.arena.run import finish, run_arena
from tests.arena.players import SMALL

# A module of the user: one agent that draws and has act alone, one with batches but no lanes.
MODULE = """
import numpy as np
from lupai.agents.random_agent import RandomAgent

class Any:
    name = "any"
    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)
    def act(self, view):
        ids = view.legal_ids
        return view.move_of(int(ids[self.rng.integers(len(ids))]))

class Batch:
    name = "batch"
    def __init__(self):
        self.inner = RandomAgent()
        self.reset, self.act, self.act_batch = (
            self.inner.reset, self.inner.act, self.inner.act_batch)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "players_of_mine.py").write_text(MODULE)
    return tmp_path


PLAYERS = ["random", "players_of_mine:Batch"]
OPTIONS = {"formats": ["seat", "camp"], "deals": 4, "deals_of_part": 2, "seed": 6, "rules": SMALL}


def run(**options):
    lines = []
    outcome = run_arena(PLAYERS, ["greedy"], records=lines.append, **{**OPTIONS, **options})
    return to_json(outcome.result), lines


def test_two_processes_give_the_bytes_of_one(here):
    one, lines = run()
    two, other = run(jobs=2)
    assert one == two
    assert lines == other
    assert len(lines) == 2 * (4 * 5 + 4 + 4)


def test_an_agent_with_act_alone_in_two_processes(here):
    results = [
        run_arena(
            ["players_of_mine:Any"], ["greedy"], formats=["emperor_camp"], deals=2,
            deals_of_part=1, jobs=jobs, rules=SMALL,
        ).result
        for jobs in (1, 2)
    ]  # fmt: skip
    assert to_json(results[0]) == to_json(results[1])
    assert results[0]["faults"][0]["decisions"] > 5


@pytest.mark.parametrize("stop_at", [0, 3])
def test_an_interrupted_match_goes_on(here, monkeypatch, stop_at):
    whole, lines = run()
    folder, played = here / "r.json.partial", []
    original = work.play_deals

    def stops(engine, pack, match, deals, *rest, **options):
        if len(played) == stop_at:
            raise KeyboardInterrupt
        played.append((match, deals))
        return original(engine, pack, match, deals, *rest, **options)

    monkeypatch.setattr(work, "play_deals", stops)
    with pytest.raises(KeyboardInterrupt):
        run(work=folder)
    assert len(list(folder.glob("*.npz"))) == stop_at
    first = list(played)
    stop_at = -1
    again, other = run(work=folder)
    assert (again, other) == (whole, lines)
    assert not set(map(str, first)) & set(map(str, played[len(first) :]))  # nothing twice
    finish(folder)
    assert not folder.exists()


def test_another_match_does_not_go_on_from_it(here):
    folder = here / "r.json.partial"
    run_arena(["greedy"], ["greedy"], formats=["camp"], deals=1, work=folder, rules=SMALL)
    for options, part in (
        ({"seed": 2}, r"other pack, seed\)"),
        ({"deals": 2}, "matches"),
        ({"strict": True}, "strict"),
        ({"limit": 3.0}, "limit"),
    ):
        given = {"formats": ["camp"], "deals": 1, "rules": SMALL, **options}
        with pytest.raises(ArenaError, match=f"holds parts of another match .*{part}"):
            run_arena(["greedy"], ["greedy"], work=folder, **given)
    (here / "players_of_mine.py").write_text(MODULE + "\n# another version\n")
    match = json.loads((folder / "match.json").read_text())
    assert match["sources"] == ["greedy", "greedy"]


def test_what_is_no_work_folder_is_left_alone(here):
    folder = here / "r.json.partial"
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    with pytest.raises(ArenaError, match="no folder of a match"):
        run_arena(["greedy"], ["greedy"], formats=["camp"], deals=1, work=folder, rules=SMALL)
    assert (folder / "diary.txt").read_text() == "mine"


def test_a_damaged_part_is_named(here):
    folder = here / "r.json.partial"
    options = {"formats": ["emperor_camp"], "deals": 1, "work": folder, "rules": SMALL}
    run_arena(["greedy"], ["greedy"], **options)
    (part,) = folder.glob("*.npz")
    part.write_bytes(b"nothing")
    with pytest.raises(ArenaError, match=r"match-0000-deal-0000000.npz: not the hands of a part"):
        run_arena(["greedy"], ["greedy"], **options)
