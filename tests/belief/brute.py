"""Posteriors of who is guard by brute force: every deal is told to the oracle, move by move.

Shares no code with agents/belief: which deals there are and which moves are legal says the oracle;
chances of moves come from single views, and suits are counted here.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from math import comb, factorial, prod

import numpy as np

from lupai.agents.greedy import GreedyAgent
from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.state import State
from lupai.envs.view import View, Views
from tests.envs.redeal import SEATS, Story, World
from tests.envs.side_by_side import Party, deal_of, engine_of
from tests.envs.test_grounded import FAMILIES, some_move
from tests.envs.worlds_by_hand import dealt_hands, every_guess, few_kinds
from tests.oracle.hand import Hand
from tests.oracle.random_play import record_move

Member = Callable[[Hand, Engine, State, str], float]
LIMIT = 60  # ways to be tried
SHOWS = {"*", "X", "grab", "solo", "declare", "oppose", "abandon", "open"}


def uniform(hand: Hand, engine: Engine, state: State, move: str) -> float:
    """Every legal move, as the oracle has them."""
    return 1 / len(hand.legal())


def noisy_greedy(hand: Hand, engine: Engine, state: State, move: str) -> float:
    """`greedy` with a noise of a fifth, asked by one view."""
    view = View.of(engine, state, int(state.actor[0]))
    action, _ = engine.read_move(state, 0, move)
    return 0.8 * (view.action_of(GreedyAgent().act(view)) == action) + 0.2 / len(hand.legal())


def blind_suits(hand: Hand, cards: list[str]) -> float:
    """All ways to pick the copies are as likely."""
    spare = hand.hands[hand.seat].copy()
    if hand.holds_special(hand.seat):
        spare[hand.identity] -= 1
    laid = Counter(cards)
    ways, among = 1, Counter()
    for card, copies in laid.items():
        ways *= comb(spare[card], copies)
        among[card[0]] += copies
    held = Counter()
    for card, copies in spare.items():
        held[card[0]] += copies
    return ways / prod(comb(held[rank], copies) for rank, copies in among.items())


def ordered_suits(hand: Hand, cards: list[str]) -> float:
    """The lowest suits first."""
    text = "".join(sorted((card[0] for card in cards), key="23456789TJQKABR".index))
    return float(Counter(hand.pick(text)) == Counter(cards))


def likelihoods(
    story: Story, world: World, viewer: int, members: list[Member], suits: str
) -> tuple[np.ndarray, float]:
    """Chances `[members, 5]` of each seat's decisions, and that of the suits of the others."""
    engine = engine_of(story.rules)
    state = engine.reset_hands([" ".join(cards) for cards in world.dealt], story.start)
    hand = Hand(world.dealt, story.start, story.rules)
    chances, of_suits = np.ones((len(members), 5)), 1.0
    for text in world.moves:
        seat, _, move = text.partition(" ")
        for i, member in enumerate(members):
            chances[i, int(seat)] *= member(hand, engine, state, move)
        if int(seat) != viewer and move.startswith("play "):
            how = {"blind": blind_suits, "order": ordered_suits}[suits]
            of_suits *= how(hand, move.split(" ")[1:])
        action, cards = engine.read_move(state, 0, move)
        engine.step(state, [action], cards=cards[None])
        hand.apply_record_move(text)
    return chances, of_suits


def deals(dealt: list[list[str]]) -> float:
    """Ways to deal distinct cards so, up to a factor; R* and B* are told apart."""
    hands = [Counter(card for card in cards if "*" not in card) for cards in dealt]
    return 1 / prod(factorial(copies) for hand in hands for copies in hand.values())


def posterior(
    story: Story,
    viewer: int,
    members: list[Member],
    shares: list[float],
    per: str = "seat",
    suits: str = "blind",
) -> np.ndarray | None:
    """Chances `[6]`; None with too many ways to lay the cards, or where nobody would play so."""
    guesses = every_guess(story, viewer, LIMIT)
    if guesses is None:
        return None
    total: dict[int, float] = defaultdict(float)
    share = np.array(shares)
    for guess in guesses:
        if not guess.weight:
            continue
        dealt = dealt_hands(story, guess.hands, guess.marked)
        assert dealt is not None
        world = story.possible(dealt, viewer)
        assert world is not None
        chances, of_suits = likelihoods(story, world, viewer, members, suits)
        if per == "hand":
            likely = share @ chances.prod(axis=1)
        else:
            likely = prod(share @ chances[:, seat] for seat in SEATS if seat != viewer)
        total[guess.guard] += deals(dealt) * likely * of_suits
    chance = np.array([total[seat] for seat in (0, 1, 2, 3, 4, -1)])
    return chance / chance.sum() if chance.any() else None


def history(story: Story) -> list[str]:
    """What everybody saw."""
    return [move.removesuffix(" secret") for move in story.moves]


def positions(preset: str, first_seed: int, sets: int = 0) -> Iterator[tuple[Party, Story]]:
    """Random mini-deals, at moments when the guard is not public; the same objects, moved on.

    Args:
        sets: laid down before, at least; nobody shows himself then.
    """
    seed = first_seed
    while True:
        rng = random.Random(seed)
        family = FAMILIES[preset][seed % len(FAMILIES[preset])]
        rules = {**family.rules, "deck": few_kinds(rng, family)}
        dealt, start = deal_of(rng, rules)
        party, story = Party(rules, [(dealt, start)]), Story(rules, dealt, start)
        hand, seed, laid = party.hands[0], seed + 1, 0
        while hand.seat is not None:
            hidden = party.state.emperor[0] >= 0 and party.state.public[0] == 0
            if hidden and laid >= sets and rng.random() < 0.4:
                yield party, story
            legal = hand.legal()
            if sets:
                shy = [move for move in legal if not SHOWS & {*move, *move.split(" ")}]
                legal = shy or legal
            move = some_move(legal, family.words, rng)
            laid += move.startswith("play ") and move[-1] not in "BR"
            text = record_move(hand, move)
            party.step([0], [move])
            story.tell(text)


def views_of(party: Party, story: Story, *viewers: int) -> Views:
    """The same moment from several seats."""
    return Views(
        party.engine,
        party.state,
        list(viewers),
        np.zeros(len(viewers), np.intp),
        [history(story)] * len(viewers),
    )
