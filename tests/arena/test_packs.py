"""Packs of deals: what they hold is what they say, and an altered one is refused."""

import json

import numpy as np
import pytest

from lupai.envs.baohuang.engine import Engine
from lupai.envs.baohuang.rules import PRESETS
from lupai.train.arena.caller import call_hands
from lupai.train.arena.games.baohuang import ONLY
from lupai.train.arena.packs import SHIPPED, PackError, load_pack, make_pack, read_pack


@pytest.mark.smoke
@pytest.mark.parametrize("rules", PRESETS)
def test_packs_that_come_with_lupai(rules):
    packs = [load_pack(name, rules) for name in SHIPPED]
    seeds = [set(pack.hand_seeds(np.arange(pack.count)).tolist()) for pack in packs]
    assert all(pack.rules == rules and pack.count == 10_000 for pack in packs)
    assert [len(s) for s in seeds] == [10_000, 10_000]
    assert not seeds[0] & seeds[1]  # nothing is tuned on what is reported


def test_their_digests_never_change():
    """Published numbers name them."""
    assert load_pack("dev", "qingdao").sha256.startswith("cba6e2f82a7af4e1")
    assert load_pack("test", "weihai").hand_seeds(np.array([7]))[0] == TEST_WEIHAI_7


TEST_WEIHAI_7 = 126497775753080


def test_deals_are_those_of_record():
    """Deal i is episode i of the seed, as `lupai record` and `env.reset` deal it."""
    pack = make_pack("qingdao", 5, 9)
    state = Engine().reset(np.full(5, 9, np.uint64), np.arange(5))
    assert (pack.hand_seeds(np.arange(5)) == state.seeds[:, 0]).all()


@pytest.mark.parametrize("only", ONLY)
def test_certain_deals_are_so(only):
    rules = "weihai" if only == "solo" else "qingdao"
    pack = make_pack(rules, 40, 3, only)
    state = Engine(rules).reset(pack.hand_seeds(np.arange(40)))
    call_hands(Engine(rules), state, pack.calling)
    if only == "secret_guard":
        assert (state.guard >= 0).all()
        assert not state.public.any()
    else:
        assert (state.guard < 0).all()
        assert (state.solo == (1 if only == "grab" else 3)).all()
    if only == "grab":
        assert set(state.emperor.tolist()) == set(range(5))  # no seat is preferred
    assert not state.over.any()
    assert make_pack(rules, 20, 3, only).seeds == pack.seeds[:20]


def test_a_round_trip_and_the_name_is_not_in_the_digest():
    for only in (None, "solo"):
        pack = make_pack("qingdao", 12, 1, only)
        assert read_pack(pack.to_text(), "x") == pack
        assert make_pack("qingdao", 12, 1, only, name="other").sha256 == pack.sha256
    assert make_pack("qingdao", 13, 1).sha256 != make_pack("qingdao", 12, 1).sha256


@pytest.mark.parametrize("key", ["rules", "seed", "start", "count", "only", "calling", "seeds"])
def test_an_altered_pack_is_refused(key, tmp_path):
    pack = make_pack("qingdao", 5, 1, "secret_guard")
    data = json.loads(pack.to_text())
    other = {"rules": "shiwei", "calling": "solo", "only": "solo", "count": 4}
    data[key] = other.get(key, 77)
    if key == "seeds":
        data[key] = [*pack.seeds[:-1], 5]
    if key == "count":
        data["seeds"] = data["seeds"][:4]
    path = tmp_path / "pack.json"
    path.write_text(json.dumps(data))
    with pytest.raises(PackError, match="altered or damaged"):
        load_pack(str(path))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "no JSON"),
        ("[]", "no pack of format"),
        ('{"format": "lupai-deals/1"}', "whole numbers"),
        ('{"format": "lupai-deals/1", "seed": 1, "start": 0, "count": 0}', "count is in"),
        ('{"format": "lupai-deals/1", "seed": 1, "start": 0, "count": 1, "rules": "x", "name": "",'
         ' "calling": "players"}', "preset"),
        ('{"format": "lupai-deals/1", "seed": 1, "start": 0, "count": 1, "rules": "qingdao",'
         ' "name": "", "calling": "players", "more": 1}', "more"),
    ],
)  # fmt: skip
def test_what_is_no_pack(text, part):
    with pytest.raises(PackError, match=part):
        read_pack(text, "some")


def test_other_rules_and_missing_packs_are_named():
    with pytest.raises(PackError, match="'qingdao', not of 'qingdao;yield=false'"):
        load_pack("dev", "qingdao;yield=false")
    with pytest.raises(PackError, match="no such file; packs of lupai: dev, test"):
        load_pack("nothing")
    with pytest.raises(PackError, match="secret_guard, solo, grab"):
        make_pack("qingdao", 5, 1, "nothing")
    with pytest.raises(PackError, match="none among 20,000 deals"):
        make_pack("weihai", 5, 1, "grab")
