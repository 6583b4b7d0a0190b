"""Roles by marks (rules/baohuang.md §4.3): open solo, 弃皇, 明, 反, 扭, 踢."""

from collections.abc import Iterable

from .table import Table

VOTES = {"solo_ti": "ti", "oppose": "oppose", "niu": "niu", "ti": "ti"}  # verb of each vote


class MarkRoles(Table):
    """Everything that is asked between the deal and the first lead."""

    needed = 0  # votes that establish the vote in progress

    def start_play(self) -> None:
        raise NotImplementedError

    def begin_marks(self) -> None:
        if self.options["open_solo"]:
            self.ask("solo", (self.crown + step for step in range(5)))
        else:
            self._ask_abandon()

    def _vote(self, phase: str, seats: Iterable[int], needed: int) -> None:
        self.ask(phase, seats)
        self.needed = needed

    # ---- what is legal

    def legal_marks(self, seat: int) -> list[str]:
        if self.phase == "solo":
            return ["solo", "decline"]
        if self.phase == "abandon":
            return ["keep", "abandon"] if self.identity_seat == seat else ["keep"]
        if self.phase == "offer":
            return ["accept", "refuse"]
        if self.phase == "oppose" and self.identity_seat == seat:
            return ["silent"]
        return [VOTES[self.phase], "silent"]

    # ---- moves

    def apply_marks(self, seat: int, verb: str) -> None:
        if self.phase == "solo":
            self._apply_solo(seat, verb)
        elif self.phase == "abandon":
            self._apply_abandon(seat, verb)
        elif self.phase == "offer":
            self._apply_offer(seat, verb)
        else:
            self._apply_vote(verb)

    def _apply_solo(self, seat: int, verb: str) -> None:
        if verb == "decline":
            self.queue.pop(0)
            if not self.queue:
                self._ask_abandon()
            return
        self.emperor, self.solo, self.role_public = seat, "open", True
        self.identity = self.identity_seat = None  # both marks lose their meaning
        if self.options["doubling"]:
            self._vote("solo_ti", self.others(), self.options["votes_needed"])
        else:
            self.start_play()

    def _ask_abandon(self) -> None:
        self.emperor = self.crown
        if self.identity_seat == self.emperor:
            self.solo = "secret"
        else:
            self.guard = self.identity_seat
        self.ask("abandon", [self.emperor])

    def _apply_abandon(self, seat: int, verb: str) -> None:
        if verb == "keep":
            self.ask_declare_marks()
            return
        self.solo = None
        self.ask("offer", (seat + step for step in (2, 3, 4, 1)))

    def _apply_offer(self, seat: int, verb: str) -> None:
        giver = self.emperor
        assert giver is not None
        if verb == "accept":
            self.move_crown(seat)
            self.emperor, self.guard, self.role_public = seat, giver, True
            self.ask_declare_marks()
            return
        self.queue.pop(0)
        if not self.queue:
            loss = self.options["abandon_penalty"]
            self.over([-loss if s == giver else loss // 4 for s in range(5)])

    def ask_declare_marks(self) -> None:
        if self.options["declare"]:
            self.ask("declare", self.others())
        else:
            self.nobody_declared_marks()

    def nobody_declared_marks(self) -> None:
        if self.options["oppose"]:
            self._vote("oppose", self.others(), self.options["votes_needed"])
        else:
            self.start_play()

    def declared_marks(self) -> None:
        """明 stands: 扭 is the rebels'."""
        if self.options["doubling"]:
            self._vote("niu", self.rebels(), self.options["votes_needed"])
        else:
            self.start_play()

    def _apply_vote(self, verb: str) -> None:
        self.votes += verb != "silent"
        if self.votes == self.needed:
            self._established()
            return
        self.queue.pop(0)
        if not self.queue:  # the vote has failed, and nothing stands on it
            self.start_play()

    def _established(self) -> None:
        assert self.emperor is not None
        if self.phase == "oppose":
            self.multiplier, self.role_public = 2, True
            if not self.options["doubling"]:
                self.start_play()
            elif self.guard is None:  # 暗度被反: only 踢, by the soloist
                self._vote("ti", [self.emperor], 1)
            else:
                self._vote("niu", [self.emperor, self.guard], 1)
            return
        self.multiplier *= 2
        if self.phase == "niu":
            assert self.guard is not None
            by_rebels = self.queue[0] in self.rebels()  # whose camp has just said 扭
            if by_rebels:
                self._vote("ti", [self.emperor, self.guard], 1)
            else:
                self._vote("ti", self.rebels(), self.options["votes_needed"])
        else:
            self.start_play()
