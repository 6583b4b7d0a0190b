"""The command as a whole: help, version, exit statuses, and one line for whatever goes wrong."""

import os
import subprocess
import sys

import pytest

import lupai
from lupai.train.cli import GROUPS, bench
from tests.cli.running import COMMAND, process
from tests.cli.running import lupai as run

NAMES = ("legal", "record", "verify", "replay", "play", "rules", "train", "evaluate", "bench")
NAMES += ("arena", "deals", "leaderboard", "belief")


@pytest.mark.smoke
def test_help_has_examples_everywhere():
    done = run("--help")
    assert done.status == 0
    assert all(name in done.out for name in NAMES)
    for name in NAMES:
        done = run(name, "--help")
        assert (done.status, done.err) == (0, "")
        assert f"examples:\n  lupai {name}" in done.out
        assert max(len(line) for line in done.out.splitlines()) <= 100


@pytest.mark.smoke
def test_version():
    assert run("--version").out == f"lupai {lupai.__version__}\n"


@pytest.mark.smoke
def test_no_heavy_import_without_need():
    """Only train and trained agents import torch and Ray; help imports no PettingZoo either."""
    code = (
        "import sys; from lupai.train.cli import main; main(['legal', '--hand', '9c']);"
        "print([m for m in ('torch', 'ray', 'pettingzoo', 'tensorboard') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "play 9\n[]\n"


WRONG = [
    "",
    "nonsense",
    "--nonsense",
    "legal",
    "legal --hand",
    "legal extra --hand 9c",
    "verify",
    "verify /no/such/file",
    "verify /",
    "record",
    "record -o",
    "record -o /",
    "record -o=",
    "record -o /no/such/folder/file",
    "record -o - --hands 0",
    "record -o - --hands -1",
    "record -o - --hands 1e3",
    "record -o - --hands ٣",
    "record -o - --seed x",
    "record -o - --seed -1",
    "record -o - --seed 18446744073709551616",
    "record -o - --seed " + "9" * 5000,
    "record -o - --players nobody",
    "record -o - --players random,random",
    "record -o - --players random,,random,random,random",
    "record -o - --players /",
    "record -o - --rules nowhere",
    "record -o - --rules weihai --option grab=true",
    "record -o - --rules /no/such/table.yaml",
    "record -o - --option yield",
    "record -o - --option =",
    "rules nowhere",
    "rules --diff qingdao",
    "rules --option yield=true",
    "rules weihai --diff nowhere",
    "rules weihai --diff",
    "rules weihai --option grab=true",
    "rules weihai --option yield=maybe",
    "rules /no/such/table.yaml",
    "replay",
    "replay /no/such/file",
    "replay /",
    "replay -",
    "replay - --all",
    "replay - --all --seat 5",
    "replay - --all --seat 1 --open",
    "replay - --all --html x",
    "replay - --all --hand 0",
    "replay - --html /no/such/folder/file",
    "record -o - --rules qingdao;deck=[]",
    "record -o - --rules qingdao;yield",
    "record -o - --game chess",
    "play --seat 5",
    "play --seat x",
    "play --seed x",
    "play --lang fr",
    "play --against nobody",
    "play --against random,random",
    "play --rules shiwei --option open_solo=true",
    "train",
    "train nowhere",
    "train ppo.lr=1",
    "train qingdao_quick nonsense",
    "train qingdao_quick nonsense=1",
    "train qingdao_quick rules=nowhere",
    "train --resume /no/such/run",
    "train --resume /no/such/run nonsense",
    "train --resume /no/such/run --replace",
    "evaluate",
    "evaluate nobody",
    "evaluate random --against nobody",
    "evaluate random --against=",
    "evaluate random --format nonsense",
    "evaluate random --hands 0",
    "evaluate random --seed -1",
    "evaluate random --rules nowhere",
    "evaluate random -o /no/such/folder/file",
    "bench --repeats 0",
    "bench --seconds 0",
    "bench --seconds nan",
    "bench --seconds x",
    "bench --rules nowhere",
]


@pytest.mark.parametrize("words", WRONG, ids=lambda w: w[:50] or "nothing")
def test_wrong_words_are_one_line_and_status_2(words):
    done = run(*words.split(" ") if words else ())
    assert done.status == 2
    assert done.err.startswith("lupai: error: ")
    assert done.err.count("\n") == 1
    assert len(done.err) < 1000
    assert "Traceback" not in done.out + done.err
    assert "internal error" not in done.err


def test_a_fault_of_the_program_is_one_line_too(monkeypatch):
    def fail(_):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(bench, "run", fail)
    done = run("bench")
    assert done.status == 70
    assert "error: internal error, RuntimeError: two lines (LUPAI_DEBUG=1 shows where" in done.err
    assert done.err.count("\n") == 1
    monkeypatch.setenv("LUPAI_DEBUG", "1")
    with pytest.raises(RuntimeError):
        run("bench")


def test_interrupt_is_130(monkeypatch):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "run", stop)
    done = run("bench")
    assert (done.status, done.err) == (130, "lupai: error: interrupted\n")


@pytest.mark.parametrize("locale", ["C", "POSIX", "xx_XX.KOI8-R"])
def test_locale_does_not_matter(tmp_path, locale):
    """Names of files and agents are UTF-8 whatever the locale says."""
    path = tmp_path / "牌.jsonl"
    done = process("record", "-o", path, LC_ALL=locale, LANG=locale, PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    done = process("verify", path, LC_ALL=locale, LANG=locale, PYTHONUTF8="0")
    assert done.stdout.endswith(b"1 hand, 0 faults\n")
    done = process("verify", tmp_path / "无", LC_ALL=locale, LANG=locale, PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="closes descriptors as a POSIX shell does")
@pytest.mark.parametrize("words", ["verify - <&-", "legal --hand 9c >&-", "verify - <&- 2>&-"])
def test_closed_streams(words):
    command = " ".join(COMMAND) + " " + words
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words", ["record -o /dev/full", "record -o - >/dev/full", "play >/dev/full"]
)
def test_full_disk(words):
    command = " ".join(COMMAND) + " " + words
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr


def test_every_group_adds_commands():
    assert set(GROUPS) == {
        "legal", "records", "replay", "play", "rules", "training", "bench", "arena", "deals",
        "leaderboard", "runs", "agents", "belief",
    }  # fmt: skip
