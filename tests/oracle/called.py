"""Roles by a called card (rules/baohuang.md §4.1), 特画 and the marked small joker (§4.2)."""

from .sets import KINDS
from .table import Table


class CalledRoles(Table):
    """Grab, call, forced call, void, the open question, declaration."""

    def start_play(self) -> None:
        raise NotImplementedError

    def begin_called(self) -> None:
        if self.options["grab"]:
            self.ask("grab", (self.crown - step for step in range(5)))
        else:
            self._after_grab()

    def _after_grab(self) -> None:
        if self.options["guard_by"] == "called_card":
            self.ask("call", (self.crown - step for step in range(5)))
            return
        self.emperor = self.crown
        if self.identity_seat == self.emperor:
            self.solo = "secret"
        else:
            self.guard = self.identity_seat
        self.ask("open", [self.emperor])

    # ---- what is legal

    def copies(self, seat: int) -> dict[str, int]:
        """Callable kinds of which the seat holds three or four copies (§2, §4.1.2)."""
        have = self.hands[seat]
        return {k: have[k] for k in KINDS if have[k] in (3, 4) and self.deck[k] == 4}

    def _calls(self, seat: int) -> list[str]:
        moves: list[str] = []
        for kind, copies in self.copies(seat).items():
            if copies == 4:  # four copies always mean solo
                moves += [f"call {kind} open", f"call {kind} secret"]
            else:
                moves.append(f"call {kind}")
        return moves

    def legal_called(self, seat: int) -> list[str]:
        if self.phase == "grab":
            return ["grab", "decline"]
        if self.phase == "call":
            return [*self._calls(seat), "cede"]
        if self.phase == "forced_call":
            return self._calls(seat)
        assert self.phase == "open"
        return ["open", "silent"] if self.solo == "secret" else ["silent"]

    # ---- moves

    def apply_called(self, seat: int, verb: str, rest: list[str]) -> None:
        if self.phase == "grab":
            self._apply_grab(seat, verb)
        elif verb == "cede":
            self._apply_cede(seat)
        elif verb == "call":
            self._apply_call(seat, *rest)
        elif verb == "open":
            self.solo, self.role_public = "open", True
            self.start_play()
        else:
            self.ask_declare_called()

    def _apply_grab(self, seat: int, verb: str) -> None:
        if verb == "grab":
            self.move_crown(seat)
            self.emperor, self.solo, self.role_public = seat, "grab", True
            self.identity = self.identity_seat = None  # no guard, no 特画
            self.start_play()
            return
        self.queue.pop(0)
        if not self.queue:
            self._after_grab()

    def _apply_cede(self, seat: int) -> None:
        first = len(self.queue) == 5
        if self.options["tribute_on_cede"] and not first:
            added = self.tribute(seat)
            if added is not None:
                self.pile[added] += 1
        self.move_crown(seat - 1)
        self.queue.pop(0)
        if not self.queue:
            self._force_call()

    def _force_call(self) -> None:
        """§4.1.3-4: R* and pile go round with the question; fours alone do not qualify."""
        if self.options["forced_call"]:
            for step in range(5):
                self.move_crown(self.first_holder - step)
                if 3 in self.copies(self.crown).values():
                    self.ask("forced_call", [self.crown])
                    return
            self.move_crown(self.first_holder)
        self.void = True
        self.over([0] * 5)

    def _apply_call(self, seat: int, kind: str, how: str | None = None) -> None:
        self.emperor, self.called, self.identity = seat, kind, kind
        self.solo = how
        if how is None:
            others = [other for other in range(5) if other != seat and self.hands[other][kind]]
            self.guard = self.identity_seat = others[0]
        else:
            self.identity_seat = seat  # his one copy beyond the three shown
        if how == "open":
            self.role_public = True
            self.start_play()
        else:
            self.ask_declare_called()

    def ask_declare_called(self) -> None:
        if self.options["declare"]:
            self.ask("declare", self.others())
        else:
            self.start_play()
