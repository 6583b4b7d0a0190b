"""Faults that a climbing-game environment can have, as edits of the source.

`FAULTS` is a list of 26 of which PettingZoo's own tests notice eight for sure; `RULE_FAULTS` are
mistakes in single rules of the presets and options, and leaks of what they keep secret;
`GOUJI_FAULTS` the same in Gouji. Each edit names a file, a text that stands in it exactly once,
what to put in its place, and the test that should notice first.
"""

from __future__ import annotations

from dataclasses import dataclass

AEC = "envs/aec.py"
PLAY = "envs/baohuang/play.py"
SEEN = "envs/baohuang/observation.py"
T_AEC = "tests/envs/test_aec.py"
T_API = f"{T_AEC}::test_api_test_of_pettingzoo"
T_PAID = f"{T_AEC}::test_every_seat_gets_its_whole_score_once_whoever_acts_last"
T_SEED = f"{T_AEC}::test_seed_0_is_a_seed"
T_ORACLE = "tests/envs/test_oracle_agreement.py::test_full_deck_hands"
T_LEAKS = "tests/envs/test_leaks.py::test_state_redealt_at_every_decision_looks_the_same"
T_OPTIONS = "tests/envs/test_oracle_agreement.py::test_option_combinations"
T_SCORES = "tests/envs/test_scoring.py"
T_ORDERS = f"{T_SCORES}::test_every_stopping_point_of_every_finishing_order"
MOVES = "envs/baohuang/moves.py"
TABLES = "envs/baohuang/tables.py"
ROLES = "envs/baohuang/roles.py"
MARKS = "envs/baohuang/marks.py"
HIDDEN = "envs/baohuang/hidden.py"
TRICKS = "envs/gouji/tricks.py"
TRIBUTE = "envs/gouji/tribute.py"
SCORING = "envs/gouji/scoring.py"
T_GOUJI = "tests/envs/gouji/test_oracle_agreement.py::test_hands_of_the_preset"
T_GOUJI_OPTIONS = "tests/envs/gouji/test_oracle_agreement.py::test_hands_under_all_options"
T_GOUJI_HIDDEN = "tests/envs/gouji/test_hidden.py::test_hidden_cards_and_answers_do_not_show"
T_GOUJI_LEAKS = (
    "tests/envs/gouji/test_leaks.py::test_what_a_seat_sees_does_not_depend_on_what_it_may_not_know"
)
T_GOUJI_ENGINE = "tests/envs/gouji/test_engine.py"
T_GOUJI_ORDERS = f"{T_GOUJI_ENGINE}::test_all_finishing_orders"


@dataclass(frozen=True)
class Fault:
    """One planted fault: ``edits`` are (file, text that occurs once, replacement)."""

    name: str
    edits: tuple[tuple[str, str, str], ...]
    noticed_by: str = T_API


def _fault(name: str, file: str, old: str, new: str, noticed_by: str = T_API) -> Fault:
    return Fault(name, ((file, old, new),), noticed_by)


_PAY = "self.rewards = self._by_agent(self.engine.scores(self._state)[0])"
_MASK = "mask = self._legal.dense()[0]"

FAULTS = (
    # noticed by PettingZoo's tests
    _fault("all-zero mask for a live seat", AEC,
           _MASK, "mask = self._legal.dense()[0] * np.int8(0)"),
    _fault("seed ignored", AEC,
           "base, episode = check_seed(seed), 0", "base, episode = 1234, 0", T_SEED),
    _fault("global np.random used", AEC,
           "state = engine.reset([base], episode, **own)",
           "state = engine.reset([base + int(np.random.randint(9999))], episode, **own)",
           f"{T_AEC}::test_seed_test_of_pettingzoo"),
    _fault("bool mask", AEC, "\"action_mask\": mask}", "\"action_mask\": mask.astype(bool)}"),
    _fault("wrong observation dtype", AEC,
           "self.engine.observe(self._state, seat)[0]",
           "self.engine.observe(self._state, seat)[0].astype(np.float64)"),
    _fault("observation out of bounds", SEEN,
           "state.sizes.take(seats),", "state.sizes.take(seats) + np.int8(60),"),
    _fault("cumulative rewards not cleared", AEC,
           "self._cumulative_rewards = dict.fromkeys(self.agents, 0)",
           "self._cumulative_rewards = self.__dict__.get('_cumulative_rewards') "
           "or dict.fromkeys(self.agents, 0)",
           f"{T_AEC}::test_nothing_is_left_over_from_the_last_episode"),
    _fault("a new space object per call", AEC,
           "return self.action_spaces[agent]",
           "return spaces.Discrete(self.engine.actions.size)"),
    # noticed sometimes
    _fault("seed 0 treated as none", AEC, "if seed is not None:", "if seed:", T_SEED),
    # missed by PettingZoo's tests
    _fault("illegal action accepted", "envs/engine.py",
           "if np.count_nonzero(good) < len(good):", "if not good.size:",
           f"{T_AEC}::test_an_illegal_action_raises_and_changes_nothing_in_raw_env"),
    _fault("legal moves missing", TABLES, "lead[0, :1] = 0", "lead[0, :2] = 0", T_ORACLE),
    _fault("an equal set beats", TABLES,
           "np.arange(NATURAL_RANKS)[None, :] > _PARTS[:, :1]",
           "np.arange(NATURAL_RANKS)[None, :] >= _PARTS[:, :1]", T_ORACLE),
    _fault("payoff sign flipped", "envs/baohuang/scoring.py",
           "return scores", "return -scores", T_ORACLE),
    _fault("reward only to the last actor", AEC, _PAY,
           "self.rewards = {a: r if a == agent else 0 for a, r in "
           "self._by_agent(self.engine.scores(self._state)[0]).items()}", T_PAID),
    _fault("only the first finisher rewarded", AEC, _PAY,
           "self.rewards = {a: r if self._state.places[0, int(a[-1])] == 1 else 0 for a, r in "
           "self._by_agent(self.engine.scores(self._state)[0]).items()}", T_PAID),
    Fault("a seat ended at its empty hand loses its payoff", (
        (AEC, _PAY,
         "self.rewards = {a: 0 if self.terminations[a] else r for a, r in "
         "self._by_agent(self.engine.scores(self._state)[0]).items()}"),
        (AEC, "        self._ask()\n        if self._actor == NOBODY:",
         "        self.terminations[agent] = not self._state.sizes[0, int(agent[-1])]\n"
         "        self._ask()\n        if self._actor == NOBODY:"),
    ), T_PAID),
    _fault("a card missing from the deck", "envs/cards.py",
           "texts = [t for t in KIND_TEXTS for _ in range(4)]",
           "texts = [t for t in KIND_TEXTS for _ in range(4)][1:]", T_ORACLE),
    _fault("other hands in the observation", SEEN,
           "tables.shown,",
           "state.hands.reshape(-1, NUM_KINDS).take(seats[:, 1], axis=0),", T_LEAKS),
    _fault("the own-hand slot shows the acting seat's hand", SEEN,
           ".take(seats[:, 0], axis=0),  # own_hand",
           ".take(tables.seat_rows[:, 0] + tables.numbers[:, COLUMN[\"actor\"]], axis=0),",
           T_LEAKS),
    _fault("a finished seat still asked", PLAY,
           "(alive & ~left) * puts", "(31 & ~left) * puts", T_PAID),
    _fault("wrong leader after a trick", PLAY,
           "leader[alive * SEATS + owner]", "next_[alive * SEATS + owner]", T_ORACLE),
    _fault("a seat that is not acting sees the actor's mask", AEC,
           "and seat == self._actor", "and self._actor >= 0",
           f"{T_AEC}::test_masks_and_observations_fit_their_spaces_and_only_the_actor_has_a_mask"),
    _fault("arrays changed after being returned", AEC, _MASK,
           "mask = self.__dict__.setdefault('_buffer', self._legal.dense()[0])\n"
           "            mask[:] = self._legal.dense()[0]",
           f"{T_AEC}::test_arrays_given_out_are_never_changed_afterwards"),
    _fault("terminations never raised", AEC,
           "self.terminations = dict.fromkeys(self.agents, True)",
           "self.terminations = dict.fromkeys(self.agents, False)"),
    _fault("state left over from the last episode", AEC,
           "self._log = TableLog(self.engine)\n",
           "self._log = self.__dict__.get('_log') or TableLog(self.engine)\n", T_PAID),
    _fault("the game ended too early", PLAY,
           "= (alive & (alive - 1)) == 0  # one player left",
           "= np.bitwise_count(alive) <= 2", T_ORACLE),
)  # fmt: skip

RULE_FAULTS = (
    _fault("a four can be forced", ROLES,
           "must = ((held == COPIES - 1) & can_call)", "must = ((held >= COPIES - 1) & can_call)",
           T_OPTIONS),
    _fault("the pile is added once more", ROLES,
           "(state.hands[t, state.actor[t]] - state.pile[t])[:, :52]",
           "state.hands[t, state.actor[t]][:, :52]", T_OPTIONS),
    _fault("the guard may oppose", MARKS,
           "out.verbs[barred] = verb_mask(\"silent\")", "pass", T_OPTIONS),
    _fault("two votes whatever the table says", MARKS,
           "many = rules.votes_needed or 1", "many = 2", T_OPTIONS),
    _fault("the crown is offered from the next player on", MARKS,
           "(emperor + 2) % SEATS", "(emperor + 1) % SEATS", T_OPTIONS),
    _fault("the lead of an open solo stays with R*", MARKS,
           "state.emperor[s] = seat\n", "state.emperor[s] = state.crown[s]\n", T_OPTIONS),
    _fault("X also stands at its natural rank", MOVES,
           "_PLAIN], plain, plain, standing)", "_PLAIN], ranks, ranks, standing)",
           T_OPTIONS),
    _fault("sixes leave in parts", MOVES,
           "legal.words[:, [unit_of(_SIX), unit_of(_SIX, flag=True)]] = 0", "pass", T_OPTIONS),
    _fault("222 does not beat R", MOVES,
           "big = standing == _SINGLE_R", "big = (standing == _SINGLE_R) & False", T_OPTIONS),
    _fault("a pass binds for one set under any option", PLAY,
           "if rules.pass_scope == \"trick\":", "if rules.pass_scope == \"hand\":", T_OPTIONS),
    _fault("only the emperor's camp ends a hand", PLAY,
           "ended |= ((alive & camp) == 0) | ((alive & ~camp) == 0)",
           "ended |= (alive & camp) == 0", T_ORDERS),
    _fault("a solo is played out", PLAY,
           "ended |= solo_decided(rules)[numbers[:, _SOLO], numbers[:, _OUT_COUNT]]", "pass",
           T_ORDERS),
    _fault("no equal shares", "envs/baohuang/scoring.py",
           "EQUAL_SPLIT_FROM: Final = 4", "EQUAL_SPLIT_FROM: Final = 99",
           f"{T_SCORES}::test_from_niu_on_emperor_and_guard_share"),
    _fault("a secret solo is seen by all", HIDDEN,
           "(secret & (emperor == viewer))", "secret", T_LEAKS),
    _fault("the dealt mark stays in masked states", HIDDEN,
           "out.marked_b = np.where(seen, out.marked_b, NOBODY)", "pass",
           f"{T_LEAKS}[weihai]"),
    _fault("the mark shows whom it is asked of", SEEN,
           "\"marked_b\", VIEWER),\n        lambda identity, marked, viewer: "
           "_side_by_side(identity == viewer, marked == viewer)",
           "\"marked_b\", \"actor\", VIEWER),\n        lambda identity, marked, actor, viewer: "
           "_side_by_side(identity == viewer, marked == actor)",
           f"{T_LEAKS}[weihai]"),
    _fault("only the guard is asked to declare", MARKS,
           "ask(state, t, Phase.DECLARE, ALL & ~seat_bit(emperor), emperor)",
           "ask(state, t, Phase.DECLARE, np.where(state.guard[t] >= 0, seat_bit(state.guard[t]), "
           "ALL & ~seat_bit(emperor)), emperor)", T_LEAKS),
)  # fmt: skip

GOUJI_FAULTS = (
    _fault("an equal rank beats", "envs/gouji/tables.py",
           "np.arange(ROW_JOKERS) > np.append", "np.arange(ROW_JOKERS) >= np.append", T_GOUJI),
    _fault("two queens are a 够级牌", "envs/gouji/sets.py", "\"Q\": 3", "\"Q\": 2", T_GOUJI),
    _fault("neighbours are asked to burn before mates", "envs/gouji/orders.py",
           "BURNERS: Final = (2, 4, 1, 5)", "BURNERS: Final = (1, 5, 2, 4)", T_GOUJI),
    _fault("a burn needs no jokers afterwards", "envs/gouji/play.py",
           "mode = burn * BURNING", "mode = burn * 0", T_GOUJI),
    _fault("a duty outlives the burner's beaten set", TRICKS,
           "(answers & (was[_DUTY] == before))", "(answers & (was[_DUTY] == before + 9))",
           T_GOUJI),
    _fault("who yielded is asked again at once", TRICKS,
           "again = tables.opposite_last[row", "again = tables.in_turn[row", T_GOUJI),
    _fault("a yield is open at a 底牌", TRICKS,
           "was[_MELEE] | was[_BOTTOM] | was[_YIELDED]", "was[_MELEE] | was[_YIELDED]", T_GOUJI),
    _fault("a yield is a pass", TRICKS,
           "(said.passes & (melee == 0))", "((said.passes | said.yields) & (melee == 0))",
           T_GOUJI),
    _fault("对头 out of the trick is asked in his place", TRICKS,
           "late = plain & (bottom == 0) & (passed & foe != 0)",
           "late = plain & (bottom < 0) & (passed & foe != 0)", T_GOUJI),
    _fault("对头 out of the trick is not asked about a 够级 set", TRICKS,
           "entitled = (foe | (headless & in_trick))",
           "entitled = ((foe | headless) & in_trick)", T_GOUJI),
    _fault("the headless are not asked about a 够级 set", TRICKS,
           "entitled = (foe | (headless & in_trick))", "entitled = foe", T_GOUJI),
    _fault("sets of the headless can be burned", TRICKS,
           "unbound = everybody | ((headless & bit[owner] != 0) & (death ^ True))",
           "unbound = everybody", T_GOUJI),
    _fault("an answer to a 底牌 is no 够死级", TRICKS,
           "death = kills | own", "death = own", T_GOUJI),
    _fault("headless only when the trick ends", TRICKS,
           "(puts & (was[_BOTTOM] == 1))", "(puts & (was[_BOTTOM] == 9))", T_GOUJI),
    _fault("对头 of 二科 is headless, too", TRICKS,
           "(closed & (bottom == 1))", "(closed & (bottom >= 1))", T_GOUJI),
    _fault("三科 has a 底牌", TRICKS, "(said.place <= 2)", "(said.place <= 3)", T_GOUJI),
    _fault("a dead set is asked", TRICKS,
           "nobody = said.dead | said.fails", "nobody = said.fails", T_GOUJI),
    Fault("a pass binds in 四人乱缠", (
        (TRICKS, "(said.passes & (melee == 0))", "said.passes"),
        (TRICKS, "asked = others * everybody", "asked = in_trick * everybody"),
    ), T_GOUJI),
    _fault("a revolution gives two 够死级", "envs/gouji/state.py",
           "DEATHS: Final = 3", "DEATHS: Final = 2", T_GOUJI),
    _fault("a revolter takes nobody's place", "envs/gouji/leaving.py",
           "(place >= REVOLTER_PLACE)", "(place > REVOLTER_PLACE)", T_GOUJI),
    _fault("a revolter is never 三科", SCORING,
           "third[at, revolter[at]] = True", "third[at, revolter[at]] = False", T_GOUJI_ORDERS),
    _fault("a string of three is worth what its places are", SCORING,
           "SWEEP: Final = 12", "SWEEP: Final = 6", T_GOUJI_ORDERS),
    _fault("an equal number of 3s takes over", "envs/gouji/dealing.py",
           "more = count > most", "more = count >= most",
           f"{T_GOUJI_ENGINE}::test_the_first_leader_of_2000_deals_is_that_of_the_loop"),
    _fault("the first leader leads though he revolted", "envs/gouji/revolution.py",
           "np.where(leader == c.revolter[i], (leader + 1) % SEATS, leader)", "leader", T_GOUJI),
    _fault("only the even side ends a hand", "envs/gouji/leaving.py",
           "for side in _SIDES)", "for side in _SIDES[:1])", T_GOUJI),
    _fault("a failed burner gets the first open place", "envs/gouji/leaving.py",
           "state.places[t, seats] = _HIGHEST", "state.places[t, seats] = _LOWEST",
           T_GOUJI_OPTIONS),
    _fault("头科 gets the tribute of 二落", TRIBUTE,
           "(previous[0], previous[5], 2), (previous[1], previous[4], 1)",
           "(previous[0], previous[4], 2), (previous[1], previous[5], 1)",
           f"{T_GOUJI_ENGINE}::test_tribute_can_make_a_deal_void"),
    _fault("a rank that the giver holds may be refused", TRIBUTE,
           "(state.ranks[t, state.actor[t], rank] == 0) & new", "new", T_GOUJI_OPTIONS),
    _fault("whether an offer may be refused tells the other hand", TRIBUTE,
           "new = state.refused[t] >> rank & 1 == 0",
           "new = (state.refused[t] >> rank & 1 == 0) & "
           "(state.ranks[t, state.owner[t].astype(int), rank] > 0)", T_GOUJI_HIDDEN),
    _fault("answers to the running poll stay in masked states", "envs/gouji/hidden.py",
           "np.where(running, out.revolts & mine, out.revolts)", "out.revolts", T_GOUJI_HIDDEN),
    _fault("the latest moves tell a revolt at once", "envs/gouji/engine.py",
           "ids[_REVOLT] = VERB_ID[\"silent\"]", "ids[_REVOLT] = _REVOLT", T_GOUJI_LEAKS),
)  # fmt: skip
