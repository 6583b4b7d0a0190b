"""Roles by the marked jokers (rules §4.3, preset weihai): everything before the first lead.

The holder of R* (皇) is emperor and leads, the holder of B* (保) is his hidden guard; both in one
hand: secret solo (暗度). Phases:

1. Open solo (明度): from the holder of R* going +1, all five; the first ``solo`` plays alone
   against four and leads, both marks lose their meaning; then the four may ``ti`` (踢).
2. 弃皇: the emperor is always asked; with both marks he may ``abandon``. R* is then offered to the
   seats +2, +3, +4, +1 from him; who accepts is emperor, the giver his public guard. If all
   refuse, the hand ends.
3. 明 (``declare``): the four after the emperor, all asked.
4. 反 (``oppose``) if nobody declared: the four after the emperor, all asked; not for the holder of
   B*. Enough votes make the guard, or the secret solo, public.
5. 扭 (``niu``) by the camp that did not double: after 明 the rebels, after 反 the emperor, then the
   guard. After 反 against a secret solo the soloist alone is asked ``ti`` instead.
6. 踢 (``ti``) if 扭 stands, by the other camp.

Every vote ends as soon as its number is reached; each that stands doubles the score. The larger
camp needs ``votes_needed`` votes. Source: S4; order of the offers and the penalty of 弃皇 are
decided by the project (docs/rules.md).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lupai.envs.asking import answered, say, seat_bit
from lupai.envs.baohuang.actions import VERB_ID
from lupai.envs.baohuang.asking import ALL, ask, emperors_camp, make_public, move_crown, open_play
from lupai.envs.baohuang.legal import Ints, Legal, verb_mask
from lupai.envs.baohuang.rules import Rules
from lupai.envs.baohuang.state import PHASE_OVER, SEATS, Phase, Said, Solo, State
from lupai.envs.cards import KIND_B
from lupai.envs.seats import NOBODY

# phase: (the vote's verb, what is noted of it, and of silence)
VOTES: Final = {
    Phase.SOLO_TI: ("ti", Said.TI, Said.SILENT_TI),
    Phase.OPPOSE: ("oppose", Said.OPPOSE, Said.SILENT_OPPOSE),
    Phase.NIU: ("niu", Said.NIU, Said.SILENT_NIU),
    Phase.TI: ("ti", Said.TI, Said.SILENT_TI),
}


def begin(state: State, t: Ints, rules: Rules) -> None:
    """Open the first phase of freshly dealt tables."""
    if rules.open_solo:
        ask(state, t, Phase.SOLO, ALL, state.crown[t])
    else:
        _abandon_phase(state, t)


def take_roles(state: State, t: Ints) -> None:
    """The marks make emperor and guard, or a secret solo."""
    crown, marked = state.crown[t], state.marked_b[t]
    alone = crown == marked
    state.emperor[t] = crown
    state.guard[t] = np.where(alone, NOBODY, marked)
    state.solo[t] = np.where(alone, int(Solo.SECRET), int(Solo.NONE))
    state.identity_kind[t] = KIND_B
    state.identity_seat[t] = marked


def legal(out: Legal, state: State, t: Ints) -> None:
    """Fill in the legal moves of tables ``t`` that are in a phase of this module."""
    phase, actor = state.phase[t], state.actor[t]
    out.verbs[phase == Phase.SOLO] = verb_mask("solo", "decline")
    keeps = phase == Phase.ABANDON
    out.verbs[keeps] = verb_mask("keep")
    out.verbs[keeps & (state.marked_b[t] == actor)] = verb_mask("keep", "abandon")
    out.verbs[phase == Phase.OFFER] = verb_mask("accept", "refuse")
    for vote, (verb, _, _) in VOTES.items():
        out.verbs[phase == vote] = verb_mask(verb, "silent")
    barred = (phase == Phase.OPPOSE) & (state.marked_b[t] == actor)
    out.verbs[barred] = verb_mask("silent")


def step(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    """Apply legal moves of the phases of this module, in place."""
    phase = state.phase[t]
    for which, apply in ((Phase.SOLO, _solo), (Phase.ABANDON, _abandon), (Phase.OFFER, _offer)):
        here = phase == which
        if here.any():
            apply(state, t[here], actions[here], rules)
    for vote in VOTES:
        here = phase == vote
        if here.any():
            _vote(state, t[here], actions[here], vote, rules)


def _solo(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    takes = actions == VERB_ID["solo"]
    if takes.any():
        s = t[takes]
        say(state, s, Said.SOLO)
        seat = state.actor[s].copy()
        state.emperor[s] = seat
        state.solo[s] = Solo.OPEN
        state.public[s] = 1
        if rules.doubling:
            ask(state, s, Phase.SOLO_TI, ALL & ~seat_bit(seat), seat)
        else:
            open_play(state, s)
    if not takes.all():
        d = t[~takes]
        say(state, d, Said.DECLINE_SOLO)
        _abandon_phase(state, d[answered(state, d)])


def _abandon_phase(state: State, t: Ints) -> None:
    take_roles(state, t)
    emperor = state.emperor[t].copy()
    ask(state, t, Phase.ABANDON, seat_bit(emperor), emperor)


def _abandon(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    leaves = actions == VERB_ID["abandon"]
    if leaves.any():
        a = t[leaves]
        say(state, a, Said.ABANDON)
        emperor = state.emperor[a].copy()
        # from +2 on; +1 comes last, since the walk goes round past the emperor
        ask(state, a, Phase.OFFER, ALL & ~seat_bit(emperor), (emperor + 2) % SEATS)
    if not leaves.all():
        k = t[~leaves]
        say(state, k, Said.KEEP)
        declare_phase(state, k, rules)


def _offer(state: State, t: Ints, actions: Ints, rules: Rules) -> None:
    takes = actions == VERB_ID["accept"]
    if takes.any():
        a = t[takes]
        say(state, a, Said.ACCEPT)
        seat = state.actor[a].copy()
        state.guard[a] = state.emperor[a]
        state.emperor[a] = seat
        state.solo[a] = Solo.NONE
        move_crown(state, a, seat)
        make_public(state, a)
        declare_phase(state, a, rules)
    if not takes.all():
        r = t[~takes]
        say(state, r, Said.REFUSE)
        ended = r[answered(state, r)]
        state.phase[ended] = PHASE_OVER
        state.actor[ended] = NOBODY
        state.abandoned[ended] = 1
        state.solo[ended] = Solo.NONE
        make_public(state, ended)


def declare_phase(state: State, t: Ints, rules: Rules) -> None:
    """Ask the four after the emperor whether the guard shows himself."""
    if rules.declare:
        emperor = state.emperor[t].copy()
        ask(state, t, Phase.DECLARE, ALL & ~seat_bit(emperor), emperor)
    else:
        nobody_declared(state, t, rules)


def nobody_declared(state: State, t: Ints, rules: Rules) -> None:
    """All were silent, or nobody is asked at all."""
    if rules.oppose:
        emperor = state.emperor[t].copy()
        ask(state, t, Phase.OPPOSE, ALL & ~seat_bit(emperor), emperor)
    else:
        open_play(state, t)


def guard_declared(state: State, t: Ints, rules: Rules) -> None:
    """明 stands: the rebels may 扭."""
    if rules.doubling:
        rebels = ALL & ~emperors_camp(state, t)
        ask(state, t, Phase.NIU, rebels, state.emperor[t].copy())
    else:
        open_play(state, t)


def _votes_needed(state: State, t: Ints, phase: Phase, rules: Rules) -> Ints:
    """Votes that make the running poll stand: the larger camp needs several."""
    many = rules.votes_needed or 1
    declared = state.declared[t] == 1
    if phase in (Phase.SOLO_TI, Phase.OPPOSE):
        return np.full(len(t), many)
    if phase == Phase.NIU:
        return np.where(declared, many, 1)
    alone = state.solo[t] != Solo.NONE
    return np.where(declared | alone, 1, many)


def _vote(state: State, t: Ints, actions: Ints, phase: Phase, rules: Rules) -> None:
    verb, yes, no = VOTES[phase]
    voted = actions == VERB_ID[verb]
    say(state, t[voted], yes)
    say(state, t[~voted], no)
    state.votes[t] += voted
    stands = state.votes[t] >= _votes_needed(state, t, phase, rules)
    done = answered(state, t)
    s = t[stands]
    if s.size:
        state.multiplier[s] *= 2
        _after(state, s, phase, rules)
    open_play(state, t[done & ~stands])


def _after(state: State, t: Ints, phase: Phase, rules: Rules) -> None:
    """What follows a vote that stands."""
    if phase in (Phase.SOLO_TI, Phase.TI):
        open_play(state, t)
        return
    if phase == Phase.OPPOSE:
        make_public(state, t)
        if not rules.doubling:
            open_play(state, t)
            return
    camp = emperors_camp(state, t)
    emperor = state.emperor[t].copy()
    if phase == Phase.OPPOSE:
        alone = state.solo[t] != Solo.NONE
        for here, following in ((alone, Phase.TI), (~alone, Phase.NIU)):
            if here.any():
                ask(state, t[here], following, camp[here], emperor[here])
    else:  # 扭: the camp that did not 扭 may 踢
        declared = state.declared[t] == 1
        ask(state, t, Phase.TI, np.where(declared, camp, ALL & ~camp), emperor)
