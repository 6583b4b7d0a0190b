"""Legal moves of one play-phase position, as `lupai legal` lists them (formats.md)."""

from typing import Any

from .options import has_supreme, joker_marked, options_of
from .sets import OracleError, all_sets, beats, ranks_of


def legal_play(
    hand: list[str],
    standing: str | None = None,
    circle: int = 1,
    claimable: bool = False,
    public: bool = False,
    rules: str | dict[str, Any] | None = None,
) -> list[str]:
    """Legal moves of a hand; default rules are `qingdao`.

    A star in `hand` is the identity card, never 皇's mark: while it is hidden,
    and under 特画 always.
    """
    options = options_of(rules)
    supreme = has_supreme(options)
    if not hand:
        raise OracleError("a player without cards is not asked")
    if circle not in (1, 2):
        raise OracleError(f"circle is 1 or 2, not {circle!r}")
    stars = [card for card in hand if card.endswith("*")]
    if public and stars and not supreme:
        raise OracleError("a star, but the identity is public")
    if stars and joker_marked(options) and stars != ["B*"]:
        raise OracleError(f"{stars}: under these rules the identity card is B*")
    if standing is None and (claimable or circle == 2):
        raise OracleError("circle 2 and claimable need a standing set")
    if claimable and circle == 2:
        raise OracleError("nobody claims in circle 2")
    if circle == 2 and not options["yield"]:
        raise OracleError("without yield there is no circle 2")
    if claimable and not options["claim"]:
        raise OracleError("under these rules nobody claims")
    if standing is not None and "X" in ranks_of(standing) and not supreme:
        raise OracleError("an X, but these rules have no 特画")
    if standing is not None and "*" in standing:
        raise OracleError("a standing set is written without a star")
    sets = all_sets(hand, supreme, options["hold_sixes"])
    if standing is None:
        return [f"play {text}" for text in sets]  # the leader must play (§5)
    moves = ["pass"]
    if circle == 1 and options["yield"]:
        moves.append("yield")
    if claimable:
        moves.append("claim")
    twos = options["three_twos_beat_big"]
    return moves + [f"play {text}" for text in sets if beats(standing, text, twos)]
