"""Short hands worked out by hand from the rules page, for the corners where engines go wrong."""

import numpy as np
import pytest

from lupai.envs.baohuang import notation
from lupai.envs.baohuang.actions import SET, VERB_ID
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import Said, Solo, State
from lupai.envs.cards import KIND_TEXTS
from lupai.envs.errors import IllegalMoveError
from tests.envs.side_by_side import play, small

PASS, DECLINE = VERB_ID["pass"], VERB_ID["decline"]


def down(first: int, verb: str) -> list[str]:
    """All five say a word, from `first` going -1."""
    return [f"{(first - i) % 5} {verb}" for i in range(5)]


def silent(emperor: int) -> list[str]:
    return [f"{(emperor + i) % 5} silent" for i in range(1, 5)]


def grabbed(*hands: str, start: int = 0) -> tuple[Engine, State]:
    """Seat 0 holds R* and has grabbed: no secrets, he leads."""
    engine, state = small(*hands, start=start)
    play(engine, state, "0 grab")
    return engine, state


# ---- the end of a set


def test_the_next_player_inherits_the_lead_without_a_claim() -> None:
    """接风: seat 1 may claim and passes; the lead is his all the same."""
    engine, state = grabbed("R* R", "3s 3h 3d", "4s 4h", "5s 5h", "6s 6h", start=1)
    play(engine, state, "0 play R R")
    assert state.places[0].tolist() == [1, 0, 0, 0, 0]
    assert engine.legal_texts(state, 0) == ["pass", "yield", "claim"]
    play(engine, state, "1 pass")
    assert engine.legal_texts(state, 0) == ["pass", "yield"]
    play(engine, state, "2 pass", "3 pass", "4 pass")
    assert (state.actor[0], state.standing[0], state.owner[0]) == (1, -1, -1)
    assert engine.legal_texts(state, 0) == ["play 3", "play 33", "play 333"]


def test_a_claim_is_no_answer_in_circle_two() -> None:
    """Seat 1 claims, 2 and 4 yield: circle 2 asks 2 and 4 only, and nobody claims there."""
    engine, state = grabbed("R* 3c", "7s 3h 3d", "8s 4h", "5s 5h", "9s 6h", start=1)
    play(engine, state, "0 play R", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 3c")
    play(engine, state, "1 claim", "2 yield", "3 pass", "4 yield")
    assert (state.circle[0], state.actor[0]) == (2, 2)
    assert engine.legal_texts(state, 0) == ["pass", "play 4", "play 8"]
    play(engine, state, "2 pass")
    assert engine.legal_texts(state, 0) == ["pass", "play 6", "play 9"]
    play(engine, state, "4 pass")
    assert (state.actor[0], state.standing[0]) == (1, -1)


def test_a_yield_by_the_next_player_keeps_the_lead_for_him() -> None:
    engine, state = grabbed("R* 3c", "7s 3h", "8s 4h", "5s 5h", "9s 6h")
    play(engine, state, "0 play R", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 3c")
    play(engine, state, "1 yield", "2 pass", "3 pass", "4 pass")
    assert (state.circle[0], state.actor[0]) == (2, 1)
    assert engine.legal_texts(state, 0) == ["pass", "play 7"]
    play(engine, state, "1 pass")
    assert (state.actor[0], state.standing[0]) == (1, -1)


def test_last_sets_in_circle_two_pass_the_lead_on() -> None:
    """Seat 0 leaves, 2 and 4 yield, 2 leaves by beating in circle 2: now 3 is next, not 4 or 1."""
    engine, state = grabbed("R* 3c 3d", "7s 7h 3h", "8s 8h", "5s 5h 5d", "9s 9d 6h", start=3)
    play(engine, state, "0 play R", "1 pass", "2 pass", "3 pass", "4 pass", "0 play 3c 3d")
    play(engine, state, "1 pass", "2 yield", "3 pass", "4 yield", "2 play 8s 8h")
    assert state.places[0].tolist() == [1, 0, 2, 0, 0]
    assert (state.circle[0], state.actor[0], state.yielded[0]) == (1, 3, 0)
    assert engine.legal_texts(state, 0) == ["pass", "yield", "claim"]
    play(engine, state, "3 yield", "4 yield", "1 pass")
    assert (state.circle[0], state.actor[0]) == (2, 3)
    play(engine, state, "3 pass", "4 pass")
    assert (state.actor[0], state.standing[0]) == (3, -1)


def test_the_owner_in_circle_two_is_asked_again_when_beaten() -> None:
    """A set in circle 2 starts circle 1 for everybody: the old owner, and those who passed."""
    engine, state = grabbed("R* 3c 3d 4d", "7s 3h 8h", "8s 4h 2s", "5s 5h Ks", "9s 6h Ad")
    play(engine, state, "0 play 3c", "1 pass", "2 yield", "3 pass", "4 pass", "2 play 8s")
    assert (state.circle[0], state.actor[0]) == (1, 3)
    play(engine, state, "3 play Ks", "4 play Ad", "0 play R", "1 pass", "2 pass", "3 yield")
    play(engine, state, "4 pass", "3 pass")
    assert (state.actor[0], state.standing[0]) == (0, -1)


def test_the_hand_ends_the_moment_one_is_left() -> None:
    """Seat 3 leaves fourth while 1 has yielded: nobody is asked any more."""
    engine, state = grabbed("R* R", "3s 3h", "4s 4h", "5s 5h", "6s 6h")
    play(engine, state, "0 play R R", "1 pass", "2 pass", "3 pass", "4 pass", "1 play 3s")
    play(engine, state, "2 play 4s", "3 play 5s", "4 play 6s", "1 pass", "2 pass", "3 pass")
    play(engine, state, "4 play 6h", "1 claim", "2 pass", "3 pass", "1 play 3h", "2 yield")
    play(engine, state, "3 play 5h")
    assert state.over[0]
    assert state.places[0].tolist() == [1, 3, 5, 4, 2]
    assert engine.scores(state)[0].tolist() == [40, -10, -10, -10, -10]


def test_a_table_that_is_over_refuses_every_move() -> None:
    engine, state = small("R* 3s", "5s 5h", "6s 6h", "7s 7h", "8s 8h")
    play(engine, state, "0 grab", "0 play R", *(f"{s} pass" for s in (1, 2, 3, 4)), "0 play 3s")
    play(engine, state, "1 play 5s", "2 play 6s", "3 play 7s", "4 play 8s", "1 pass", "2 pass")
    play(engine, state, "3 pass", "4 play 8h", "1 claim", "2 pass", "3 pass", "1 play 5h")
    play(engine, state, "2 play 6h")
    assert state.over[0]
    assert state.places[0].tolist() == [1, 3, 4, 5, 2]
    assert engine.scores(state)[0].tolist() == [40, -10, -10, -10, -10]
    before = state.copy()
    for action in (PASS, DECLINE, SET, -1):
        with pytest.raises(IllegalMoveError, match="table 0: the hand is over"):
            engine.step(state, [action])
    assert state.equals(before)


# ---- jokers as called cards


def test_a_called_small_joker_hides_among_jokers() -> None:
    """Seat 0 calls B with three; seat 2 holds the fourth: B and B* are two moves, so is 5B*."""
    engine, state = small("B B B R*", "4s 4h 4d 4c", "B R R 5s", "6s 6h 6d 6c", "7s 7h 7d 7c")
    play(engine, state, *down(0, "decline"))
    assert engine.legal_texts(state, 0) == ["cede", "call B"]
    play(engine, state, "0 call B", *silent(0), "0 play B", "1 pass")
    assert notation.hand_texts(state, 0, 2) == ["5s", "B*", "R", "R"]
    # R beats B; B* does not, and with two cards nothing is asked
    assert engine.legal_texts(state, 0) == ["pass", "yield", "play R"]
    play(engine, state, "2 play R", "3 pass", "4 pass", "0 pass", "1 pass")
    moves = [m.removeprefix("play ") for m in engine.legal_texts(state, 0)]
    assert moves == ["5", "R", "B*", "5R", "5B*", "B*R", "5B*R"]
    play(engine, state, "2 play 5s B*")
    assert (state.public[0], state.guard[0], state.identity_seat[0]) == (1, 2, -1)


def test_a_called_big_joker_may_be_the_marked_one() -> None:
    """The emperor shows R R R*; the guard's R is the identity card and is written R*."""
    engine, state = small("R R R* 3s", "4s 4h 4d 4c", "R B 5s 5h", "6s 6h 6d 6c", "7s 7h 7d 7c")
    play(engine, state, *down(0, "decline"), "0 call R", *silent(0), "0 play 3s", "1 pass")
    assert engine.legal_texts(state, 0) == ["pass", "yield", "play 5", "play R*", "play B"]
    with pytest.raises(IllegalMoveError, match="illegal"):
        play(engine, state, "2 play R")
    play(engine, state, "2 play R*")
    assert (state.public[0], state.guard[0]) == (1, 2)


def test_a_secret_solo_of_four_big_jokers() -> None:
    """R to RRR keep the secret; R* to R*RRR tell it."""
    engine, state = small("R R R R* 3s", "4s 4h 4d 4c", "B B 5s 5h", "6s 6h 6d 6c", "7s 7h 7d 7c")
    play(engine, state, *down(0, "decline"))
    assert engine.legal_texts(state, 0) == ["cede", "call R open", "call R secret"]
    play(engine, state, "0 call R secret", *silent(0))
    moves = [m.removeprefix("play ") for m in engine.legal_texts(state, 0)]
    assert [m for m in moves if "3" not in m] == ["R", "R*", "RR", "R*R", "RRR", "R*RR", "R*RRR"]
    assert "3RRR" in moves
    assert "3R*RRR" in moves
    play(engine, state, "0 play R R", *(f"{s} pass" for s in (1, 2, 3, 4)))
    assert (state.public[0], state.identity_seat[0]) == (0, 0)
    play(engine, state, "0 play 3s R*")
    assert (state.public[0], state.solo[0], state.identity_seat[0]) == (1, Solo.SECRET, -1)


# ---- the crown


@pytest.mark.parametrize("grabber", range(5))
def test_a_grab_moves_the_crown(grabber: int) -> None:
    """Also to the one who has it already: then no card moves."""
    engine, state = small("R* 3s", "4s 4h", "5s 5h", "6s 6h", "7s 7h")
    order = [0, 4, 3, 2, 1]
    for seat in order[: order.index(grabber)]:
        play(engine, state, f"{seat} decline")
    play(engine, state, f"{grabber} grab")
    sizes = [2] * 5
    sizes[0] -= 1
    sizes[grabber] += 1
    assert state.sizes[0].tolist() == sizes
    assert state.emperor[0] == state.actor[0] == state.crown[0] == grabber
    assert (state.first_holder[0], state.public[0], state.solo[0]) == (0, 1, Solo.GRAB)
    assert "R" in notation.hand_texts(state, 0, grabber)


def test_the_crown_completes_a_triple_in_a_forced_call() -> None:
    """Going -1 from 0: nothing, only a four (skipped), then two R and R* make three."""
    engine, state = small("3s 3h 3d R*", "4s 4h 4d 4c", "R 5s 5h 5d", "R R 6s 6h", "9c 9c 9c 9c")
    play(engine, state, *down(0, "decline"), *down(0, "cede"))
    assert (state.actor[0], state.crown[0]) == (3, 3)
    assert engine.legal_texts(state, 0) == ["call R"]
    skipped = [int(said >> Said.SKIPPED_FORCED_CALL & 1) for said in state.said[0]]
    assert skipped == [1, 0, 0, 0, 1]
    play(engine, state, "3 call R")
    assert (state.emperor[0], state.guard[0]) == (3, 2)
    assert state.sizes[0].tolist() == [3, 4, 4, 5, 4]


def test_a_third_r_may_come_with_the_crown_when_ceded() -> None:
    engine, state = small("3s 3h 3d R*", "4s 4h 4d 4c", "R 5s 5h 5d", "6c 6d 6s 6h", "R R 9c 9c")
    play(engine, state, *down(0, "decline"), "0 cede")
    assert engine.legal_texts(state, 0) == ["cede", "call R"]
    play(engine, state, "4 cede")
    assert engine.legal_texts(state, 0) == ["cede"]


# ---- the very cards of a play


def test_the_very_cards_must_be_held_and_make_the_set() -> None:
    engine, state = small("R* 3s 3h 3d", "5s 5h 5h 5d", "6s 6h 6d", "7s 7h 7d", "8s 8h 8d", start=0)
    play(engine, state, "0 grab")
    before = state.copy()
    action = [engine.action_of(state, 0, "play 33")]
    kinds = {text: kind for kind, text in enumerate(KIND_TEXTS)}

    def cards(**counts: int) -> np.ndarray:
        row = np.zeros((1, 54), np.int8)
        for text, count in counts.items():
            row[0, kinds[text.lstrip("_")]] = count
        return row

    for wrong in (
        cards(),
        cards(_3s=1),
        cards(_3s=1, _3h=1, _3d=1),
        cards(_3s=2),
        cards(_3s=1, _3c=1),
        cards(_3s=1, _4s=1),
        cards(_3s=3, _3h=-1),
        cards(_3s=1, _3h=1, R=1),
    ):
        with pytest.raises(IllegalMoveError, match="seat 0"):
            engine.step(state, action, cards=wrong)
        assert state.equals(before)
    engine.step(state, action, cards=cards(_3h=1, _3d=1))
    assert notation.hand_texts(state, 0, 0) == ["3s", "R"]
