"""The constants of the rules of thumb, one set for each preset."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What each consideration counts, in units of one set to get rid of.

    Attributes:
        hold: how much less a set costs that will win the lead it is played to.
        dump: the same for one that will find a set to answer.
        lead: worth of the lead; ``lead_late`` is added as the hand nears its run-out.
        lead_span: over how many sets that need help this fades.
        small, big, x: worth of a joker in hand, with a full hand and with an empty one.
        spare: by what share it falls when no set needs it.
        foe_natural … friend_joker: how willing others are to beat a set that they can beat.
        foe_leads, foe_near: what it costs to let an opponent lead; as he nears his end.
        friend_leads, friend_near: what it is worth to let a friend lead.
        near: hand size over which nearness fades.
        feed, feed_friend: cost (worth) of a set that an opponent (friend) may go out by answering.
        reveal: cost of showing the identity card.
        sixes: what held sixes cost.
    """

    hold: float = 0.8
    dump: float = 0.25
    lead: float = 0.5
    lead_late: float = 0.7
    lead_span: float = 1.5
    small_full: float = 1.3
    small_empty: float = 0.6
    big_full: float = 2.0
    big_empty: float = 1.0
    x_full: float = 2.0
    x_empty: float = 1.0
    spare: float = 0.7
    foe_natural: float = 0.75
    foe_joker: float = 0.3
    friend_natural: float = 0.4
    friend_joker: float = 0.1
    foe_leads: float = 0.2
    foe_near: float = 1.0
    friend_leads: float = 0.2
    friend_near: float = 0.8
    near: float = 6.0
    feed: float = 2.0
    feed_friend: float = 0.5
    reveal: float = 0.3
    sixes: float = 1.0


WEIGHTS = {"qingdao": Weights(), "shiwei": Weights(), "weihai": Weights()}
