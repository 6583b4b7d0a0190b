"""How the cost of a decision grows: with the tables, with the cards in hand, and by rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from lupai.envs.game import Game, make_game, rules_class
from lupai.train.bench.loops import POOL, STAGGER, Extra, Loop, Tables, mask_slice, staggered
from lupai.train.bench.report import (
    aligned,
    digits,
    machine_sentence,
    markdown,
    number,
    spread,
    write_json,
)
from lupai.train.cli.common import writing

SIZES: Final = tuple(4**power for power in range(9))  # 1 … 65,536
MOST: Final = SIZES[-1]
BUCKET: Final = 5  # cards
EXTRAS: Final[tuple[Extra, ...]] = ("", "observation", "mask")
NAMES: Final[dict[Extra, str]] = {"": "legal ids", "observation": "+ observation", "mask": "+ mask"}
# Rules measured beside the presets of a game, where those are few: options that change what is
# played or seen in a hand. 进贡 does not, as no hand here follows another.
VARIANTS: Final[dict[str, tuple[str, ...]]] = {
    "gouji": (
        "shandong;revolution=false",
        "shandong;hand_sizes=always",
        "shandong;burn_fail=last_place",
        "shandong;end=last_player",
    ),
}

Row = dict[str, Any]


def rules_of(game: str) -> tuple[str, ...]:
    """Rules strings of the part by rules."""
    return (*rules_class(game).presets, *VARIANTS.get(game, ()))


class Growth:
    """All that is measured, made at once so that its repeats can be interleaved.

    Args:
        engine: the game, under the rules of the parts by tables and by cards.
        most: the greatest number of tables.
    """

    def __init__(self, engine: Game, most: int = MOST) -> None:
        self.engine = engine
        self.rules = rules_of(engine.game)
        self.pool = min(POOL, most)
        self.sizes = [size for size in SIZES if size <= most]

    def turns(self, repeats: int) -> int:
        """Steps of the progress: ends of making and timing."""
        whole = len(self.sizes) + len(self.rules)
        return whole * (1 + len(EXTRAS) * repeats) + repeats

    def run(
        self, repeats: int, seconds: float, tick: Callable[[], Any] = lambda: None
    ) -> dict[str, Any]:
        """``by_tables``, ``by_cards`` and ``by_rules``, as JSON has them, and how many ``actions``
        the mask is wide."""
        engine = self.engine
        by_tables = self._rows([(engine, size) for size in self.sizes], repeats, seconds, tick)
        for row in by_tables:
            del row["rules"], row["decisions_per_hand"]
        by_cards = self._cards(engine, repeats, seconds, tick)
        engines = [(make_game(engine.game, rules), self.pool) for rules in self.rules]
        by_rules = self._rows(engines, repeats, seconds, tick)
        return {
            "actions": engine.actions.size,
            "by_tables": by_tables, "by_cards": by_cards, "by_rules": by_rules,
        }  # fmt: skip

    @staticmethod
    def _rows(
        kinds: list[tuple[Game, int]], repeats: int, seconds: float, tick: Callable[[], Any]
    ) -> list[Row]:
        """Decisions per second for each (rules, tables), repeats interleaved over all of them."""
        plays: list[tuple[Row, Tables, dict[Extra, Loop]]] = []
        for engine, size in kinds:
            play = Tables(engine, staggered(engine, size))
            loops = {extra: play.loop(extra) for extra in EXTRAS}
            row: Row = {"rules": str(engine.rules), "tables": size}
            row |= {NAMES[extra]: [] for extra in EXTRAS}
            plays.append((row, play, loops))
            for extra in EXTRAS:
                play.step(extra)  # caches are filled
            tick()
        for _ in range(repeats):
            for row, _play, loops in plays:
                for extra, loop in loops.items():
                    row[NAMES[extra]] += digits([loop(seconds)])
                    tick()
        for row, play, _loops in plays:
            row["decisions_per_hand"] = round(play.decisions / play.hands) if play.hands else None
        return [row for row, _, _ in plays]

    def _cards(
        self, engine: Game, repeats: int, seconds: float, tick: Callable[[], Any]
    ) -> list[Row]:
        """µs of legal moves and their ids for each number of cards held, while playing.

        Every bucket is timed as a batch of the same size, drawn from many hands.
        """
        play = Tables(engine, staggered(engine, self.pool))
        playing = engine.phases.index("play")
        found: dict[int, list[Any]] = {}
        for number_ in range(STAGGER):
            play.step()
            if number_ % 4 == 0:
                state = play.state
                held = state.sizes[np.arange(len(state)), state.actor]
                buckets = np.where(state.phase == playing, (held - 1) // BUCKET, -1)
                for bucket in np.unique(buckets[buckets >= 0]).tolist():
                    parts = found.setdefault(bucket, [])
                    if sum(map(len, parts)) < self.pool:
                        parts.append(state.take(np.flatnonzero(buckets == bucket)))
        rows: list[Row] = []
        loops: list[Loop] = []
        for bucket, parts in sorted(found.items()):
            state = self._together(parts)
            legal = engine.legal(state)
            low = bucket * BUCKET + 1
            rows.append({
                "cards": f"{low}-{low + BUCKET - 1}", "tables": len(state),
                "legal_moves": round(float(legal.counts().mean()), 1), "us": [],
            })  # fmt: skip
            loops.append(_legal_loop(engine, state))
        for _ in range(repeats):
            for row, loop in zip(rows, loops, strict=True):
                row["us"] += digits([loop(seconds / 4)])
            tick()
        return rows

    def _together(self, parts: list[Any]) -> Any:
        """One state of ``pool`` tables from several, repeated where they are too few."""
        lengths = np.cumsum([0, *map(len, parts)])
        state = parts[0].take(np.zeros(max(self.pool, int(lengths[-1])), np.int64))
        for part, start in zip(parts, lengths, strict=False):
            state.put(np.arange(start, start + len(part)), part)
        return state.take(np.resize(np.arange(lengths[-1]), self.pool))


def _legal_loop(engine: Game, state: Any) -> Loop:
    """µs per decision of the legal moves and their ids."""

    def measure(limit: float) -> float:
        count, start = 0, time.perf_counter()
        while True:
            engine.legal(state).ids()
            count += len(state)
            if (spent := time.perf_counter() - start) >= limit:
                return 1e6 * spent / count

    return measure


# --- telling -------------------------------------------------------------------------------------

_COST: Final = [cell for name in NAMES.values() for cell in (f"{name}, per s", "us")]


def _costs(row: Row) -> list[str]:
    out = []
    for name in NAMES.values():
        out += [spread(row[name]), number(1e6 / median(row[name]))]
    return out


def _by_tables(data: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    body = [[f"{row['tables']:,}", *_costs(row)] for row in data["by_tables"]]
    return ["tables", *_COST], body


def _by_cards(data: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    head = ["cards in hand", "legal moves", "us of legal moves and ids", "low", "high"]
    return head, [
        [row["cards"], number(row["legal_moves"]),
         *map(number, (median(row["us"]), min(row["us"]), max(row["us"])))]
        for row in data["by_cards"]
    ]  # fmt: skip


def _by_rules(data: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    body = [
        [row["rules"], number(row["decisions_per_hand"] or 0), *_costs(row)]
        for row in data["by_rules"]
    ]
    return ["rules", "decisions per hand", *_COST], body


def _sections(data: dict[str, Any]) -> list[tuple[str, list[str], list[list[str]], str]]:
    """Title, head, body and a remark of each table."""
    sliced = ""
    most, slice_ = data["by_tables"][-1]["tables"], mask_slice(data["actions"])
    if most > slice_:
        sliced = (
            f"Above {slice_:,} tables the dense mask is made in slices of so many: whole, that "
            f"of {most:,} tables would take {number(most * data['actions'] / 1e6)} MB."
        )
    pool = data["by_rules"][0]["tables"]
    return [
        (f"By tables, {data['rules']}: decisions per second and us per decision",
         *_by_tables(data), sliced),
        (f"By cards in hand of the player that is asked, {data['rules']}, {pool:,} tables",
         *_by_cards(data), ""),
        (f"By rules, {pool:,} tables", *_by_rules(data), ""),
    ]  # fmt: skip


def text(data: dict[str, Any]) -> str:
    """Tables for the terminal."""
    parts = []
    for title, head, body, remark in _sections(data):
        parts.append(f"{title}\n{aligned(head, body)}" + (f"\n{remark}" if remark else ""))
    return "\n\n".join(parts)


def tables_markdown(data: dict[str, Any]) -> str:
    """Tables for a page."""
    parts = []
    for title, head, body, remark in _sections(data):
        table = markdown([cell.replace("us", "µs", cell.startswith("us")) for cell in head], body)
        parts += [f"**{title.replace(' us ', ' µs ')}**", table, *([remark] if remark else [])]
    return "\n\n".join(parts)


def write(folder: Path, data: dict[str, Any]) -> list[str]:
    """Put ``growth.json``, ``growth.md`` and ``growth.svg`` into a folder.

    Returns:
        a line for each of them; without matplotlib one that says what is missing.
    """
    write_json(str(folder / "growth.json"), data)
    done = [f"wrote {folder / 'growth.json'}"]
    try:
        plot = draw(data)
    except ImportError:
        plot = None
    page = f"# Growth\n\n{machine_sentence(data)}\n\n{tables_markdown(data)}\n"
    if plot is not None:
        page += "\n![cost of a decision](growth.svg)\n"
    for name, content in (("growth.md", page.encode()), ("growth.svg", plot)):
        if content is not None:
            with writing(str(folder / name)) as out:
                out.write(content)
            done.append(f"wrote {folder / name}")
    if plot is None:
        done.append('no plot: matplotlib is not installed (pip install "lupai[bench]")')
    return done


COLORS: Final = ("#1b6ca8", "#c8553d", "#4f7d3a")


def draw(data: dict[str, Any]) -> bytes:
    """The first two tables as an SVG picture; the same bytes for the same numbers.

    Raises:
        ImportError: matplotlib is missing.
    """
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "lupai", "font.size": 9}):
        figure = Figure(figsize=(8.4, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        sizes = [row["tables"] for row in data["by_tables"]]
        for name, color in zip(NAMES.values(), COLORS, strict=True):
            cost = [1e6 / np.array(row[name]) for row in data["by_tables"]]
            _line(left, sizes, cost, color, name)
        left.set(xscale="log", yscale="log", xlabel="tables B", ylabel="µs per decision",
                 title="A whole decision")  # fmt: skip
        left.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=40)
        left.minorticks_off()
        ticks = [t for t in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
                 if left.get_ylim()[0] <= t <= left.get_ylim()[1]]  # fmt: skip
        left.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        left.legend(frameon=False)
        places = np.arange(len(data["by_cards"]))
        _line(right, places, [np.array(row["us"]) for row in data["by_cards"]], COLORS[0], "")
        right.set_xticks(places, [row["cards"].replace("-", "–") for row in data["by_cards"]],
                         rotation=40)  # fmt: skip
        right.set(xlabel="cards in hand", ylabel="µs per decision", title="Legal moves and ids")
        right.set_ylim(bottom=0)
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="y", color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _line(axes: Any, x: Any, repeats: list[Any], color: str, name: str) -> None:
    """Medians, with the spread of the repeats as whiskers."""
    middle, low, high = (
        np.array([function(values) for values in repeats])
        for function in (np.median, np.min, np.max)
    )
    axes.errorbar(
        x, middle, (middle - low, high - middle), fmt="o-", color=color, label=name,
        markersize=3.5, linewidth=1.4, elinewidth=0.8, capsize=2,
    )  # fmt: skip
