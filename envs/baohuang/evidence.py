"""What the public record and the own hand prove of the hidden cards, as arrays.

The columns of :class:`~lupai.envs.baohuang.state.State` one by one. *Own* is the viewer's.

=================  ============================================================================
column             what it proves
=================  ============================================================================
hands, ranks       the own hand
sizes              how many cards lie where
played             those cards are out. Which suits are played is their player's choice, so they
                   tell nothing of other suits
crown              R* is in that hand until its holder plays an R, the first of which counts as R*
shown              those of the shown cards that their holder has not played are in his hand; what
                   he plays of a kind counts as shown cards first. Which three of four copies an
                   emperor shows is not told, so that such deals count less: see ``odds``
pile, added        who ceded and added a card had no natural of a higher rank, and in that rank no
                   suit of fewer copies, or of as many that comes before (s<h<c<d); who ceded
                   after the first and added none had no natural card at all. Which of equal
                   copies it was is not told: see ``added_odds``
said               ``skipped_forced_call``: no kind exactly three times, R* and the pile counted;
                   all five ``cede``: who is then asked has such a kind, also if he calls another
                   of which he has four; ``oppose``: not B*; ``abandon``: both marks. Nothing
                   follows from ``decline``, ``cede``, ``keep``, ``refuse``, ``accept``, a vote on
                   扭 or 踢, or silence: all of them are open to everyone who is asked
identity_kind      while the role is hidden its fourth copy (or B*) has not been played: it lies
                   in any hand, where a card is called in the emperor's too (secret solo), and
                   its holder is still in. If all four lie in the pile everybody can count them
public             whose the four copies of the called card were, or who was dealt B*, which is in
                   that hand until its holder plays a B
identity_seat,     where the viewer may see them: the same
guard, solo
marked_b           where the viewer may see it: the same. After an open solo or a grab B* has no
                   meaning any more, and may have been played
alive, places,     the hand goes on: with the true roles it has not ended. When it is over: it
phase              ended with the last who went out, not before
emperor, solo,     public parts; who is alone in public has no guard
declared
first_holder       who ceded first and added nothing
void               nobody was left to be asked in the forced call
start, actor,      nothing more: what is asked of whom, and every set that was played, follow from
owner, standing,   cards that are public. Passing is open to everyone, and a set can always be led
circle, to_ask,    (憋6: a hand that holds nothing but sixes and jokers may be played whole)
passed, yielded,
claimed, votes,
left_trick,
out_count, recent,
multiplier, moves
redeals,           nothing: void deals before this one are independent of it
abandoned,
injected, seeds
=================  ============================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from lupai.envs.baohuang.hidden import COPIES_SHOWN
from lupai.envs.baohuang.legal import Ints
from lupai.envs.baohuang.roles import COPIES, callable_kinds
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.scoring import solo_decided
from lupai.envs.baohuang.state import PHASE_OVER, PHASE_PLAY, SEATS, Said, Solo, State
from lupai.envs.cards import KIND_B, KIND_R, NATURAL_RANKS, NUM_KINDS, RANK_OF_KIND
from lupai.envs.errors import LupaiError
from lupai.envs.seats import NOBODY

I8 = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
F64 = npt.NDArray[np.float64]
TRIPLE: Final = 3
TOP: Final = NATURAL_RANKS - 1
_SEATS: Final = np.arange(SEATS)


@dataclass
class Evidence:
    """What N viewers know of their N tables.

    Attributes:
        viewer: ``[N]`` seat, -1 for a spectator.
        known: ``[N, S, 54] int8`` cards that are known to lie in a hand.
        pool: ``[N, 54] int8`` unseen cards, which lie in the other places.
        room: ``[N, S] int64`` those places.
        bound: ``[N, S] int64`` highest natural rank that they take; 12: any, -1: jokers only.
        suited: ``[N, S] bool`` the seat added a card, whose suit is to be explained.
        own: ``[N, S, 54] int8`` what to add to a hand now to get that of the own natural cards
            when the seat ceded.
        added: ``[N, S] int8`` as in the state.
        skipped: ``[N, S] bool`` skipped in a forced call.
        forced: ``[N]`` seat that was asked in a forced call, -1 for none.
        asked: ``[N, S, 54] int8`` what to add to a hand now to get that of the forced call.
        secret: ``[N]`` kind of the one card whose place makes a role, while its seat is not known;
            else -1.
        odds: ``[N, S]`` of each place of a seat as its place; 0: the seat cannot hold it. A deal
            in which the emperor has all copies of the called card counts once, while there are as
            many with one of them elsewhere as there were copies that nobody had seen.
        marked: ``[N]`` who was dealt B*, -1 if that is open or there is none.
        loose_mark: ``[N] bool`` B* has lost its meaning, and any B of another may have been it.
        played_b: ``[N, S] int8`` B's played.
    """

    viewer: Ints
    known: I8
    pool: I8
    room: npt.NDArray[np.int64]
    bound: npt.NDArray[np.int64]
    suited: Bools
    own: I8
    added: I8
    skipped: Bools
    forced: Ints
    asked: I8
    secret: Ints
    odds: F64
    marked: Ints
    loose_mark: Bools
    played_b: I8

    def suits_fit(self, rows: Ints, hands: I8) -> Bools:
        """``[C] bool``: the suits of the added cards are those that the rules add, for hands
        ``[C, S, 54]`` of which each lies at one of the tables ``rows``."""
        rank = np.maximum(self.added[rows], 0) // 4
        at = np.minimum(rank, TOP)[:, :, None] * 4 + np.arange(4)
        had = np.take_along_axis(hands, at, axis=2) + np.take_along_axis(self.own[rows], at, axis=2)
        order = np.where(had > 0, had * 4 + np.arange(4, dtype=np.int8), np.int8(127))
        good = (order.argmin(axis=2) == self.added[rows] % 4) | ~self.suited[rows]
        fit: Bools = good.all(axis=1)
        return fit

    def added_odds(self, rows: Ints, hands: I8) -> F64:
        """``[C]``: which of equal copies a seat added is nobody's choice: a deal in which it had
        more of them counts by so much less. At most 1; arguments as for :meth:`suits_fit`."""
        kind = np.maximum(self.added[rows], 0).astype(np.intp)[:, :, None]
        least = np.take_along_axis(self.known[rows] + self.own[rows], kind, axis=2)
        had = np.take_along_axis(hands + self.own[rows], kind, axis=2)
        odds: F64 = np.where(self.suited[rows], (least / np.maximum(had, 1))[:, :, 0], 1).prod(
            axis=1
        )
        return odds

    def ranks_fit(self, rows: Ints, hands: I8) -> Bools:
        """``[C] bool``: nobody had a natural above the one that he added."""
        had = (hands + self.own[rows])[:, :, :KIND_B] > 0
        above = RANK_OF_KIND[:KIND_B] > self.bound[rows][:, :, None]
        fit: Bools = ~np.logical_or.reduce((had & above).reshape(len(rows), -1), axis=1)
        return fit

    def triples_fit(self, rows: Ints, hands: I8, rules: Rules) -> Bools:
        """``[C] bool``: who was skipped in a forced call had no triple, who was asked had one."""
        triple = (hands + self.asked[rows] == TRIPLE) & callable_kinds(rules)
        has = triple.any(axis=2)
        forced = self.forced[rows]
        fit: Bools = ~(has & self.skipped[rows]).any(axis=1)
        asked: Bools = has[np.arange(len(rows)), forced] | (forced == NOBODY)
        return fit & asked


def gather(masked: State, viewer: Ints, rules: Rules) -> Evidence:
    """Evidence of N tables from :func:`~lupai.envs.baohuang.hidden.mask_hidden`.

    Raises:
        LupaiError: the table contradicts itself; names it.
    """
    marked, loose_mark = _marked(masked, rules)
    known = _known(masked, viewer, marked, rules)
    pool = rules.cards.counts - (masked.played + known).sum(axis=1, dtype=np.int8)
    room = masked.sizes.astype(np.int64) - known.sum(axis=2, dtype=np.int64)
    wrong = np.flatnonzero(
        (pool < 0).any(axis=1) | (room < 0).any(axis=1) | (pool.sum(axis=1) != room.sum(axis=1))
    )
    if wrong.size:
        raise LupaiError(
            f"table {wrong[0]}: hand sizes, shown and played cards do not fit the deck"
        )

    is_crown = (masked.crown[:, None] == _SEATS)[:, :, None]
    pile = masked.pile[:, None]
    ceded = _has_said(masked, Said.CEDE)
    tribute = rules.tribute_on_cede is True and rules.guard_by == "called_card"
    gives = ceded & (masked.first_holder[:, None] != _SEATS) & tribute
    added = masked.added.astype(np.int64)
    all_ceded = ceded.all(axis=1) & (rules.forced_call is True) & (masked.void == 0)
    asked = masked.played + np.where(is_crown, np.int8(0), pile)
    asked[:, :, KIND_R] += ~is_crown[:, :, 0]
    secret, odds = _secret(masked, viewer, marked, loose_mark, rules)
    if tribute:  # with three copies shown and the fourth in the pile nothing is left to guess
        secret = np.where(pool[np.arange(len(pool)), secret] > 0, secret, NOBODY)
    own = masked.played - np.where(is_crown, pile, np.int8(0))
    own += np.eye(NUM_KINDS + 1, NUM_KINDS, dtype=np.int8)[added]  # none is -1: the last row
    return Evidence(
        viewer=viewer,
        known=known,
        pool=pool,
        room=room,
        bound=np.where(gives, np.where(added == NOBODY, -1, added // 4), TOP),
        suited=gives & (added != NOBODY),
        own=own,
        added=masked.added,
        skipped=_has_said(masked, Said.SKIPPED_FORCED_CALL),
        forced=np.where(all_ceded, masked.crown, NOBODY),
        asked=asked,
        secret=secret,
        odds=odds,
        marked=marked,
        loose_mark=loose_mark,
        played_b=masked.played[:, :, KIND_B],
    )


def _has_said(masked: State, what: Said) -> Bools:
    """``[N, S] bool``."""
    said: Bools = (masked.said >> what) & 1 == 1
    return said


def _marked(masked: State, rules: Rules) -> tuple[Ints, Bools]:
    """Who is known to have been dealt B*, and whether B* has lost its meaning."""
    if not rules.needs_marked_b:
        return np.full(len(masked), NOBODY), np.zeros(len(masked), bool)
    row = np.arange(len(masked))
    emperor = masked.emperor
    gave_up = _has_said(masked, Said.ABANDON)[row, emperor] & (emperor != NOBODY)
    marked = np.where(gave_up & (masked.marked_b == NOBODY), emperor, masked.marked_b)
    loose = (marked == NOBODY) & (emperor != NOBODY) & (masked.identity_kind == NOBODY)
    return marked, loose


def _known(masked: State, viewer: Ints, marked: Ints, rules: Rules) -> I8:
    row = np.arange(len(masked))
    played, crown = masked.played, masked.crown
    known = np.zeros_like(masked.hands)
    shown = np.maximum(masked.shown - played[row, crown], 0)
    unspent = played[row, crown, KIND_R] == 0
    shown[:, KIND_R] = np.maximum(shown[:, KIND_R], unspent)
    known[row, crown] = shown
    if rules.needs_marked_b:
        i = np.flatnonzero(marked != NOBODY)
        seat = marked[i]
        unspent = played[i, seat, KIND_B] == 0
        known[i, seat, KIND_B] = np.maximum(known[i, seat, KIND_B], unspent)
    else:
        i = np.flatnonzero((masked.identity_kind != NOBODY) & (masked.public == 1))
        kind, emperor, guard = masked.identity_kind[i], masked.emperor[i], masked.guard[i]
        copies = COPIES_SHOWN + (guard == NOBODY)
        known[i, emperor, kind] = copies - played[i, emperor, kind]
        i, kind, guard = (part[guard != NOBODY] for part in (i, kind, guard))
        known[i, guard, kind] = 1 - played[i, guard, kind]
    i = np.flatnonzero(viewer != NOBODY)
    known[i, viewer[i]] = masked.hands[i, viewer[i]]
    return known


def _secret(
    masked: State, viewer: Ints, marked: Ints, loose: Bools, rules: Rules
) -> tuple[Ints, F64]:
    """Kind of the card whose seat makes a role and is not known, and the odds of the seats."""
    odds = np.ones(masked.sizes.shape)
    if rules.needs_marked_b:
        secret = np.where((marked == NOBODY) & ~loose, KIND_B, NOBODY)
        odds[_has_said(masked, Said.OPPOSE)] = 0
    else:
        hidden = (masked.identity_kind != NOBODY) & (masked.public == 0)
        mine = (masked.identity_seat == viewer) & (viewer != NOBODY)
        secret = np.where(hidden & ~mine, masked.identity_kind, NOBODY)
        i = np.flatnonzero(secret != NOBODY)
        unseen = COPIES - (secret[i] == KIND_R).astype(np.int64)  # R* is seen from the deal on
        if rules.tribute_on_cede:
            unseen -= masked.pile[i, secret[i]]
        odds[i, masked.emperor[i]] = 1 / np.maximum(unseen, 1)
    i = np.flatnonzero(
        (secret != NOBODY) & (masked.emperor != NOBODY) & (masked.phase >= PHASE_PLAY)
    )
    if i.size and rules.end != "last_player":
        odds[i] *= _goes_on(masked.take(i), rules)
    return secret, odds


def _goes_on(masked: State, rules: Rules) -> Bools:
    """``[N, S] bool``: with this seat as holder of the identity card the hand has not ended
    before now, and it is over now if it is."""
    alive = masked.alive.astype(np.int64)
    over = masked.phase == PHASE_OVER
    gone = (alive[:, None] >> _SEATS) & 1 == 0
    last = np.where(gone, masked.places, 0).argmax(axis=1)
    before = np.where(over, alive | 1 << last, alive)
    good: Bools = ~_ended(before, masked.emperor, rules)
    good &= _ended(alive, masked.emperor, rules) | ~over[:, None]
    return good


def _ended(alive: Ints, emperor: Ints, rules: Rules) -> Bools:
    """``[N, S] bool``: whether a hand would be over with each seat as holder of the card."""
    inside = alive[:, None]
    camp = (1 << emperor.astype(np.int64))[:, None] | 1 << _SEATS
    ended: Bools = ((inside & camp) == 0) | ((inside & ~camp) == 0) | (inside & (inside - 1) == 0)
    if rules.end == "decided":
        out = SEATS - np.bitwise_count(alive)
        decided = solo_decided(rules)[Solo.SECRET, out]
        ended |= decided[:, None] & (emperor[:, None] == _SEATS)
    return ended
