"""Training configs: what is allowed, and one clear line for what is not."""

from __future__ import annotations

from importlib import resources

import pytest

from lupai.train.config import ConfigError, TrainConfig, dump_config, load_config, parse_config

SMALL = {"name": "a", "stop": {"steps": 10}}
SHIPPED = sorted(
    entry.name
    for entry in resources.files("lupai.configs").iterdir()
    if entry.name.endswith(".yaml")
)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_configs_load_by_name_and_by_path(name, tmp_path):
    text = resources.files("lupai.configs").joinpath(name).read_text(encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert load_config(name.removesuffix(".yaml")) == load_config(tmp_path / name)


def test_the_quick_config_is_shipped():
    assert "qingdao_quick.yaml" in SHIPPED
    assert load_config("qingdao_quick").run_folder.as_posix() == "runs/quick"


@pytest.mark.parametrize("name", SHIPPED)
def test_dumped_configs_read_back_equal(name, tmp_path):
    config = load_config(name, ["ppo.lr=1e-4", "workers.cpus=2"])
    (tmp_path / "c.yaml").write_text(dump_config(config), encoding="utf-8")
    assert load_config(tmp_path / "c.yaml") == config


def test_overrides_reach_sections_and_later_ones_win():
    config = parse_config(
        SMALL, ["ppo.lr=1e-4", "ppo.lambda=0.9", "ppo.lr=2e-4", "network.hidden=[8, 4]", "seed=0"]
    )
    assert config.ppo.lr == 2e-4
    assert config.ppo.lambda_ == 0.9
    assert config.network.hidden == (8, 4)
    assert config.seed == 0


def test_overrides_do_not_change_what_was_given():
    data = {"name": "a", "stop": {"steps": 10}}
    parse_config(data, ["stop.steps=99"])
    assert data["stop"]["steps"] == 10


def test_rules_may_be_a_string_or_options():
    deck = "3s 3h 4s 4h 5s 5h 6s 6h 7s 7h R*"
    by_text = parse_config({**SMALL, "rules": f"qingdao;deck={deck}"})
    by_dict = parse_config({**SMALL, "rules": {"preset": "qingdao", "deck": deck.split(" ")}})
    assert by_text.rules_string == by_dict.rules_string == f"qingdao;deck={deck}"


@pytest.mark.parametrize(
    ("data", "overrides", "parts"),
    [
        ({**SMALL, "ppo": {"lrr": 1}}, [], ["'ppo.lrr'", "did you mean 'lr'", "epochs"]),
        ({**SMALL, "pppo": {}}, [], ["'pppo'", "did you mean 'ppo'"]),
        ({**SMALL, "ppo": {"lr": -1}}, [], ["ppo.lr", "-1", "greater than 0"]),
        ({**SMALL, "ppo": {"lr": "fast"}}, [], ["ppo.lr", "'fast'", "number"]),
        ({**SMALL, "ppo": {"lr": float("nan")}}, [], ["ppo.lr", "nan"]),
        ({**SMALL, "env": {"skip": "all"}}, [], ["env.skip", "'all'", "'forced'"]),
        ({**SMALL, "network": {"hidden": []}}, [], ["network.hidden", "at least 1"]),
        ({**SMALL, "network": {"hidden": [0]}}, [], ["network.hidden", "1 to 8192"]),
        ({"stop": {"steps": 1}}, [], ["'name'", "missing"]),
        ({"name": "a"}, [], ["'stop'", "missing"]),
        ({"name": "a", "stop": {}}, [], ["stop", "minutes, steps or both"]),
        ({**SMALL, "name": "../up"}, [], ["name", "'../up'"]),
        ({**SMALL, "rules": "qingdoa"}, [], ["rules", "qingdoa", "qingdao"]),
        ({**SMALL, "rules": "weihai;grab=true"}, [], ["rules", "grab", "no meaning"]),
        ({**SMALL, "rules": 5}, [], ["rules", "5"]),
        ({**SMALL, "ppo": 5}, [], ["ppo", "5"]),
        (SMALL, ["ppo.lr=0"], ["override 'ppo.lr=0'", "greater than 0"]),
        (SMALL, ["ppo.lrr=1"], ["override 'ppo.lrr=1'", "unknown key"]),
        (SMALL, ["ppo.lr"], ["override 'ppo.lr'", "key=value"]),
        (SMALL, ["=3"], ["key=value"]),
        ({**SMALL, "seed": 1}, ["seed.x=3"], ["seed", "single value"]),
        (SMALL, ["ppo.lr=[1"], ["not YAML"]),
        (
            SMALL,
            ["ppo.batch_size=100", "ppo.minibatch_size=200"],
            ["minibatch_size (200)", "batch_size (100)"],
        ),
    ],
)
def test_mistakes_are_one_clear_line(data, overrides, parts):
    with pytest.raises(ConfigError) as caught:
        parse_config(data, overrides, where="x.yaml")
    text = str(caught.value)
    assert "\n" not in text
    assert overrides or "x.yaml" in text
    for part in parts:
        assert part in text


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="qingdao_quick"):
        load_config(tmp_path / "nothing.yaml")
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(ConfigError, match="keys and values"):
        load_config(tmp_path / "list.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    with pytest.raises(ConfigError, match="not YAML"):
        load_config(tmp_path / "broken.yaml")


def test_every_key_is_explained():
    """The description is the help text of the key."""
    for name, field in TrainConfig.model_fields.items():
        section = field.annotation
        if hasattr(section, "model_fields"):
            for key, inner in section.model_fields.items():
                assert inner.description, f"{name}.{key}"
        else:
            assert field.description, name
