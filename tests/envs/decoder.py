"""An independent reader of the observation, and what a seat ought to know from the public moves.

`decode` has its own table of sections and turns a flat vector into words; `Knowledge` follows a
hand as a player at the table would, from what is said and laid down, and writes the same words.
Nothing here imports the encoder.
"""

from collections import Counter
from typing import Any

import numpy as np

from tests.oracle.hand import Hand
from tests.oracle.options import joker_marked
from tests.oracle.sets import KINDS, RANKS

SECTIONS = (
    ("own_hand", 54), ("own_identity", 1), ("own_marked_b", 1), ("seat_roles", 5, 3), ("solo", 3),
    ("phase", 14), ("actor", 5), ("crown", 5), ("first_holder", 5), ("said", 5, 21),
    ("called_kind", 54), ("shown", 54), ("role_public", 1), ("multiplier", 1), ("declared", 1),
    ("votes", 1), ("hand_sizes", 5), ("played", 5, 54), ("places", 5, 5), ("standing", 14),
    ("standing_cards", 4), ("owner", 5), ("owner_out", 1), ("circle", 2), ("passed", 5),
    ("yielded", 5), ("claimed", 5), ("left_trick", 5), ("redeals", 1), ("deck", 54),
    ("options", 18), ("recent", 16, 42),
)  # fmt: skip
PHASES = (
    "grab", "call", "forced_call", "open", "solo", "solo_ti", "abandon", "offer", "declare",
    "oppose", "niu", "ti", "play", "over",
)  # fmt: skip
SAID = (
    "grab", "decline_grab", "call", "cede", "skipped_forced_call", "declare", "silent_declare",
    "open", "silent_open", "solo", "decline_solo", "ti", "silent_ti", "keep", "abandon", "accept",
    "refuse", "oppose", "silent_oppose", "niu", "silent_niu",
)  # fmt: skip
VERBS = (
    "pass", "yield", "claim", "grab", "decline", "cede", "declare", "silent", "solo", "ti", "niu",
    "keep", "abandon", "accept", "refuse", "oppose", "open", "call", "play",
)  # fmt: skip


def decode(vector: np.ndarray, viewer: int) -> dict[str, Any]:
    """What the vector says, seats absolute, cards and moves as text."""
    part: dict[str, np.ndarray] = {}
    at = 0
    for name, *shape in SECTIONS:
        size = int(np.prod(shape))
        part[name] = vector[at : at + size].reshape(shape)
        at += size
    assert at == len(vector)

    def cards(counts: np.ndarray) -> Counter[str]:
        return Counter({KINDS[k]: int(c) for k, c in enumerate(counts) if c})

    def seats(bits: np.ndarray) -> set[int]:
        return {(viewer + i) % 5 for i in np.flatnonzero(bits)}

    def only(found: Any) -> Any:
        found = list(found)
        assert len(found) <= 1, found
        return found[0] if found else None

    def by_seat(rows: np.ndarray, read: Any) -> list[Any]:
        return [read(rows[(seat - viewer) % 5]) for seat in range(5)]

    def words(names: Any, bits: np.ndarray) -> list[str]:
        assert len(names) == len(bits)
        assert set(bits.tolist()) <= {0, 1}
        return [names[i] for i in np.flatnonzero(bits)]

    def set_text(rank: int | None, n: int, b: int, r: int) -> str:
        assert (rank is not None and rank < 13) == (n > 0)
        return (RANKS[rank] * n if n else "") + "B" * b + "R" * r  # type: ignore[index]

    def event(row: np.ndarray) -> str | None:
        if not row.any():
            return None
        seat, verbs = only(seats(row[:5])), words(VERBS, row[5:24])
        rank = only(np.flatnonzero(row[24:38]))
        n, b, r, flag = row[38:42].tolist()
        if verbs == ["play"]:
            return f"{seat} play {set_text(rank, n, b, r)}{'*' * flag}"
        if "call" in verbs:
            assert (rank == 13) == (b + r == 1)
            letter = "B" if b else "R" if r else RANKS[rank]
            return f"{seat} call {letter}{' open' * ('open' in verbs)}"
        assert rank is None
        assert n == b == r == flag == 0
        return f"{seat} {only(verbs)}"

    standing = only(np.flatnonzero(part["standing"]))
    n, b, r, x = part["standing_cards"].tolist()
    assert x in (0, 1)
    recent = [event(row) for row in part["recent"]]
    while recent and recent[-1] is None:
        recent.pop()
    return {
        "hand": cards(part["own_hand"]),
        "identity": bool(part["own_identity"][0]),
        "roles": by_seat(
            part["seat_roles"], lambda row: only(words(("emperor", "guard", "rebel"), row))
        ),
        "solo": only(words(("grab", "open", "secret"), part["solo"])),
        "phase": only(words(PHASES, part["phase"])),
        "actor": only(seats(part["actor"])),
        "crown": only(seats(part["crown"])),
        "first_holder": only(seats(part["first_holder"])),
        "said": by_seat(part["said"], lambda row: set(words(SAID, row))),
        "called": only(words(KINDS, part["called_kind"])),
        "shown": cards(part["shown"]),
        "public": bool(part["role_public"][0]),
        "multiplier": int(part["multiplier"][0]),
        "declared": bool(part["declared"][0]),
        "votes": int(part["votes"][0]),
        "marked": bool(part["own_marked_b"][0]),
        "sizes": by_seat(part["hand_sizes"], int),
        "played": by_seat(part["played"], cards),
        "places": by_seat(part["places"], lambda row: only(np.flatnonzero(row) + 1)),
        "standing": None if standing is None else set_text(standing, n, b, r) + "X" * x,
        "owner": only(seats(part["owner"])),
        "owner_out": bool(part["owner_out"][0]),
        "circle": int(only(np.flatnonzero(part["circle"]))) + 1,
        "passed": seats(part["passed"]),
        "yielded": seats(part["yielded"]),
        "claimed": seats(part["claimed"]),
        "left_trick": seats(part["left_trick"]),
        "redeals": int(part["redeals"][0]),
        "deck": cards(part["deck"]),
        "options": part["options"].tolist(),
        "recent": recent,
    }  # fmt: skip


# The options section: the name of each, and the number of each value that is no number itself.
OPTION_VALUES: dict[str, dict[Any, int]] = {
    "roles_by": {"called_card": 0, "marks": 1},
    "guard_by": {"called_card": 0, "marked_small_joker": 1},
    "guard_card": {"ordinary": 0, "supreme": 1},
    "grab": {}, "forced_call": {}, "tribute_on_cede": {}, "declare": {}, "open_solo": {},
    "oppose": {}, "doubling": {}, "votes_needed": {},
    "abandon_penalty": {4 * n: n for n in range(51)},
    "yield": {}, "claim": {},
    "pass_scope": {"set": 0, "trick": 1},
    "hold_sixes": {}, "three_twos_beat_big": {},
    "end": {"last_player": 0, "camp_out": 1, "decided": 2},
}  # fmt: skip
ONLY_MARKS = {"open_solo", "oppose", "doubling", "votes_needed", "abandon_penalty"}
ONLY_CALLED = {"guard_by", "grab", "forced_call", "tribute_on_cede"}


def option_numbers(options: dict[str, Any]) -> list[int]:
    """What the options section should say: -1 where an option has no meaning."""
    without = ONLY_CALLED if options["roles_by"] == "marks" else ONLY_MARKS
    return [
        -1 if name in without else values.get(options[name], options[name])
        for name, values in OPTION_VALUES.items()
    ]


# What is remembered of an answer, by the phase in which it was given.
NOTED = {
    ("grab", "decline"): "decline_grab",
    ("solo", "decline"): "decline_solo",
    ("declare", "silent"): "silent_declare",
    ("open", "silent"): "silent_open",
    ("oppose", "silent"): "silent_oppose",
    ("niu", "silent"): "silent_niu",
    ("ti", "silent"): "silent_ti",
    ("solo_ti", "silent"): "silent_ti",
}
POLLS = ("solo_ti", "oppose", "niu", "ti")


class Knowledge:
    """What is public at the table, followed move by move from the deal on."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.options = hand.options
        self.marked = hand.identity_seat if joker_marked(self.options) else None
        self.said: list[set[str]] = [set() for _ in range(5)]
        self.played: list[Counter[str]] = [Counter() for _ in range(5)]
        self.words: dict[str, set[int]] = {"pass": set(), "yield": set(), "claim": set()}
        self.recent: list[str] = []
        self.declared = False

    def hear(self, seat: int, phase: str, move: str, picked: list[str]) -> None:
        """A move that was just made; `picked` are the cards laid down."""
        verb, *rest = move.split(" ")
        hand = self.hand
        if phase == "play":
            if verb == "play":
                self.played[seat].update(card.rstrip("*") for card in picked)
                self.words = {word: set() for word in self.words}
                flag = "*" if "*" in move or "X" in move else ""
                self.recent.insert(0, f"{seat} play {rest[0].strip('X').replace('*', '')}{flag}")
            else:
                self.words[verb].add(seat)
                self.recent.insert(0, f"{seat} {verb}")
            if hand.standing is None:  # closed
                self.words = {word: set() for word in self.words}
        else:
            self.said[seat].add(NOTED.get((phase, verb), verb))
            self.declared |= verb == "declare"
            open_ = " open" if rest[1:] == ["open"] else ""
            heard = f"call {rest[0][0]}{open_}" if verb == "call" else verb
            self.recent.insert(0, f"{seat} {heard}")
        all_ceded = phase == "call" and (hand.phase == "forced_call" or hand.void)
        if all_ceded and self.options["forced_call"]:
            skipped = hand.first_holder
            for _ in range(5):
                if skipped == hand.seat:
                    break
                self.said[skipped].add("skipped_forced_call")
                skipped = (skipped - 1) % 5

    def of(self, viewer: int) -> dict[str, Any]:
        """What the seat knows, in the words of `decode`."""
        hand = self.hand
        roles: list[str | None] = [None] * 5
        solo = None
        # 弃皇: nobody took the crown, or it is on offer (who gave it up is emperor until then)
        refused = hand.phase == "over" and not hand.void and not hand.finish
        offered = hand.phase == "offer"
        public = hand.role_public or refused
        if hand.emperor is not None:
            alone = (hand.solo == "secret" or offered) and viewer == hand.emperor
            if public or viewer == hand.guard or alone:
                roles = ["rebel"] * 5
                solo = "secret" if offered else hand.solo
                if hand.guard is not None:
                    roles[hand.guard] = "guard"
            else:
                roles[viewer] = "rebel"
            roles[hand.emperor] = "emperor"
        shown = Counter(hand.pile)
        if hand.called:
            shown[hand.called] = max(shown[hand.called], 3)
        return {
            "hand": hand.hands[viewer],
            "identity": hand.emperor is not None and not refused and hand.holds_special(viewer),
            "marked": viewer == self.marked,
            "roles": roles,
            "solo": solo,
            "phase": hand.phase,
            "actor": hand.seat,
            "crown": hand.crown,
            "first_holder": hand.first_holder,
            "said": self.said,
            "called": hand.identity if hand.emperor is not None else None,
            "shown": shown,
            "public": public,
            "multiplier": hand.multiplier,
            "declared": self.declared,
            "votes": hand.votes if hand.phase in POLLS else 0,
            "sizes": [sum(cards.values()) for cards in hand.hands],
            "played": self.played,
            "places": [hand.finish.index(s) + 1 if s in hand.finish else None for s in range(5)],
            "standing": hand.standing,
            "owner": hand.owner,
            "owner_out": hand.owner is not None and not hand.hands[hand.owner],
            "circle": hand.circle,
            "passed": self.words["pass"],
            "yielded": self.words["yield"],
            "claimed": self.words["claim"],
            "left_trick": hand.out_of_trick,
            "redeals": 0,
            "deck": hand.deck,
            "options": option_numbers(self.options),
            "recent": self.recent[:16],
        }
