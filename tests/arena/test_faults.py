"""Agents that make mistakes: each is caught, counted, told, and played over."""

import signal
import time

import numpy as np
import pytest

from lupai.envs.baohuang.engine import Engine
from lupai.train.arena.asking import AgentFaultError, Asker
from lupai.train.arena.packs import make_pack
from lupai.train.arena.plans import Match
from lupai.train.arena.play import play_deals
from lupai.train.arena.run import run_arena
from tests.arena.players import SMALL, Loser, Plain, doze, fail, hang


def play_one(agent, **options):
    """One hand of an agent in one seat among losers: the hands, and the agent's asker."""
    askers = [Asker(agent, agent.name, **options), Asker(Loser(), "loser")]
    for asker in askers:
        asker.start(1)
    pack = make_pack(SMALL, 1, 8)
    hands = play_deals(Engine(SMALL), pack, Match("rebel_camp", (0, 1), 1), range(1), askers, 8)
    return hands, askers[0]


def illegal(view):
    return "play 33333333"


def half(view):
    return view.legal[0] if len(view.history) % 2 else "nonsense"


@pytest.mark.parametrize(
    ("move", "kind", "text"),
    [(illegal, 0, "played 'play 33333333'; legal: "), (fail, 1, "ZeroDivisionError: no idea")],
)
def test_every_fault_is_counted_and_played_over(move, kind, text):
    hands, asker = play_one(Plain(move, "wrong"))
    good, plain = play_one(Plain())
    assert hands.faults[0, kind] == hands.decisions[0] == plain.decisions > 3
    assert hands.faults.sum() == hands.faults[0, kind]
    assert text in asker.examples[0]
    assert "agent 'wrong', deal 0, rotation 0, seat " in asker.examples[0]
    # the fallback is the lowest id, which is the first of view.legal
    assert (hands.scores == good.scores).all()
    assert hands.examples["0"] == asker.examples


def test_one_bad_decision_spoils_no_other():
    _, asker = play_one(Plain(half, "half"))
    assert 0 < asker.faults[0] < asker.decisions
    assert asker.faults[1:].sum() == 0


class Batch(Loser):
    """A batch agent whose answer is bent by a function."""

    def __init__(self, bend):
        self.bend = bend

    def act_batch(self, views):
        return self.bend(super().act_batch(views))


@pytest.mark.parametrize(
    ("bend", "kind"),
    [
        (lambda a: np.full_like(a, 5000), 0),
        (lambda a: a[:0], 1),
        (lambda a: 1 // 0, 1),
        (lambda a: "grab", 1),
        (lambda a: np.full_like(a, -1), 0),
    ],
)
def test_batches_that_are_wrong(bend, kind):
    agent = Batch(bend)
    hands, _ = play_one(agent)
    assert hands.faults[0, kind] == hands.decisions[0] > 0
    good, _ = play_one(Batch(lambda a: a))
    assert good.faults.sum() == 0
    assert (good.lineups == hands.lineups).all()


def test_only_the_wrong_rows_of_a_batch_are_faults():
    def every_third(answers):
        return np.where(np.arange(len(answers)) % 3 == 2, 9999, answers)

    askers = [Asker(Batch(every_third), "third"), Asker(Loser(), "loser")]
    pack = make_pack(SMALL, 4, 8)
    hands = play_deals(Engine(SMALL), pack, Match("seat", (1, 0), 4), range(4), askers, 8)
    assert 0 < hands.faults[0, 0] < hands.decisions[0] / 3


def test_random_fallback_is_drawn_by_the_lane():
    runs = [play_one(Plain(fail), fallback="random")[0] for _ in range(2)]
    assert (runs[0].scores == runs[1].scores).all()
    assert (runs[0].places == runs[1].places).all()
    lowest = play_one(Plain(fail))[0]
    assert runs[0].decisions[0] != lowest.decisions[0]


@pytest.mark.parametrize("move", [illegal, fail])
def test_strict_stops_at_the_first(move):
    agent = Plain(move, "wrong")
    with pytest.raises(AgentFaultError, match=r"agent 'wrong', deal 0, rotation 0, seat \d, move"):
        run_arena([agent], ["random"], deals=2, strict=True, formats=["seat"], rules=SMALL)
    assert agent.asked <= 2


def test_a_slow_agent_is_told_by_the_limit():
    _, asker = play_one(Plain(doze, "doze"), limit=0.002)
    assert asker.faults[2] == asker.decisions
    assert " of 0.002 s" in asker.examples[0] or "stopped after 0.002 s" in asker.examples[0]
    _, asker = play_one(Plain(), limit=5)
    assert asker.faults.sum() == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm on this system")
def test_an_agent_that_never_answers_is_stopped():
    def sometimes(view):
        return hang(view) if len(view.hand) == 10 else view.legal[0]

    before = signal.getsignal(signal.SIGALRM)
    start = time.monotonic()
    _, asker = play_one(Plain(sometimes, "hang"), limit=0.1)
    assert 0 < asker.faults[2] < asker.decisions
    assert "was stopped after 0.1 s" in asker.examples[0]
    assert time.monotonic() - start < 60
    assert signal.getsignal(signal.SIGALRM) is before


def test_the_result_and_the_table_tell_faults():
    from lupai.train.arena.terminal import table

    outcome = run_arena(
        [Batch(lambda a: a + 9000)], [Loser()], deals=1, formats=["camp"], rules=SMALL
    )
    entry = outcome.result["faults"][0]
    assert entry["illegal"] == entry["decisions"] > 0
    assert entry["error"] == entry["slow"] == 0
    assert f"loser: {entry['illegal']} faults in {entry['decisions']} decisions" in table(
        outcome.result
    )
