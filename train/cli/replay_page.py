"""A replay as one HTML page that needs nothing else: no network, no file beside it.

Only what the page may show is in it: made for one seat, it holds that seat's knowledge and nothing
of the others. All texts go in as JSON and onto the page as text, never as markup, since names in a
record may be anything.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any, Final

from lupai.envs.replay import Replay
from lupai.train.cli.replay import end_text, move_text, player, status
from lupai.train.cli.replay_belief import Beliefs
from lupai.train.cli.tables import table_of
from lupai.train.cli.words import Words, clean


def make_page(
    replay: Replay,
    seat: int | None,
    words: Words,
    beliefs: Mapping[int | None, Beliefs] | None = None,
) -> str:
    """The page, ASCII but for what ``words`` say.

    Args:
        replay: the hand.
        seat: whose knowledge it holds; None: everybody's, to choose from, and all cards open.
        words: the language.
        beliefs: what predictors say from the views that the page has, by seat; None: a spectator's,
            which go with the open cards.
    """
    told = beliefs or {}
    table = table_of(replay.engine)
    seats = range(replay.engine.seats)
    views: list[int | None] = [None, *seats] if seat is None else [seat]
    data = {
        "names": [player(replay, s, words) for s in seats],
        "views": [_view(replay, view, words, told.get(view)) for view in views],
        "steps": [_step(replay, number, words) for number in range(len(replay))],
        "words": {
            "step": words("step", "{}", "{}"),
            "cards": words("cards", "{}") if table.sizes_public else "{}",
            "bar": words("belief_bar", "{}", "{}"),
            "nobody": words("belief_nobody"),
        },
    }
    # inside <script> only "<" could end the element; the others are for old readers
    text = json.dumps(data, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    title = html.escape(f"{words('title')} ({replay.engine.rules})")
    return _PAGE.format(
        lang="zh" if words.zh else "en", title=title, style=_STYLE, data=text, script=_SCRIPT
    )


def _step(replay: Replay, number: int, words: Words) -> dict[str, Any]:
    """What everybody knows at a step."""
    state, table = replay.steps[number].state, table_of(replay.engine)
    marks = [", ".join(table.marks(state, s, words)) for s in range(replay.engine.seats)]
    # where sizes depend on the view they stand with the roles, and the marks in their place
    told = table.sizes_public
    return {
        "actor": int(state.actor[0]),
        "sizes": state.sizes[0].tolist() if told else marks,
        "marks": marks if told else [""] * len(marks),
        "status": "; ".join(status(replay, number, words)),
    }


def _view(
    replay: Replay, seat: int | None, words: Words, beliefs: Beliefs | None
) -> dict[str, Any]:
    """What one seat knows beside that, at every step; None: everything."""
    steps: list[dict[str, Any]] = []
    bars = {} if beliefs is None else beliefs.bars(seat)
    for number in range(len(replay)):
        step = replay.steps[number]
        state = step.state if seat is None else replay.view(number, seat).state
        shown = range(replay.engine.seats) if seat is None else [seat]
        hands = {s: " ".join(replay.engine.hand_texts(state, 0, s)) for s in shown}
        steps.append(
            {
                "head": "  ".join(
                    table_of(replay.engine).header(replay.engine, state, words, seat)
                ),
                "move": move_text(replay, number, seat, words),
                "roles": _roles(replay, state, seat, words),
                "hands": hands,
                "beliefs": bars.get(number, []),
            }
        )
    name = words("open_cards") if seat is None else words("view_of", words("seat", seat))
    end = [line.rstrip() for line in end_text(replay, seat, words)]
    says = [] if beliefs is None else [clean(predictor) for predictor in beliefs.chances]
    return {"name": name, "says": says, "steps": steps, "end": "\n".join(end).strip()}


def _roles(replay: Replay, state: Any, seat: int | None, words: Words) -> list[str]:
    table = table_of(replay.engine)
    roles = table.roles(replay.engine, state, words, seat)
    if table.sizes_public:
        return roles
    sizes = table.sizes(replay.engine, state, words, seat)
    return [f"{role}, {size}" for role, size in zip(roles, sizes, strict=True)]


_PAGE: Final = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<select id="view" aria-label="view"></select>
<button id="first" aria-label="first">|&#9664;</button>
<button id="back" aria-label="back">&#9664;</button>
<input id="at" type="range" min="0" value="0" aria-label="step">
<button id="next" aria-label="next">&#9654;</button>
<button id="last" aria-label="last">&#9654;|</button>
<span id="step"></span>
</header>
<p id="head"></p>
<p id="move"></p>
<div id="seats"></div>
<p id="status"></p>
<pre id="end"></pre>
<noscript>This page shows the hand with JavaScript.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 60rem;
  padding: 0 1rem; }
header { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
header input { flex: 1; min-width: 8rem; }
#move { font-size: 1.25rem; font-weight: 600; min-height: 1.8em; }
.seat { border-left: 4px solid transparent; padding: .3rem .6rem; margin: .3rem 0; }
.seat.asked { border-color: #d80; background: #d801; }
.seat b { margin-right: .8rem; }
.seat i { margin-right: .8rem; }
.card { display: inline-block; border: 1px solid #8888; border-radius: 3px; margin: 1px;
  padding: 0 .25em; font-variant-numeric: tabular-nums; }
.red { color: #d22; }
.identity { outline: 2px solid #d80; }
.belief { display: inline-block; margin-right: 1rem; font-variant-numeric: tabular-nums; }
.belief meter { width: 8rem; margin-right: .4rem; }
"""

_SCRIPT: Final = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const by = id => document.getElementById(id);
const suits = {s: "\\u2660", h: "\\u2665", c: "\\u2663", d: "\\u2666"};
const last = data.steps.length - 1;
let at = 0, view = 0;
function put(parent, tag, text, name) {
  const node = document.createElement(tag);
  node.textContent = text;
  if (name) node.className = name;
  parent.appendChild(node);
  return node;
}
function fill(text, ...values) {
  return text.replace(/\\{\\}/g, () => values.shift());
}
function bars(parent, mine, who) {
  mine.beliefs.forEach((row, number) => {
    if (row[who] === null) return;
    const box = put(parent, "span", "", "belief");
    put(box, "meter", "").value = row[who];
    const percent = Math.round(100 * row[who]);
    put(box, "span", fill(data.words.bar, percent, data.views[view].says[number]));
  });
}
function show() {
  const step = data.steps[at], mine = data.views[view].steps[at];
  by("at").value = at;
  by("step").textContent = fill(data.words.step, at, last);
  by("head").textContent = mine.head;
  by("move").textContent = mine.move;
  by("status").textContent = step.status;
  by("end").textContent = at === last ? data.views[view].end : "";
  const seats = by("seats");
  seats.textContent = "";
  data.names.forEach((name, seat) => {
    const box = put(seats, "div", "", "seat" + (step.actor === seat ? " asked" : ""));
    put(box, "b", name);
    put(box, "i", mine.roles[seat]);
    put(box, "span", fill(data.words.cards, step.sizes[seat])
      + (step.marks[seat] ? ", " + step.marks[seat] : ""));
    bars(put(box, "div", ""), mine, seat);
    const hand = mine.hands[seat];
    if (!hand) return;
    const line = put(box, "div", "");
    for (const card of hand.split(" ")) {
      const plain = card.replace("*", "");
      const text = (plain[0] === "T" ? "10" : plain[0]) + (suits[plain[1]] || "");
      const red = plain[1] === "h" || plain[1] === "d" || plain === "R";
      put(line, "span", text, "card" + (red ? " red" : "")
        + (card !== plain ? " identity" : ""));
    }
  });
  const nobody = data.names.length;
  if (mine.beliefs.some(row => row[nobody] !== null)) {
    const box = put(seats, "div", "", "seat");
    put(box, "b", data.words.nobody);
    bars(put(box, "div", ""), mine, nobody);
  }
}
function go(to) {
  at = Math.max(0, Math.min(last, to));
  show();
}
data.views.forEach((one, number) => { put(by("view"), "option", one.name).value = number; });
by("view").onchange = event => { view = Number(event.target.value); show(); };
by("at").max = last;
by("at").oninput = event => go(Number(event.target.value));
by("first").onclick = () => go(0);
by("back").onclick = () => go(at - 1);
by("next").onclick = () => go(at + 1);
by("last").onclick = () => go(last);
document.addEventListener("keydown", event => {
  if (event.target.tagName === "SELECT" || event.ctrlKey || event.altKey || event.metaKey) return;
  const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, p: at - 1, n: at + 1};
  if (event.key in to) { event.preventDefault(); go(to[event.key]); }
});
show();
"""
