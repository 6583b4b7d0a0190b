"""How likely a population plays what was played, in each of many imagined worlds.

A world is a complete table that agrees with a view. Its deal follows from it: what was played goes
back to its players, R* and the tribute to those who had them. From that deal the public log is
played again, at all worlds together, and every decision asks the population for its chance. The log
does not tell whether a caller played alone in secret: in a world in which he holds all four copies
he called so, in the others he did not.

Three numbers of a world D are kept apart, in logarithms:

* ``log_deals``: how many ways there are to deal distinct cards so, up to a factor. All are equally
  likely before anything is seen.
* ``log_likelihood``: chance of the log from this deal, decisions and suits.
* ``log_blind``: what the log counts for in :mod:`lupai.envs.baohuang.worlds`, which takes each
  played card as one known card, as if it had been drawn blindly from its player's hand; up to a
  factor. Worlds of ``determinize`` come in proportion to ``deals * blind``.

So the posterior of D is in proportion to ``deals * likelihood``, and a drawn world has the weight
``likelihood / blind``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lupai.agents.belief.behaviour import Population
from lupai.envs.baohuang.actions import CALL, SET, SET_IDENTITY
from lupai.envs.baohuang.play import cards_of_play
from lupai.envs.baohuang.roles import COPIES
from lupai.envs.baohuang.state import SEATS, Solo, State
from lupai.envs.cards import (
    CODE_B_MARKED,
    CODE_R_MARKED,
    KIND_B,
    KIND_R,
    NATURAL_RANKS,
    NUM_CODES,
    NUM_KINDS,
)
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY
from lupai.envs.view import Views

F64 = npt.NDArray[np.float64]
I8 = npt.NDArray[np.int8]
I64 = npt.NDArray[np.int64]

TABLES: Final = 8192  # replayed at a time: bounds the memory
_SECRET: Final = 2 * NUM_KINDS  # from the id of a call to that of the secret solo
LOG_FACTORIAL: Final = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 256)))])


@dataclass(frozen=True)
class CardLog:
    """What was played at N tables, card by card, as everybody saw it.

    Attributes:
        length: ``[N] int64`` moves since the deal.
        seats, actions: ``[N, T] int64`` who, and which action; a secret call is a call.
        cards: ``[N, T, 54] int8`` the very cards that were laid down.
        numbers: ``[N] int64`` by which errors name the views.
        hands: ``[N] int64``: equal for views of one hand, which share what was played before the
            earlier of them.
    """

    length: I64
    seats: I64
    actions: I64
    cards: I8
    numbers: I64
    hands: I64

    @classmethod
    def of(cls, views: Views, numbers: I64 | None = None) -> CardLog:
        """The histories of views, read.

        Args:
            numbers: as above; 0 … N - 1 when None.

        Raises:
            LupaiError: no history, not of all moves since the deal, or a move that cannot be read;
                names the view.
        """
        numbers = np.arange(len(views)) if numbers is None else numbers
        state, histories = views.state, views.histories
        if histories is None:
            raise LupaiError(
                "views without histories: what was played is needed; give "
                "Views(engine, state, seats, histories=log.history)"
            )
        length = np.array([len(history) for history in histories], np.int64)
        wrong = np.flatnonzero(length != state.moves)
        if wrong.size:
            raise LupaiError(
                f"view {numbers[wrong[0]]}: a history of {length[wrong[0]]} moves at a table after "
                f"{state.moves[wrong[0]]}; give all of them since the deal"
            )
        shape = (len(views), int(length.max(initial=0)))
        seats, actions = np.full(shape, NOBODY, np.int64), np.full(shape, NOBODY, np.int64)
        cards = np.zeros((*shape, NUM_KINDS), np.int8)
        known: dict[tuple[str, int], tuple[int, I8]] = {}
        kinds = state.identity_kind.tolist()
        for i, history in enumerate(histories):
            for j, move in enumerate(history):
                seat, _, text = move.partition(" ")
                read = known.get((text, kinds[i]))
                try:
                    if read is None:
                        read = known[text, kinds[i]] = views.engine.read_move(state, i, text)
                    seats[i, j] = int(seat)
                except ValueError as error:  # NotationError and IllegalMoveError are such
                    raise LupaiError(
                        f"view {numbers[i]}: move {j + 1} of its history, {move!r}: {error}"
                    ) from None
                actions[i, j], cards[i, j] = read
        hands = getattr(views, "hand", np.arange(len(views)))
        return cls(length, seats, actions, cards, numbers, np.asarray(hands, np.int64))

    def take(self, rows: I64) -> CardLog:
        """Those of some of the views."""
        return CardLog(
            self.length[rows], self.seats[rows], self.actions[rows], self.cards[rows],
            self.numbers[rows], self.hands[rows],
        )  # fmt: skip


def deals_of(worlds: State, marks: bool) -> I8:
    """``[B, S, 56] int8`` card codes of the deals from which the worlds came.

    Args:
        worlds: complete tables, the role not public.
        marks: whether one B is marked.
    """
    row = np.arange(len(worlds))
    codes = np.zeros((len(worlds), SEATS, NUM_CODES), np.int8)
    hands = codes[:, :, :NUM_KINDS]
    hands += worlds.hands
    hands += worlds.played
    hands[row, worlds.crown, KIND_R] -= 1
    hands[row, worlds.crown] -= worlds.pile
    table, seat = np.nonzero(worlds.added != NOBODY)
    hands[table, seat, worlds.added[table, seat]] += 1
    codes[row, worlds.first_holder, CODE_R_MARKED] = 1
    if marks:
        hands[row, worlds.marked_b, KIND_B] -= 1
        codes[row, worlds.marked_b, CODE_B_MARKED] = 1
    return codes


def log_deals(codes: I8) -> F64:
    """``[B]`` logarithm of the ways to deal distinct cards so, up to a constant."""
    ways: F64 = -LOG_FACTORIAL[codes[:, :, :NUM_KINDS]].sum(axis=(1, 2))
    return ways


def log_blind(worlds: State, marks: bool) -> F64:
    """``[B]`` logarithm of the ways in which distinct cards were played, up to a constant: what a
    log counts for if played cards are drawn blindly. Shown cards are played first."""
    row = np.arange(len(worlds))
    shown = np.zeros_like(worlds.played)
    shown[row, worlds.crown] = worlds.shown
    shown[row, worlds.crown, KIND_R] = np.maximum(shown[row, worlds.crown, KIND_R], 1)
    seen = shown.copy()
    if marks:  # B* is not played while the role is hidden
        seen[row, worlds.marked_b, KIND_B] = np.maximum(seen[row, worlds.marked_b, KIND_B], 1)
    drawn = np.maximum(worlds.played - shown, 0)
    unseen = np.where(drawn > 0, worlds.hands + worlds.played - seen, 0)
    ways: F64 = (LOG_FACTORIAL[unseen] - LOG_FACTORIAL[unseen - drawn]).sum(axis=(1, 2))
    return ways


def log_likelihood(
    population: Population, views: Views, log: CardLog, worlds: State, of: I64
) -> F64:
    """``[B]`` logarithm of the chance that the population plays the log from each world's deal; see
    :func:`log_by_seat`."""
    return combine(population, *log_by_seat(population, views, log, worlds, of))


def combine(population: Population, members: F64, suits: F64) -> F64:
    """``[B]`` of the parts that :func:`log_by_seat` gives."""
    shares = population.log_shares[:, None]
    likely: F64
    if population.per == "hand":
        likely = np.logaddexp.reduce(members.sum(axis=2) + shares, axis=0)
    else:
        likely = np.logaddexp.reduce(members + shares[:, :, None], axis=0).sum(axis=1)
    likely += suits.sum(axis=1)
    return likely


def log_by_seat(
    population: Population,
    views: Views,
    log: CardLog,
    worlds: State,
    of: I64,
    seats: npt.NDArray[np.bool_] | None = None,
) -> tuple[F64, F64]:
    """Logarithms of the chances of what each seat played from each world's deal.

    Decisions of the viewer himself are the same in all worlds of a view, and left out; but where
    all seats of a hand play alike, they tell how the others play.

    Args:
        population: who plays.
        views: N views of hidden roles.
        log: their public log.
        worlds: B complete tables that agree with the views.
        of: ``[B]`` which view each belongs to.
        seats: ``[B, S]`` whose decisions are wanted, all when None; the others get 0.

    Returns:
        ``[members, B, S]`` for each behaviour of the population, and ``[B, S]`` of the suits.

    Raises:
        LupaiError: the log does not lead from a world's deal to the world; names the view.
    """
    members = np.zeros((len(population.behaviours), len(worlds), SEATS))
    suits = np.zeros((len(worlds), SEATS))
    wanted = np.ones((len(worlds), SEATS), bool) if seats is None else seats.copy()
    mine = np.flatnonzero(views.seats[of] != NOBODY)
    laid = wanted.copy()
    laid[mine, views.seats[of[mine]]] = False
    if population.per == "seat":
        wanted = laid
    for start in range(0, len(worlds), TABLES):
        at = np.arange(start, min(start + TABLES, len(worlds)))
        members[:, at], suits[at] = _replay(
            population, views, log, worlds.take(at), of[at], wanted[at], laid[at]
        )
    return members, suits


def _replay(
    population: Population,
    views: Views,
    log: CardLog,
    worlds: State,
    of: I64,
    decides: npt.NDArray[np.bool_],
    lays: npt.NDArray[np.bool_],
) -> tuple[F64, F64]:
    engine: Any = views.engine
    state = engine.reset_deals(deals_of(worlds, engine.rules.needs_marked_b), worlds.start)
    state.redeals = worlds.redeals
    members = np.zeros((len(population.behaviours), len(worlds), SEATS))
    suits = np.zeros((len(worlds), SEATS))
    how = _log_blind_suits if population.suits == "blind" else _log_ordered_suits
    for move in range(log.actions.shape[1]):
        t = np.flatnonzero(log.length[of] > move)
        if not t.size:
            break
        actor, actions = state.actor[t].astype(np.intp), log.actions[of[t], move]
        cards = log.cards[of[t], move]
        called = np.flatnonzero((actions >= CALL) & (actions < CALL + NUM_KINDS))
        if called.size:
            held = state.hands[t[called], actor[called], actions[called] - CALL]
            actions[called] += _SECRET * (held == COPIES)
        legal = engine.legal(state, t)
        good = legal.contains(actions) & (actor == log.seats[of[t], move])
        if not good.all():
            i = int(np.flatnonzero(~good)[0])
            raise LupaiError(
                f"view {log.numbers[of[t[i]]]}: move {move + 1} of its history cannot be made in a "
                "world that agrees with its table; give the history of this very table"
            )
        at = np.flatnonzero(decides[t, actor] & (legal.counts() > 1))
        if at.size:
            hands = log.hands[of[t[at]]]
            told = _log_chances(
                population, engine, state, t[at], legal.take(at), actions[at], hands
            )
            members[:, t[at], actor[at]] += told
        at = np.flatnonzero(lays[t, actor] & (actions >= SET))
        if at.size:
            laid = how(state, t[at], actions[at], cards[at], engine.rules.supreme)
            suits[t[at], actor[at]] += laid
        engine.step(state, actions, t, cards=cards, legal=legal)
    wrong = np.flatnonzero((state.hands != worlds.hands).any(axis=(1, 2)))
    if wrong.size:
        raise LupaiError(
            f"view {log.numbers[of[wrong[0]]]}: its history does not lead to its table; give the "
            "history of this very table"
        )
    return members, suits


def _log_chances(
    population: Population, engine: Any, state: State, t: I64, legal: Any, actions: I64, hands: I64
) -> F64:
    """``[members, N]``; who sees the same, in whichever worlds of whichever views of a hand, is
    asked once."""
    first, inverse = _views_alike(state, t, hands)
    t, legal, actions = t[first], legal.take(first), actions[first]
    views = Views(engine, state, state.actor[t].astype(np.intp), t, legal=legal)
    with np.errstate(divide="ignore"):
        told = [np.log(behaviour.chances(views, actions)) for behaviour in population.behaviours]
    return np.stack(told)[:, inverse]


def _views_alike(state: State, t: I64, hands: I64) -> tuple[I64, I64]:
    """Tables ``t`` without those in which the actor sees the same, as ``np.unique`` gives them: of
    one hand, what he sees follows from his cards and from what he alone knows of the roles."""
    actor = state.actor[t]
    key = np.zeros((len(t), NUM_KINDS + 5), np.int8)
    key[:, :NUM_KINDS] = state.hands[t, actor]
    key[:, NUM_KINDS] = (
        (state.guard[t] == actor)
        + 2 * (state.identity_seat[t] == actor)
        + 4 * (state.marked_b[t] == actor)
        + 8 * ((state.emperor[t] == actor) & (state.solo[t] == Solo.SECRET))
    )
    key[:, NUM_KINDS + 1 :] = hands.astype(np.int32)[:, None].view(np.int8)
    whole = np.ascontiguousarray(key).view(f"V{key.shape[1]}")[:, 0]
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return first, inverse


def _log_blind_suits(state: State, t: I64, actions: I64, cards: I8, supreme: bool) -> F64:
    """``[N]`` all ways to pick the cards among those alike but for the suit are as likely."""
    seat = state.actor[t].astype(np.intp)
    held = state.hands[t, seat].astype(np.int64)
    row = np.arange(len(t))
    kind = state.identity_kind[t].astype(np.intp)
    hides = state.identity_seat[t] == seat
    held[row, np.where(hides, kind, 0)] -= hides
    laid = cards.astype(np.int64)
    laid[row, np.where(hides, kind, 0)] -= hides & (actions >= SET_IDENTITY)
    shape = (len(t), NATURAL_RANKS, 4)
    held, laid = held[:, :KIND_B].reshape(shape), laid[:, :KIND_B].reshape(shape)
    total = laid.sum(axis=2)
    ways = _log_choose(held, laid).sum(axis=2) - _log_choose(held.sum(axis=2), total)
    out: F64 = np.where(total > 0, ways, 0.0).sum(axis=1)
    return out


def _log_choose(n: I64, k: I64) -> F64:
    out: F64 = LOG_FACTORIAL[n] - LOG_FACTORIAL[k] - LOG_FACTORIAL[n - k]
    return out


def _log_ordered_suits(state: State, t: I64, actions: I64, cards: I8, supreme: bool) -> F64:
    """``[N]`` 0 where the engine would have taken these cards, else minus infinity."""
    usual = cards_of_play(state, t, actions, supreme=supreme)
    return np.where((usual == cards).all(axis=1), 0.0, -np.inf)
