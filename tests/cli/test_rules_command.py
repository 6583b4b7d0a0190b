"""`lupai rules`, and --rules with --option everywhere."""

import json
import random

import pytest

from lupai.envs.baohuang.rules import OPTION_NAMES, PRESETS, load_rules
from lupai.train.cli import make_parser
from lupai.train.cli.common import read_rules
from lupai.train.cli.rules import ABOUT, allowed
from lupai.train.cli.words import width
from tests.cli.running import lupai, process
from tests.oracle.options import ALLOWED, OPTIONS
from tests.oracle.options import PRESETS as TABLE
from tests.oracle.random_play import random_rules


@pytest.mark.smoke
def test_all_options_with_meaning_values_and_presets():
    done = lupai("rules")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(width(line) for line in lines) <= 80
    assert set(ABOUT) == set(PRESETS)
    for name in OPTIONS:
        at = next(i for i, line in enumerate(lines) if line.split(" ")[0] == name)
        assert len(lines[at].split()) == 4
        assert lines[at + 1].startswith("    ")
        assert any(line.startswith("    values: ") for line in lines[at + 1 : at + 4])


def test_values_are_those_of_the_table():
    """The oracle has the table of the rules page in its own words."""
    done = json.loads(lupai("rules", "--json").out)
    assert list(done["options"]) == list(OPTION_NAMES)
    assert set(OPTIONS) == set(OPTION_NAMES)
    for name, about in done["options"].items():
        for preset in TABLE:
            assert about[preset] == TABLE[preset].get(name)
            assert done["presets"][preset][name] == about[preset]
        if name not in ("deck", "abandon_penalty"):
            assert set(about["values"]) == set(ALLOWED.get(name, (False, True)))
            assert allowed(name) == about["values"]


@pytest.mark.parametrize("preset", PRESETS)
def test_one_preset(preset):
    done = lupai("rules", preset)
    lines = done.out.splitlines()
    assert lines[0] == preset
    assert max(width(line) for line in lines) <= 80
    for name, value in json.loads(lupai("rules", preset, "--json").out).items():
        if name not in ("rules", "preset"):
            shown = "-" if value is None else json.dumps(value).strip('"')
            assert any(line.split() == [name, shown] for line in lines)


@pytest.mark.parametrize("mine", PRESETS)
@pytest.mark.parametrize("other", PRESETS)
def test_diff_is_what_differs(mine, other):
    named = {name for name in OPTIONS if TABLE[mine].get(name) != TABLE[other].get(name)}
    as_json = json.loads(lupai("rules", mine, "--diff", other, "--json").out)
    assert set(as_json) == named
    for name, values in as_json.items():
        assert values == {"rules": TABLE[mine].get(name), "diff": TABLE[other].get(name)}
    lines = lupai("rules", mine, "--diff", other).out.splitlines()
    assert max(width(line) for line in lines) <= 80
    if mine == other:
        assert lines == ["no option differs"]
    else:
        assert lines[0].split() == ["option", mine, other]
        assert {line.split(" ")[0] for line in lines[1:] if line[0] != " "} == named


def test_a_table_of_ones_own(tmp_path):
    path = tmp_path / "my_table.yaml"
    path.write_text("preset: weihai\nvotes_needed: 3\nend: camp_out\n", "utf-8")
    rules = "weihai;votes_needed=3;end=camp_out"
    assert lupai("rules", path).out.splitlines()[0] == rules
    words = ("--option", "votes_needed=3", "--option", "end=camp_out")
    assert lupai("rules", "weihai", *words).out == lupai("rules", path).out
    done = lupai("rules", rules, "--diff", "weihai;end=camp_out")
    assert done.out.split() == [
        "option", "first", "second", "votes_needed", "3", "2",
        *["votes", "that", "a", "larger", "camp", "needs"],
    ]  # fmt: skip
    deck = " ".join(["R*", *[f"{r}{s}" for r in "6789TJQKA2" for s in "sh" for _ in range(4)]])
    for other in ([], ["--diff", "qingdao"]):
        done = lupai("rules", f"qingdao;deck={deck}", *other)
        assert done.status == 0
        assert max(width(line) for line in done.out.splitlines()) <= 80


def test_a_terminal_without_chinese():
    done = process("rules", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"votes_needed" in done.stdout


# --- --rules and --option -------------------------------------------------------------


def test_every_command_with_rules_has_options():
    """One helper adds both and reads both."""
    commands = make_parser()._subparsers._group_actions[0].choices
    with_rules = {n for n, p in commands.items() if "--rules" in p._option_string_actions}
    assert with_rules == {"legal", "record", "play", "evaluate", "arena", "bench"}
    assert all("--option" in commands[name]._option_string_actions for name in with_rules)


@pytest.mark.parametrize("seed", range(40))
def test_options_one_by_one_are_the_rules(seed):
    """Any rules can be had from their preset by options alone, and print and read back."""
    rules = load_rules(random_rules(random.Random(seed), named_deck=0.3))
    changes = [f"{n}={_text(v)}" for n, v in rules.differing().items() if n != "preset"]
    random.Random(seed).shuffle(changes)
    assert read_rules(rules.preset, changes) == rules
    assert read_rules(str(rules), []) == rules
    assert load_rules(rules.differing()) == rules


def _text(value):
    return " ".join(value) if isinstance(value, list) else json.dumps(value).strip('"')


def test_the_string_is_stored_in_records():
    done = lupai("record", "--rules", "weihai", "--option", "votes_needed=1", "-o", "-")
    record = json.loads(done.out)
    assert record["rules"] == {"preset": "weihai", "votes_needed": 1}
    assert record["meta"]["lupai"]["rules"] == "weihai;votes_needed=1"
    assert lupai("verify", "-", stdin=done.out.encode()).out == "1 hand, 0 faults\n"


def test_a_yaml_file_is_rules_everywhere(tmp_path):
    path = tmp_path / "my.yml"
    path.write_text("{preset: shiwei, yield: true}", "utf-8")
    done = lupai("legal", "--rules", path, "--hand", "9c", "--standing", "8")
    assert done.out == "pass\nyield\nplay 9\n"
    record = json.loads(lupai("record", "--rules", path, "-o", "-").out)
    assert record["rules"] == {"preset": "shiwei", "yield": True}
    done = lupai("play", "--rules", path, "--seed", "1", stdin=b"q\n")
    assert "Baohuang (shiwei;yield=true)" in done.out
    words = ("--against", "random", "--hands", "5", "--format", "seat")
    done = lupai("evaluate", "random", "--rules", path, *words)
    assert "rules shiwei;yield=true" in done.out
    done = lupai("bench", "--rules", path, "--repeats", "1", "--seconds", "0.001")
    assert "rules: shiwei;yield=true" in done.out


BAD_YAML = {
    "": "a mapping",
    "[]": "a mapping",
    "preset: nowhere": "unknown preset",
    "preset: [": "no YAML",
    "1: 2": "a mapping",
    "preset: weihai\nvotes_needed: 2.0": "'votes_needed' cannot be 2.0",
    "preset: weihai\nvotes_needed: yes": "'votes_needed' cannot be True",
    "votes_needed: 0x" + "f" * 9000: "a huge number",
    "a: " + "[" * 5000: "no YAML",
    "deck: !!python/object:os.system {}": "no YAML",
}


@pytest.mark.parametrize(("text", "says"), BAD_YAML.items(), ids=lambda t: t[:20])
def test_bad_files_are_one_line(tmp_path, text, says):
    path = tmp_path / "my.yaml"
    path.write_text(text, "utf-8")
    done = lupai("rules", path)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("lupai: error: rules")
    assert says in done.err
    assert done.err.count("\n") == 1
    assert len(done.err) < 700
    path.write_bytes(b"\xff\xfe\x00")
    assert "no YAML" in lupai("rules", path).err
