"""One hand of 够级, from tribute to the scores.

`queue` holds who is still to be asked about the standing set, each with the
reason, which decides what he may do:

| reason | who | section |
|---|---|---|
| lead | the leader | §3 |
| ordinary | anybody in order, an ordinary set | §3 |
| opponent | 对头 in his place, an ordinary set: may yield | §3 |
| again | 对头 once more after his yield | §3 |
| last | 对头 who was out of the trick before this set | §3 |
| burn | a possible burner of a 够级 set | §3 |
| gouji | 对头 of a 够级 set | §3 |
| headless | a headless player at a 够级 set | §3 |
| open | anybody in order, a headless player's set | §5 |
| deadly | 对头 at the 底牌 of 头科 or 二科: 够死级 | §4 |
| melee | anybody in order, 四人乱缠 | §5 |
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .deal import SEATS, check_deal, first_leader
from .events import EVENTS, note_answer, note_asked, note_set
from .options import Options
from .scores import places, scores_of
from .sets import (
    RANKS,
    Cards,
    OracleError,
    all_sets,
    beats,
    can_go_on,
    count_ranks,
    has_joker,
    is_dead,
    is_gouji,
    move_order,
    number_of_groups,
    number_of_jokers,
    take_away,
    values_of,
)
from .tribute import TRIBUTE, Tribute

# What the reasons are called outside.
KINDS = {"lead": "lead", "burn": "burn", "revolt": "revolt", "waive": "waive"}


class Hand:
    """One hand in progress; moves are texts, suits matter only in the deal.

    `hands`: six lists of card texts in the order dealt, the first card of seat
    `start` being the first of the deal. `previous_finish`: the six seats by
    place in the hand before, for tribute.
    """

    tribute: Tribute | None

    def __init__(
        self,
        options: Options,
        hands: Sequence[Sequence[str]],
        start: int,
        previous_finish: Sequence[int] | None = None,
    ) -> None:
        check_deal(hands, start)
        self._blank(options, [count_ranks(cards) for cards in hands])
        self.first_leader, taken = first_leader(hands, start)
        how = ("start seat", "two 3s")[taken] if taken < 2 else "taken over"
        self.note(f"first leader: {how}")
        if options.tribute and previous_finish is not None:
            self.tribute = Tribute(self.hands, previous_finish, self.events)
        self._after_tribute()

    @classmethod
    def from_position(
        cls,
        hands: Sequence[str],
        *,
        leader: int | None = None,
        standing: str | None = None,
        owner: int | None = None,
        out: Sequence[int] = (),
        finish: Sequence[int] = (),
        headless: Sequence[int] = (),
        revolter: int | None = None,
        revolution_left: int = 0,
        duty: tuple[int, int] | None = None,
        options: Options | None = None,
    ) -> "Hand":
        """A hand in play with any cards: `hands` are six texts of ranks ("33KB", "" is out).

        Either `leader` is about to lead, or `owner` has just played `standing` (and
        holds what `hands` says). `duty`: (burner, whom he burned). `revolution_left`:
        够死级 that the revolter's 对头 still has.
        """
        self = cls.__new__(cls)
        self._blank(options or Options(), [count_ranks(text) for text in hands])
        gone = {seat for seat in range(SEATS) if not self.hands[seat]}
        if gone != {*finish, *([] if revolter is None else [revolter])}:
            raise OracleError(f"seats {sorted(gone)} hold no cards, finish is {list(finish)}")
        self.first_leader = leader if leader is not None else 0
        self.finish, self.headless = list(finish), set(headless)
        self.revolter, self.revolution_left, self.duty = revolter, revolution_left, duty
        if leader is not None:
            self._lead(leader)
            return self
        if standing is None or owner is None:
            raise OracleError("a position needs a leader, or a standing set and its owner")
        values_of(standing)
        self.phase, self.out = "play", set(out)
        self.standing, self.owner = standing, owner
        self.counts_as_gouji = is_gouji(standing)
        self._ask_about_the_set()
        return self

    def _blank(self, options: Options, hands: list[Cards]) -> None:
        self.options = options
        self.hands = hands
        self.events: Counter[str] = Counter()
        self.phase = ""
        self.queue: list[tuple[int, str]] = []
        self.tribute = None
        # Revolution
        self.votes: list[tuple[int, str]] = []
        self.revolter: int | None = None
        self.revolution_left = 0
        # The trick
        self.standing: str | None = None
        self.owner: int | None = None
        self.counts_as_gouji = False  # the standing set does
        self.burners_only = False  # the standing set is a 够死级
        self.out: set[int] = set()
        self.standing_reason: str | None = None  # this and the next only for counting events
        self.declined: set[int] = set()
        # The hand
        self.duty: tuple[int, int] | None = None  # (burner, whom he burned)
        self.headless: set[int] = set()  # stays when he goes out: his 底牌 is still headless
        self.finish: list[int] = []
        self.failed: list[int] = []  # burn_fail = last_place
        self.scores: list[int] | None = None
        self.recorded: list[int] | None = None
        self._legal: list[str] | None = None

    def copy(self) -> "Hand":
        """A hand that goes on from here by itself; its events are counted from zero."""
        other = object.__new__(Hand)
        other.__dict__.update(self.__dict__)
        for name in ("hands", "queue", "votes", "finish", "failed"):
            setattr(other, name, list(getattr(self, name)))
        for name in ("out", "declined", "headless"):
            setattr(other, name, set(getattr(self, name)))
        other.events = Counter()
        if self.tribute is not None:
            other.tribute = self.tribute.copy(other.hands, other.events)
        return other

    def note(self, name: str) -> None:
        """Count a branch of the rules."""
        assert name in EVENTS, name
        self.events[name] += 1

    # Who holds cards

    def holds(self, seat: int) -> bool:
        return bool(self.hands[seat])

    def holders(self) -> list[int]:
        return [seat for seat in range(SEATS) if self.holds(seat)]

    def after(self, seat: int) -> list[int]:
        """The five seats after this one, in play order, that hold cards."""
        seats = [(seat + step) % SEATS for step in range(1, SEATS)]
        return [other for other in seats if self.holds(other)]

    def in_trick(self, seat: int) -> bool:
        """Holds cards and is not out of the trick."""
        return self.holds(seat) and seat not in self.out

    # Questions and moves

    def question(self) -> tuple[int, str] | None:
        """(seat, kind): offer, take, revolt, waive, lead, burn or answer; None at the end."""
        if self.phase == "tribute":
            assert self.tribute is not None
            return self.tribute.question()
        if not self.queue:
            return None
        seat, reason = self.queue[0]
        return seat, KINDS.get(reason, "answer")

    def legal(self) -> list[str]:
        """Every legal move of the asked seat; empty at the end.

        First the words, then the sets by size, natural rank (2s, then jokers
        alone last), number of 2s, B and R.
        """
        if self._legal is None:
            self._legal = self._find_legal()
        return list(self._legal)

    def _find_legal(self) -> list[str]:
        if self.phase == "tribute":
            assert self.tribute is not None
            return self.tribute.legal()
        if not self.queue:
            return []
        seat, reason = self.queue[0]
        hand = self.hands[seat]
        if reason == "revolt":
            return ["silent"] if any(rank in hand for rank in TRIBUTE) else ["revolt", "silent"]
        if reason == "waive":
            return ["silent", "waive"]
        if reason == "lead":
            words, sets = [], list(all_sets(hand))
        else:
            words = ["silent"] if reason == "burn" else ["pass"]
            if reason == "opponent" and self._may_yield():
                words.append("yield")
            sets = self.beating_sets(seat)
        if reason == "burn":
            sets = [text for text in sets if can_go_on(take_away(hand, text))]
        sets = [text for text in sets if self._keeps_duty(seat, text)]
        return words + sorted(sets, key=move_order)

    def beating_sets(self, seat: int) -> list[str]:
        """Sets of this seat that beat the standing one, legal or not."""
        assert self.standing is not None
        sets = all_sets(self.hands[seat], len(self.standing))
        return [text for text in sets if beats(self.standing, text)]

    def _may_yield(self) -> bool:
        """P+4 or P+5 can still be asked before 对头 decides."""
        assert self.owner is not None
        return any(self.in_trick((self.owner + step) % SEATS) for step in (4, 5))

    def _keeps_duty(self, seat: int, text: str) -> bool:
        """§3: each set of a burner on duty holds a joker and lets him go on, or is his last."""
        if self.duty is None or self.duty[0] != seat or self.options.burn_fail != "never":
            return True
        left = take_away(self.hands[seat], text)
        return not left or (has_joker(text) and can_go_on(left))

    def play(self, move: str) -> None:
        """Make a legal move of the asked seat."""
        legal = self.legal()
        if move not in legal:
            shown = ", ".join(legal[:12]) + (", …" if len(legal) > 12 else "")
            raise OracleError(
                f"{move!r} is not legal in phase {self.phase!r}, asked: {self.question()}; "
                f"legal: {shown or 'nothing, the hand is over'}"
            )
        self._legal = None
        if self.phase == "tribute":
            assert self.tribute is not None
            self.tribute.answer(move)
            self._after_tribute()
            return
        seat, reason = self.queue[0]
        note_answer(self, seat, reason, move, legal)
        if reason == "revolt":
            self._vote(seat, move)
        elif reason == "waive":
            self._waive(seat, move)
        elif move in ("pass", "silent", "yield"):
            self._decline(seat, move)
        else:
            self._play_set(seat, reason, move)

    # Before the first lead (§6, §8)

    def _after_tribute(self) -> None:
        if self.tribute is not None and self.tribute.question() is not None:
            self.phase = "tribute"
        elif self.options.revolution:
            self.phase = "revolution"
            self.queue = [((self.first_leader + i) % SEATS, "revolt") for i in range(SEATS)]
        else:
            self._lead(self.first_leader)

    def _vote(self, seat: int, move: str) -> None:
        self.votes.append((seat, move))
        self.queue.pop(0)
        if self.queue:
            return
        revolters = [voter for voter, vote in self.votes if vote == "revolt"]
        if len(revolters) >= 2:
            self.note("revolution: void")
            self.phase = "void"
        elif revolters:
            self.revolter = revolters[0]
            self.hands[self.revolter] = {}
            self.revolution_left = 3
            self.note("revolution: one")
            self.phase, self.queue = "waive", [((self.revolter + 3) % SEATS, "waive")]
        else:
            self._lead(self.first_leader)

    def _waive(self, seat: int, move: str) -> None:
        if move == "waive":
            self.revolution_left = 0
            self.headless.add(seat)
        if self.first_leader == self.revolter:
            self.note("revolution: by the first leader")
            self._lead((self.first_leader + 1) % SEATS)
        else:
            self._lead(self.first_leader)

    # The trick (§3 to §5)

    def _lead(self, seat: int) -> None:
        """A new trick; 四人乱缠 from here on if 头科 and 二科 have left."""
        self.out, self.standing, self.owner = set(), None, None
        self.standing_reason, self.declined = None, set()
        self.counts_as_gouji = self.burners_only = False
        if self.phase != "melee" and len(self.finish) >= 2:
            self.note(f"melee: begins with {len(self.holders())}")
            if self.duty is not None:
                self.note("duty: ends with the melee")
                self.duty = None
        self.phase = "melee" if len(self.finish) >= 2 else "play"
        self.queue = [(seat, "lead")]

    def _decline(self, seat: int, move: str) -> None:
        self.queue.pop(0)
        self.declined.add(seat)
        if move == "yield":
            self.queue.append((seat, "again"))
        elif move == "pass" and self.phase == "play":
            self.out.add(seat)
        if not self.queue:
            self._close()

    def _play_set(self, seat: int, reason: str, text: str) -> None:
        note_set(self, seat, reason, text)
        beaten = self.owner
        counted = self.counts_as_gouji
        on_duty = self.duty is not None and self.duty[0] == seat
        self.hands[seat] = take_away(self.hands[seat], text)
        left = self.hands[seat]
        if beaten is not None:
            self._set_is_beaten(beaten)
        self.standing, self.owner, self.standing_reason = text, seat, reason
        deadly = reason == "deadly"
        if self.phase == "play":
            # A set that beats one that counts as 够级 is one itself (§2).
            self.counts_as_gouji = deadly or counted or is_gouji(text)
        if reason == "burn":
            assert beaten is not None
            self.duty = (seat, beaten)
        elif on_duty and self._fails(left, text):
            self._place_last(seat)
            return
        if not left:
            self.finish.append(seat)
            if self.duty is not None and self.duty[0] == seat:
                self.duty = None
        self.burners_only = deadly or self._is_revolution_set(seat)
        if self._ends():
            return
        self._ask_about_the_set()

    def _set_is_beaten(self, owner: int) -> None:
        if self.duty is not None and self.duty[0] == owner:
            self.duty = None
        self._if_first_left(owner, "底牌 beaten")

    def _if_first_left(self, owner: int, how: str) -> None:
        """§5: his 底牌 is beaten or its trick ends: 头科's 对头 is headless."""
        if not self.finish or self.finish[0] != owner or self.phase != "play":
            return
        opponent = (owner + 3) % SEATS
        self.headless.add(opponent)
        if self.holds(opponent):
            self.note(f"headless: {how}")

    def _is_revolution_set(self, seat: int) -> bool:
        """§6: one of the first three 够级 sets of the revolter's 对头; counts it."""
        if self.revolter is None or seat != (self.revolter + 3) % SEATS:
            return False
        if self.revolution_left == 0 or not self.counts_as_gouji:
            return False
        self.note(f"revolution: 够死级 {4 - self.revolution_left}")
        how = {"lead": "led", "burn": "as a burn"}.get(self.standing_reason or "", "as an answer")
        self.note(f"revolution: 够死级 {how}")
        if is_dead(self.standing or ""):
            self.note("revolution: 够死级 dead")
        self.revolution_left -= 1
        if self.revolution_left == 0:
            self.headless.add(seat)
            if self.duty is not None and self.duty[0] == seat:
                self.note("headless: while on duty")
        return True

    def _ask_about_the_set(self) -> None:
        assert self.standing is not None
        note_asked(self)
        self.queue = [] if is_dead(self.standing) else self._who_is_asked()
        if not self.queue:
            self._close()

    def _who_is_asked(self) -> list[tuple[int, str]]:
        """Whom the standing set is put to, in order, with the reason."""
        owner = self.owner
        assert owner is not None
        opponent = (owner + 3) % SEATS
        if self.phase == "melee":
            return [(seat, "melee") for seat in self.after(owner)]
        if self.burners_only:
            return self._burners(owner)
        if owner in self.headless:
            return [(seat, "open") for seat in self.after(owner) if seat not in self.out]
        # 底牌 of 头科 or 二科: his 对头 may answer it once, whatever he did before.
        last_set = owner in self.finish[:2]
        if self.counts_as_gouji:
            asked = self._burners(owner)
            for seat in self.after(owner):
                if seat == opponent:
                    asked.append((seat, "deadly" if last_set else "gouji"))
                elif seat in self.headless and seat not in self.out:
                    asked.append((seat, "headless"))
            return asked
        asked = []
        for seat in self.after(owner):
            if seat == opponent and last_set:
                asked.append((seat, "deadly"))
            elif seat not in self.out:
                asked.append((seat, "opponent" if seat == opponent else "ordinary"))
        if opponent in self.out and self.holds(opponent) and not last_set:
            asked.append((opponent, "last"))
        return asked

    def _burners(self, owner: int) -> list[tuple[int, str]]:
        """Step 1 of a 够级 set: the owner's mates, then the two beside him."""
        seats = [(owner + step) % SEATS for step in (2, 4, 1, 5)]
        return [(s, "burn") for s in seats if self.in_trick(s) and s not in self.headless]

    def _close(self) -> None:
        """扣牌: the owner of the standing set leads, or who inherits from him (接风)."""
        owner = self.owner
        assert owner is not None
        if self.standing_reason == "deadly":
            self.note("够死级: stands")
        self._if_first_left(owner, "its trick ends")
        if self.holds(owner):
            self.note("trick: owner leads again")
            self._lead(owner)
        else:
            self.note("trick: 接风")
            self._lead(self.after(owner)[0])

    # burn_fail = last_place (§3)

    def _fails(self, left: Cards, text: str) -> bool:
        if self.options.burn_fail != "last_place" or not left:
            return False
        if not has_joker(text):
            self.note("burn fails: a set without a joker")
            return True
        if number_of_jokers(left) == 0 and number_of_groups(left) > 1:
            self.note("burn fails: out of jokers")
            return True
        return False

    def _place_last(self, seat: int) -> None:
        assert self.duty is not None
        burned = self.duty[1]
        self.duty = None
        self.failed.append(seat)
        self.hands[seat] = {}
        if self._ends():
            return
        if self.holds(burned):
            self.note("burn fails: the burned player leads")
            self._lead(burned)
        else:
            self.note("burn fails: the next player leads")
            self._lead(self.after(seat)[0])

    # The end (§4, §7)

    def _ends(self) -> bool:
        """Whether the hand is over; if so, closes it."""
        left = self.holders()
        sides = {seat % 2 for seat in left}
        if len(left) > 1 and (len(sides) == 2 or self.options.end == "last_player"):
            return False
        self.note("end: one player left" if len(left) == 1 else "end: a side is out")
        if len(left) == 1:
            self.finish.append(left[0])
            self.finish += reversed(self.failed)
        self.phase, self.queue = "over", []
        self.standing = self.owner = self.duty = None
        self.out, self.counts_as_gouji, self.burners_only = set(), False, False
        place = places(self.finish, self.revolter, self.failed)
        self.scores, self.recorded = scores_of(place)
        best = max(self.recorded)
        self.note("scores: even" if best == 0 else f"scores: {best}")
        if best == 12:
            by_revolt = self.revolter is not None and place[self.revolter] == 3
            if by_revolt:
                self.note("scores: string of three with the revolter")
            elif self.revolter is not None:
                self.note("scores: string of three against the revolter's side")
            else:
                self.note("scores: string of three played")
        return True

    def state(self) -> dict[str, Any]:
        """The position in plain values, for comparing.

        counts: [6][15] cards by seat and rank (3 to 2, B, R); a revolter's and a failed
        burner's are zero. sizes: by seat, None where not shown (§1). headless: those who
        hold cards. out: those out of the trick. duty: [burner, whom he burned] or None.
        revolution_left: 够死级 left to the revolter's 对头. counts_as_gouji: the standing
        set does; burners_only: it is a 够死级.
        """
        sizes = [sum(hand.values()) for hand in self.hands]
        always = self.options.hand_sizes == "always"
        return {
            "phase": self.phase,
            "question": self.question(),
            "first_leader": self.first_leader,
            "counts": [[hand.get(rank, 0) for rank in RANKS] for hand in self.hands],
            "sizes": [size if always or size <= 10 else None for size in sizes],
            "standing": self.standing,
            "owner": self.owner,
            "counts_as_gouji": self.counts_as_gouji,
            "burners_only": self.burners_only,
            "out": sorted(self.out),
            "headless": sorted(seat for seat in self.headless if self.holds(seat)),
            "duty": list(self.duty) if self.duty else None,
            "revolter": self.revolter,
            "revolution_left": self.revolution_left,
            "finish": list(self.finish),
            "failed": list(self.failed),
            "scores": self.scores,
            "recorded": self.recorded,
        }
