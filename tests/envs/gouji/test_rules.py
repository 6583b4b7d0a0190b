"""Rule options of Gouji: what reads, what prints, what is refused."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from lupai.envs.errors import RulesError
from lupai.envs.gouji.rules import OPTION_NAMES, PRESETS, Rules, load_rules

VALUES: dict[str, tuple[object, ...]] = {
    "revolution": (True, False),
    "hand_sizes": ("ten", "always"),
    "burn_fail": (None, "last_place"),
    "tribute": (False, True),
    "end": ("side_out", "last_player"),
}


def test_the_preset_is_that_of_the_page() -> None:
    assert tuple(VALUES) == OPTION_NAMES
    assert {"shandong": {name: values[0] for name, values in VALUES.items()}} == PRESETS
    rules = load_rules()
    assert str(rules) == "shandong"
    assert rules.differing() == {"preset": "shandong"}


def test_all_rules_print_and_read_back(tmp_path: Path) -> None:
    texts = set()
    for values in itertools.product(*VALUES.values()):
        options: dict[str, Any] = dict(zip(VALUES, values, strict=True))
        rules = load_rules(options)
        assert rules.model_dump() == {"preset": "shandong"} | options
        assert load_rules(str(rules)) == load_rules(rules.differing()) == load_rules(rules) == rules
        texts.add(str(rules))
    assert len(texts) == 2**5
    assert "shandong;burn_fail=last_place;end=last_player" in texts
    path = tmp_path / "mine.yaml"
    path.write_text("preset: shandong\nburn_fail: last_place\nrevolution: false\n")
    assert str(load_rules(str(path))) == "shandong;revolution=false;burn_fail=last_place"


def test_null_reads_as_the_default() -> None:
    assert load_rules("shandong;burn_fail=null") == load_rules()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("qingdao", "unknown preset 'qingdao'; presets: shandong"),
        ("shandong;tribut=true", "unknown option 'tribut'; did you mean 'tribute'?"),
        ("shandong;tribute", "'tribute' is not option=value"),
        ("shandong;tribute=1", "option 'tribute' cannot be 1; allowed: true or false"),
        ("shandong;end=camp_out", "allowed: 'side_out' or 'last_player'"),
        ("shandong;hand_sizes=5", "allowed: 'ten' or 'always'"),
        (
            "shandong;burn_fail=yes",
            "option 'burn_fail' cannot be 'yes'; allowed: 'last_place' or n",
        ),
        ({"preset": 3}, "unknown preset 3"),
        ({"revolution": None}, "option 'revolution' cannot be None; allowed: true or false"),
        (7, "rules 7: give a preset's name"),
        ("none.yaml", "none.yaml"),
    ],
)
def test_what_is_refused(source: Any, message: str) -> None:
    with pytest.raises(RulesError) as error:
        load_rules(source)
    assert message in str(error.value)


def test_rules_cannot_be_changed() -> None:
    rules = load_rules()
    with pytest.raises(ValueError, match="frozen"):
        rules.tribute = True  # type: ignore[misc]
    assert isinstance(rules, Rules)
