"""Branches of the rules, counted while a hand is played.

A comparison with another engine should have met each of EVENTS often. The
names that need an option other than the default are in NEEDS_OPTION.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .sets import all_sets, has_joker, is_dead, is_gouji

if TYPE_CHECKING:
    from .hand import Hand

EVENTS = {
    # §1
    "first leader: start seat": "nobody got two 3s of one suit",
    "first leader: two 3s": "the first with two 3s of one suit kept the place",
    "first leader: taken over": "somebody with more 3s of one suit took over (顶班)",
    # §2
    "set: ordinary": "a set that is no 够级牌",
    "set: 2s attached": "2s count as the natural rank beside them",
    "set: jokers alone": "a set without a natural card",
    "set: 够级 by joker": "with a joker, 够级 only for that",
    "set: 够级 by size": "without a joker, large enough",
    "set: 够级 by its attached 2s": "large enough only with its 2s",
    "set: dead": "with R: nobody is asked",
    # §3, ordinary sets
    "ordinary: play": "beats an ordinary set in order",
    "ordinary: pass": "declines an ordinary set in order",
    "ordinary: headless asked": "a headless player is asked in order like others",
    "opponent: play": "对头 beats in his place",
    "opponent: pass": "对头 declines in his place",
    "yield: with a beating set": "让牌 though he could beat",
    "yield: without a beating set": "让牌 without being able to beat",
    "yield: not open": "对头 is asked, but nobody behind him can be asked",
    "yield: somebody else plays": "P+4 or P+5 beats after a yield",
    "again: play": "对头 beats after his yield",
    "again: pass": "对头 declines after his yield",
    "last: play": "对头, out before this set, beats when asked last",
    "last: pass": "对头, out before this set, declines when asked last",
    "out: plays against his 对头": "a set of somebody who is and stays out of the trick",
    "no 对头: ordinary set": "its owner's 对头 is gone, and he is not headless",
    "no 对头: 够级 set": "the same with a 够级 set: burners and headless players only",
    "trick: owner leads again": "扣牌",
    "trick: 接风": "the owner is out, the next player leads",
    # §3, 够级 sets and burning
    "burn: asked unable": "a burner is asked without a beating set",
    "burn: could not go on": "a burner beats, but is not allowed for want of jokers",
    "burn: silent though able": "a burner could burn and does not",
    "burn: by a mate": "P+2 or P+4 burns",
    "burn: by a neighbour": "P+1 or P+5 burns",
    "burn: of a burn": "a burning set is burned",
    "burn: by the burned player": "he burns the set that burned his",
    "burn: without a joker": "the burning set holds no joker",
    "burn: of a set 够级 by context": "the burning set is no 够级牌 by its cards",
    "burn: dead": "the burning set is dead",
    "burn: with the last set": "the burner is out with it",
    "解烧": "对头 of the burner beats the burning set",
    "burn: beaten by a headless player": "in step 2",
    "duty: leads": "a burner on duty leads",
    "duty: bars a set": "his duty forbids some of his sets",
    "duty: ends, a later set is beaten": "not the burning set but one led after it",
    "duty: ends, he is out": "by a later set",
    "duty: ends with the melee": "四人乱缠 begins",
    "gouji: play": "对头 beats a 够级 set",
    "gouji: pass": "对头 declines a 够级 set",
    "gouji: asked though out": "对头, out of the trick, is asked about a 够级 set",
    "headless: play": "a headless player beats a 够级 set in step 2",
    "headless: pass": "a headless player declines a 够级 set in step 2",
    "set: 够级 by context": "no 够级牌, but beats a set that counts as one (not burn, not 够死级)",
    "burn fails: a set without a joker": "burn_fail = last_place",
    "burn fails: out of jokers": "burn_fail = last_place",
    "burn fails: the burned player leads": "burn_fail = last_place",
    "burn fails: the next player leads": "burn_fail = last_place, the burned player is out",
    # §4
    "底牌 of 头科: ordinary": "asked in order, 对头 in any case",
    "底牌 of 头科: 够级": "asked as a 够级 set",
    "底牌 of 头科: dead": "not asked",
    "底牌 of 头科: is a 够死级": "cannot be: the count shows that it never is",
    "底牌 of 二科: ordinary": "asked in order, 对头 in any case",
    "底牌 of 二科: 够级": "asked as a 够级 set",
    "底牌 of 二科: dead": "not asked",
    "底牌 of 二科: is a 够死级": "burners only",
    "底牌 of 三科: ordinary": "in the trick in which 二科 left",
    "底牌 of 三科: 够级": "in the trick in which 二科 left",
    "底牌 of 三科: dead": "in the trick in which 二科 left",
    "底牌 of 三科: is a 够死级": "in the trick in which 二科 left; burners only",
    "底牌: 对头's chance is gone": "somebody beats it before 对头 is asked",
    "底牌: burned": "a burner does so",
    "底牌: beaten after 对头 passed": "by somebody behind him",
    "deadly: play": "对头 answers the 底牌 of 头科 or 二科: 够死级",
    "deadly: pass": "对头 declines it",
    "够死级: on an ordinary 底牌": "it counts as 够级 all the same",
    "够死级: on a 够级 底牌": "in step 2",
    "够死级: by a player out of the trick": "he is asked all the same",
    "够死级: no 够级牌 by its cards": "counts as one",
    "够死级: dead": "with R",
    "够死级: burned": "by whomever",
    "够死级: stands": "对头 leads next, or the next player if he is out",
    # §5
    "headless: 底牌 beaten": "头科's 对头 is headless in the middle of a trick",
    "headless: its trick ends": "头科's 对头 is headless from the next lead",
    "headless: while on duty": "the revolter's 对头, by his third 够死级: he keeps his duty",
    "headless: leads": "a headless player leads",
    "headless: two at once": "one leads while another holds cards too",
    "headless: ordinary set": "put to everybody in order",
    "headless: 够级 set": "put to everybody in order, no burners",
    "headless: 够级 set beaten": "by anybody",
    "open: play": "beats a headless player's set",
    "open: pass": "declines a headless player's set",
    "open: revolter's 对头 plays": "before he is headless himself",
    "melee: begins with 4": "四人乱缠",
    "melee: begins with 3": "after a revolution, or somebody left in the trick of 二科",
    "melee: begins with 2": "both, or more",
    "melee: lead": "a lead",
    "melee: play": "beats",
    "melee: pass": "declines",
    "melee: plays after a decline": "in a trick in which he declined an earlier set",
    "melee: 底牌": "somebody goes out",
    # §6
    "revolution: revolt": "says so",
    "revolution: silent though able": "could revolt",
    "revolution: one": "one revolter",
    "revolution: void": "two or more",
    "revolution: by the first leader": "the next seat leads",
    "revolution: waive": "his 对头 is headless at once",
    "revolution: waive not used": "his 对头 keeps three 够死级",
    "revolution: 够死级 1": "first 够级 set of the revolter's 对头",
    "revolution: 够死级 2": "second",
    "revolution: 够死级 3": "third: he is headless",
    "revolution: 够死级 led": "by a lead",
    "revolution: 够死级 as an answer": "by beating an ordinary set, or a headless player's",
    "revolution: 够死级 as a burn": "by burning",
    "revolution: 够死级 dead": "with R",
    "revolution: 够死级 burned": "by whomever",
    "revolution: 够死级 passes a headless player": "who would be asked in step 2 otherwise",
    # §7
    "end: a side is out": "two or three players of the other side are left",
    "end: one player left": "he is last",
    "scores: even": "S = 0",
    "scores: 2": "S = 2",
    "scores: 4": "S = 4",
    "scores: 6": "S = 6: 头科, 二科 and 四科",
    "scores: 12": "S = 12",
    "scores: string of three played": "串三户",
    "scores: string of three with the revolter": "he counts as 三科",
    "scores: string of three against the revolter's side": "串三户",
    # §8
    "tribute: in full": "a giver gives what he owes",
    "tribute: in part": "one card in place of two",
    "tribute: none for lack": "without R, B and 2",
    "tribute: none inside a side": "giver and receiver are mates",
    "tribute: after a string of three": "each loser gives his 对头 one",
    "tribute: refused": "an offer is refused",
    "tribute: taken by choice": "without the rank",
    "tribute: taken because the giver holds the rank": "no choice",
    "tribute: taken after all ranks were refused": "no choice",
}

# Cannot happen; there so that a count above zero shows a mistake.
NEVER = ("底牌 of 头科: is a 够死级",)

# What the options must be for these; all others happen with the defaults.
NEEDS_OPTION = {
    **{name: "burn_fail = last_place" for name in EVENTS if name.startswith("burn fails")},
    **{name: "tribute" for name in EVENTS if name.startswith("tribute")},
}

PLACES = ("头科", "二科", "三科")


def note_answer(hand: Hand, seat: int, reason: str, move: str, legal: list[str]) -> None:
    """Count what an answer is an example of, before it is made."""
    words = ("pass", "silent", "yield", "revolt", "waive")
    plays = move not in words
    if reason == "revolt":
        if "revolt" in legal:
            hand.note("revolution: " + ("revolt" if move == "revolt" else "silent though able"))
    elif reason == "waive":
        hand.note("revolution: " + ("waive" if move == "waive" else "waive not used"))
    elif reason == "burn":
        if not plays and len(legal) > 1:
            hand.note("burn: silent though able")
        elif not plays:
            beats = bool(hand.beating_sets(seat))
            hand.note("burn: could not go on" if beats else "burn: asked unable")
    elif reason == "lead":
        _note_lead(hand, seat, legal)
    elif move == "yield":
        beats = len(legal) > 2
        hand.note("yield: with a beating set" if beats else "yield: without a beating set")
    else:
        hand.note(f"{reason}: {'play' if plays else 'pass'}")
        if reason == "opponent" and "yield" not in legal:
            hand.note("yield: not open")
        if reason == "ordinary" and seat in hand.headless:
            hand.note("ordinary: headless asked")
        if reason == "gouji" and seat in hand.out:
            hand.note("gouji: asked though out")
    if plays and (hand.queue[-1][1] == "again") and reason != "again":
        hand.note("yield: somebody else plays")


def _note_lead(hand: Hand, seat: int, legal: list[str]) -> None:
    if hand.phase == "melee":
        hand.note("melee: lead")
        return
    if hand.duty is not None and hand.duty[0] == seat:
        hand.note("duty: leads")
        if len(legal) < len(list(all_sets(hand.hands[seat]))):
            hand.note("duty: bars a set")
    if seat in hand.headless:
        hand.note("headless: leads")
        if sum(hand.holds(other) for other in hand.headless) > 1:
            hand.note("headless: two at once")


def note_set(hand: Hand, seat: int, reason: str, text: str) -> None:
    """Count what a set is an example of, before it leaves the hand."""
    last = len(text) == sum(hand.hands[seat].values())
    if hand.phase == "melee":
        if seat in hand.declined:
            hand.note("melee: plays after a decline")
        if last:
            hand.note("melee: 底牌")
        return
    _note_kind(hand, text)
    if hand.duty is not None and hand.duty[0] == hand.owner and hand.standing_reason != "burn":
        hand.note("duty: ends, a later set is beaten")
    if hand.duty is not None and hand.duty[0] == seat and last and reason == "lead":
        hand.note("duty: ends, he is out")
    if reason == "burn":
        _note_burn(hand, seat, text, last)
    elif reason == "gouji" and hand.standing_reason == "burn":
        hand.note("解烧")
    elif reason == "headless" and hand.standing_reason == "burn":
        hand.note("burn: beaten by a headless player")
    elif reason == "deadly":
        _note_deadly(hand, seat, text)
    if reason not in ("burn", "deadly") and hand.counts_as_gouji and not is_gouji(text):
        hand.note("set: 够级 by context")
    if seat in hand.out and reason in ("gouji", "last"):
        hand.note("out: plays against his 对头")
    if reason == "open":
        if hand.counts_as_gouji:
            hand.note("headless: 够级 set beaten")
        if hand.revolution_left and hand.revolter == (seat + 3) % 6:
            hand.note("open: revolter's 对头 plays")
    if hand.owner in hand.finish[:2] and reason != "deadly":
        if any(why == "deadly" for _, why in hand.queue):
            hand.note("底牌: 对头's chance is gone")
        elif hand.holds((hand.owner + 3) % 6) and hand.standing_reason != "deadly":
            hand.note("底牌: beaten after 对头 passed")
        if reason == "burn":
            hand.note("底牌: burned")
    if last and len(hand.finish) < 3:
        counts = is_gouji(text) or hand.counts_as_gouji
        how = "dead" if is_dead(text) else "够级" if counts else "ordinary"
        how = "is a 够死级" if reason == "deadly" else how
        hand.note(f"底牌 of {PLACES[len(hand.finish)]}: {how}")


def _note_kind(hand: Hand, text: str) -> None:
    bare = text.rstrip("R").rstrip("B")
    if is_dead(text):
        hand.note("set: dead")
    if not bare:
        hand.note("set: jokers alone")
    if not is_gouji(text):
        hand.note("set: ordinary")
    elif has_joker(text):
        if not bare or not is_gouji(bare):
            hand.note("set: 够级 by joker")
    else:
        hand.note("set: 够级 by size")
        if text[0] != "2" and not is_gouji(bare.rstrip("2")):
            hand.note("set: 够级 by its attached 2s")
    if "2" in text and text[0] != "2":
        hand.note("set: 2s attached")


def _note_burn(hand: Hand, seat: int, text: str, last: bool) -> None:
    owner = hand.owner
    assert owner is not None
    hand.note("burn: by a mate" if (seat - owner) % 2 == 0 else "burn: by a neighbour")
    if hand.standing_reason == "burn":
        hand.note("burn: of a burn")
        if hand.duty is not None and hand.duty[1] == seat:
            hand.note("burn: by the burned player")
    if not has_joker(text):
        hand.note("burn: without a joker")
    if not is_gouji(text):
        hand.note("burn: of a set 够级 by context")
    if is_dead(text):
        hand.note("burn: dead")
    if last:
        hand.note("burn: with the last set")
    if hand.burners_only:
        deadly = hand.standing_reason == "deadly"
        hand.note("够死级: burned" if deadly else "revolution: 够死级 burned")


def _note_deadly(hand: Hand, seat: int, text: str) -> None:
    hand.note(f"够死级: on {'a 够级' if hand.counts_as_gouji else 'an ordinary'} 底牌")
    if seat in hand.out:
        hand.note("够死级: by a player out of the trick")
    if not is_gouji(text):
        hand.note("够死级: no 够级牌 by its cards")
    if is_dead(text):
        hand.note("够死级: dead")


def note_asked(hand: Hand) -> None:
    """Count what the standing set, just played, is an example of."""
    owner, reason = hand.owner, hand.standing_reason
    assert owner is not None
    assert hand.standing is not None
    if hand.phase == "melee" or is_dead(hand.standing):
        return
    kind = "够级" if hand.counts_as_gouji else "ordinary"
    if hand.burners_only:
        pass
    elif owner in hand.headless:
        hand.note(f"headless: {kind} set")
    elif not hand.holds((owner + 3) % 6) and hand.revolter != (owner + 3) % 6:
        hand.note(f"no 对头: {kind} set")
    if hand.burners_only and reason != "deadly":
        others = [seat for seat in hand.headless if seat != owner and hand.in_trick(seat)]
        if others:
            hand.note("revolution: 够死级 passes a headless player")
