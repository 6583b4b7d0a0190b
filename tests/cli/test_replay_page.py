"""The page of `lupai replay --html`: what it knows, and that it is safe and alone in the world."""

import html.parser
import json
import re
import shutil
import subprocess

import pytest

from lupai.envs.cards import KIND_TEXTS
from lupai.envs.records import load_record
from lupai.envs.replay import Replay
from lupai.train.cli.replay_page import make_page
from lupai.train.cli.words import Words, clean, width
from tests.cli.hands import FILES, RECORDS, secret_solo
from tests.cli.running import PRESETS, lupai


def page_data(page):
    """What a page has embedded."""
    inside = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(inside[1])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_page_of_a_seat_embeds_only_its_knowledge(preset):
    """What the others hold may be anything else: the page is the same."""
    record = secret_solo(preset) | {"seed": None}
    seat = (record["roles"]["emperor"] + 2) % 5
    replay = Replay(record)
    data = page_data(make_page(replay, seat, Words("en")))
    assert len(data["views"]) == 1
    steps = data["views"][0]["steps"]
    assert len(steps) == len(replay)
    assert all(list(step["hands"]) == [str(seat)] for step in steps)
    public = next(s.number for s in replay.steps if s.state.public[0])
    text = json.dumps([steps[:public], data["steps"][:public], data["names"]])
    assert "secret" not in text
    assert "alone" not in text


def test_pages_do_not_know_what_the_seat_does_not():
    """Two hands that differ only in cards that nobody ever saw give one page, byte for byte."""
    tried = 0
    for record in RECORDS["weihai"]:
        replay = Replay(record)
        left = replay.steps[-1].state.hands[0, :, :52]
        still = [s for s in range(5) if left[s].any()]
        if len(still) < 2:
            continue
        one, two = still[:2]
        mine, theirs = (KIND_TEXTS[int(left[s].argmax())] for s in (one, two))
        if mine == theirs:
            continue
        hands = [hand.split(" ") for hand in record["hands"]]
        hands[one][hands[one].index(mine)] = theirs
        hands[two][hands[two].index(theirs)] = mine
        other = Replay(record | {"hands": [" ".join(hand) for hand in hands]})
        assert other.fault is None
        for seat in set(range(5)) - {one, two}:
            pages = [make_page(r, seat, Words("en")) for r in (replay, other)]
            assert pages[0] == pages[1]
            tried += 1
        assert make_page(replay, one, Words("en")) != make_page(other, one, Words("en"))
    assert tried >= 6


def test_the_open_page_has_all_views():
    done = lupai("replay", FILES["shiwei"], "--html", "-")
    assert (done.status, done.err) == (0, "")
    data = page_data(done.out)
    assert [v["name"] for v in data["views"]] == [
        "all cards open", *(f"view of seat {s}" for s in range(5)),
    ]  # fmt: skip
    assert len(data["views"][0]["steps"][0]["hands"]) == 5
    assert [list(v["steps"][0]["hands"]) for v in data["views"][1:]] == [[str(s)] for s in range(5)]
    assert "place 1" in data["views"][0]["end"]


# --- the page ------------------------------------------------------------------------------------

NASTY = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u2028\u2029\x1b[2J\x07",
    "\ud800 \u202e evil {data} {title} %s", '"&amp;<!--' + "長" * 500,
]  # fmt: skip


class Tags(html.parser.HTMLParser):
    """Counts elements."""

    def __init__(self):
        super().__init__()
        self.tags, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href") or k.startswith("on")]


@pytest.mark.parametrize("seat", [None, 3])
def test_names_are_only_text(seat):
    record = RECORDS["weihai"][0] | {"players": NASTY, "meta": {"x": "</script>"}}
    page = make_page(Replay(load_record(json.dumps(record))), seat, Words("zh"))
    page.encode("ascii", "xmlcharrefreplace")
    plain = make_page(Replay(RECORDS["weihai"][0]), seat, Words("zh"))
    found, expected = Tags(), Tags()
    found.feed(page)
    expected.feed(plain)
    assert found.tags == expected.tags
    assert found.outside == []
    assert page.count("</script>") == 2
    names = page_data(page)["names"]
    assert all(len(name) < 40 for name in names)
    assert all(c.isprintable() for name in names for c in name)


def test_names_do_not_steer_the_terminal(tmp_path):
    record = RECORDS["weihai"][0] | {"players": NASTY}
    path = tmp_path / "hands.jsonl"
    path.write_text(json.dumps(record), "utf-8")
    done = lupai("replay", path, "--all")
    assert done.status == 0
    assert not set("\x1b\x07\u2028\u202e") & set(done.out)
    assert max(width(line) for line in done.out.splitlines()) <= 80
    assert clean("\x1b[2J") == "?[2J"


def test_the_page_asks_nothing_of_the_network():
    page = lupai("replay", FILES["weihai"], "--html", "-", "--lang", "zh").out
    assert "default-src 'none'" in page
    assert not re.search(r"https?:|//\w|url\(|import\(|fetch|@import", page)
    assert page.isascii()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_runs(tmp_path):
    """With a small stand-in for the browser: all steps and views are shown, by buttons and keys."""
    page = lupai("replay", FILES["shiwei"], "--belief", "uniform", "--html", "-").out
    script = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0]
    stub = """
const nodes = {};
function node(id) {
  return nodes[id] = nodes[id] || {id, textContent: "", children: [], value: 0,
    appendChild(child) { this.children.push(child); }, set onchange(f) { this.change = f; }};
}
const listeners = {};
global.document = {
  getElementById: id => node(id),
  createElement: tag => ({tag, children: [], appendChild(c) { this.children.push(c); }}),
  addEventListener: (name, f) => { listeners[name] = f; },
};
node("data").textContent = require("fs").readFileSync(process.argv[2], "utf8");
"""
    after = """
const key = k => listeners.keydown({key: k, target: {tagName: "BODY"}, preventDefault() {}});
const seen = [node("step").textContent];
key("ArrowRight"); seen.push(node("step").textContent);
key("n"); key("ArrowLeft"); seen.push(node("step").textContent);
node("last").onclick(); node("next").onclick(); seen.push(node("step").textContent);
seen.push(node("end").textContent.includes("place 1"));
const drawn = JSON.stringify(node("seats"));
seen.push(drawn.includes('"meter"') && drawn.includes("guard 20 % (uniform)"));
key("Home"); seen.push(node("step").textContent);
node("view").change({target: {value: "3"}}); seen.push(node("move").textContent);
console.log(JSON.stringify(seen));
"""
    (tmp_path / "page.js").write_text(stub + script + after, "utf-8")
    (tmp_path / "data.json").write_text(json.dumps(page_data(page)), "utf-8")
    command = ["node", tmp_path / "page.js", tmp_path / "data.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    total = len(RECORDS["shiwei"][0]["moves"])
    bars = any(step["beliefs"] for step in page_data(page)["views"][0]["steps"][:3])
    assert json.loads(done.stdout) == [
        f"step 0 of {total}", f"step 1 of {total}", f"step 1 of {total}",
        f"step {total} of {total}", True, bars, f"step 0 of {total}", "as dealt",
    ]  # fmt: skip
