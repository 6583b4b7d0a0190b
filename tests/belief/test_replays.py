"""Many records replayed in step, against one at a time; courses of hands, against the engine."""

import numpy as np
import pytest

from lupai.agents.belief.course import course_of
from lupai.agents.belief.views import PublicLog
from lupai.envs.baohuang.state import PHASE_PLAY
from lupai.envs.errors import RecordError
from lupai.envs.game import make_game
from lupai.envs.records import replay
from lupai.envs.replays import Replays
from tests.belief.hands import RULES, records_of


@pytest.mark.parametrize("rules", RULES)
def test_states_are_those_of_each_record_alone(rules):
    engine, records = make_game("baohuang", rules), records_of(rules)
    alone = [[state.copy() for state in replay(record, engine)] for record in records]
    replays = Replays(engine, records)
    seen = 0
    for k, on in replays:
        for hand in on.tolist():
            assert replays.state.take([hand]).equals(alone[hand][k])
            seen += 1
    assert seen == sum(len(record["moves"]) for record in records)
    for hand, states in enumerate(alone):
        assert replays.state.take([hand]).equals(states[-1])


def test_what_cannot_be_names_the_hand():
    engine, records = make_game("baohuang", "qingdao"), records_of("qingdao")
    for moves, why in (
        (["9 grab"], "hand 1: move 1 '9 grab' cannot be"),
        (["0 play 3s 4s"], "hand 1: a play of cards that are no set"),
        (["nonsense"], "hand 1: no move"),
    ):
        with pytest.raises(RecordError, match=why):
            for _ in Replays(engine, [records[0], records[1] | {"moves": moves}]):
                pass
    with pytest.raises(RecordError, match="hand 0: of rules"):
        Replays(make_game("baohuang", "weihai"), records)


@pytest.mark.parametrize("rules", RULES)
def test_the_course_from_the_log_is_the_engines(rules):
    engine, records = make_game("baohuang", rules), records_of(rules)
    replays = Replays(engine, records)
    log = PublicLog.of_actions(replays.seats, replays.actions)
    dealt = replays.state.sizes.astype(np.int64)
    shape = log.actions.shape
    true = {name: np.zeros(shape, int) for name in ("standing", "owner", "circle", "trick")}
    playing, sizes = np.zeros(shape, bool), np.zeros((*shape, 5), int)
    begun = np.zeros(len(records), int)
    for k, on in replays:
        state = replays.state
        playing[on, k] = state.phase[on] == PHASE_PLAY
        begun[on] += playing[on, k] & (state.standing[on] == -1)
        true["trick"][on, k] = begun[on]
        for name in ("standing", "owner", "circle"):
            true[name][on, k] = getattr(state, name)[on]
        sizes[on, k] = state.sizes[on]
        first = on[playing[on, k] & (begun[on] == 1) & (state.standing[on] == -1)]
        dealt[first] = state.sizes[first]
    course = course_of(log, dealt, engine.rules)
    assert (course.playing == playing).all()
    for name, values in true.items():
        assert (getattr(course, name)[playing] == values[playing]).all(), name
    assert (course.sizes[playing] == sizes[playing]).all()
