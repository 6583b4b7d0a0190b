"""Scores against plain loops, known cases, and intervals against what they must hold."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from lupai.train.belief.scores import (
    BINS,
    FLOOR,
    METRICS,
    Answers,
    auroc,
    bin_of,
    reliability,
    score,
)
from lupai.train.belief.survival import identified, kaplan_meier, survival


def made(rng, hands=40, sure=1.0, length=30):
    """Answers whose chances are right if ``sure`` is 1, too sure above."""
    counts = rng.integers(1, length, hands)
    hand = np.repeat(np.arange(hands), counts)
    n = len(hand)
    number = np.concatenate([np.arange(c) for c in counts])
    some = np.ones((n, 6), bool)
    some[:, 0] = False
    some[np.arange(n), 1 + hand % 4] = False
    true = rng.dirichlet(np.ones(6), n) * some
    true /= true.sum(axis=1, keepdims=True)
    label = (true.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1)
    told = true**sure
    told /= told.sum(axis=1, keepdims=True)
    grounded = some / some.sum(axis=1, keepdims=True)
    return Answers(hand * 3, number, number // 4, label, told, grounded, some)


def plain(answers):
    """Everything by loops over single answers."""
    n = len(answers)
    losses, gains, brier, pairs, ranked = 0.0, 0.0, 0.0, [], ([], [])
    for i in range(n):
        told, label = answers.chances[i], int(answers.label[i])
        loss = -math.log(max(told[label], FLOOR))
        losses += loss
        gains += -math.log(max(answers.grounded[i, label], FLOOR)) - loss
        brier += sum((told[c] - (c == label)) ** 2 for c in range(6))
        for c in range(6):
            if answers.candidates[i, c]:
                pairs.append((told[c], c == label))
                if c < 5:
                    ranked[c == label].append(told[c])
    out = {"log_loss": losses / n, "gain": gains / n, "brier": brier / n}
    out["skill"] = gains / (gains + losses)
    edges = np.quantile([p for p, _ in pairs], [k / BINS for k in range(1, BINS)])
    bins = [[] for _ in range(BINS)]
    for p, y in pairs:
        bins[sum(p >= edge for edge in edges)].append((p, y))
    base = sum(y for _, y in pairs) / len(pairs)
    rel = res = ece = wbv = wbc = 0.0
    for some in bins:
        if not some:
            continue
        share = len(some) / len(pairs)
        said = sum(p for p, _ in some) / len(some)
        true = sum(y for _, y in some) / len(some)
        rel += share * (said - true) ** 2
        res += share * (true - base) ** 2
        ece += share * abs(said - true)
        wbv += sum((p - said) ** 2 for p, _ in some) / len(pairs)
        wbc += sum(2 * (p - said) * (y - true) for p, y in some) / len(pairs)
    scale = len(pairs) / n
    out |= {
        "reliability": rel * scale, "resolution": res * scale,
        "uncertainty": base * (1 - base) * scale, "within": (wbv - wbc) * scale, "ece": ece,
    }  # fmt: skip
    rebels, guards = ranked
    wins = sum((g > r) + (g == r) / 2 for g in guards for r in rebels)
    out["auroc"] = wins / (len(guards) * len(rebels))
    return out


@pytest.mark.parametrize("sure", [0.5, 1.0, 3.0])
def test_all_metrics_are_those_of_plain_loops(sure):
    """Stephenson, Coelho and Jolliffe (2008) for what bins hide of Brier."""
    answers = made(np.random.default_rng(3), sure=sure)
    found, expected = score(answers, 1, resamples=50), plain(answers)
    assert set(found) == set(expected) == set(METRICS) - {"recovered", "ece_before"}
    for name, value in expected.items():
        assert found[name]["value"] == pytest.approx(value, abs=1e-6), name
    parts = {name: found[name]["value"] for name in found}
    told = parts["reliability"] - parts["resolution"] + parts["uncertainty"] + parts["within"]
    assert told == pytest.approx(parts["brier"], abs=1e-12)


def test_known_cases():
    """Sure and right; uniform; sure and wrong."""
    answers = made(np.random.default_rng(0))
    right = np.eye(6)[answers.label]
    best = score(Answers(**vars(answers) | {"chances": right}), 1, resamples=20)
    for name, value in {"log_loss": 0, "brier": 0, "ece": 0, "auroc": 1, "reliability": 0}.items():
        assert best[name]["value"] == pytest.approx(value, abs=1e-12)
    assert best["resolution"]["value"] == pytest.approx(best["uncertainty"]["value"])
    same = score(Answers(**vars(answers) | {"chances": answers.grounded}), 1, resamples=20)
    assert same["gain"] == {"value": 0, "low": 0, "high": 0}
    assert same["auroc"]["value"] == 0.5
    wrong = np.roll(right, 1, axis=1)
    worst = score(Answers(**vars(answers) | {"chances": wrong}), 1, resamples=20)
    assert worst["log_loss"]["value"] == pytest.approx(-math.log(FLOOR))
    assert worst["brier"]["value"] == 2


def test_right_chances_are_calibrated_and_sure_ones_are_not():
    rng = np.random.default_rng(5)
    good, bad = (score(made(rng, 600, sure), 1, resamples=100) for sure in (1.0, 3.0))
    assert good["ece"]["value"] < 0.02 < bad["ece"]["low"]
    assert good["reliability"]["low"] == 0
    assert bad["log_loss"]["low"] > good["log_loss"]["high"]


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Of right chances the expected log loss and AUROC are known from many hands."""
    rng = np.random.default_rng(11)
    truth = score(made(rng, 20_000, 2.0, 6), 1, resamples=2)
    held = dict.fromkeys(("log_loss", "brier", "auroc"), 0)
    for _ in range(100):
        told = score(made(rng, 60, 2.0, 6), 1, resamples=200)
        for name in held:
            held[name] += told[name]["low"] <= truth[name]["value"] <= told[name]["high"]
    assert min(held.values()) >= 86, held  # of 95 expected: less comes once in 10,000 times


def test_recovered_is_a_share_of_the_references_gain():
    answers = made(np.random.default_rng(2))
    whole = score(answers, 1, reference=answers.gains, resamples=50)["recovered"]
    half = score(answers, 1, reference=2 * answers.gains, resamples=50)["recovered"]
    assert whole == pytest.approx({"value": 1, "low": 1, "high": 1})
    assert half["value"] == pytest.approx(0.5)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_calibration_is_told_before_and_after_a_temperature(temperature):
    """Chances softened by a temperature are told to have come from those before it."""
    before = made(np.random.default_rng(2), sure=2.0)
    soft = before.chances ** (1 / temperature)
    after = Answers(**vars(before) | {"chances": soft / soft.sum(axis=1, keepdims=True)})
    told = score(after, 1, temperature=temperature, resamples=50)
    assert told["ece_before"] == pytest.approx(score(before, 1, resamples=50)["ece"])
    assert told["ece"] == score(after, 1, resamples=50)["ece"]
    assert (told["ece"] == told["ece_before"]) == (temperature == 1)


def test_auroc_by_hand():
    told = np.array([0.1, 0.4, 0.35, 0.8])
    true = np.array([False, False, True, True])
    assert auroc(told, true) == 0.75
    assert auroc(told, true, np.array([1, 0, 1, 1])) == 1
    assert auroc(np.ones(4), true) == 0.5
    assert math.isnan(auroc(told, np.ones(4, bool)))


def test_bins_have_equal_mass_and_equal_chances_stay_together():
    rng = np.random.default_rng(0)
    count = np.bincount(bin_of(rng.random(15_000)), minlength=BINS)
    assert (abs(count - 1000) <= 1).all()
    assert len(set(bin_of(np.full(100, 0.25)).tolist())) == 1
    answers = made(rng, 200)
    bins = reliability(answers)
    assert sum(entry["pairs"] for entry in bins) == answers.candidates.sum()
    assert all(a["chance"] < b["chance"] for a, b in pairwise(bins))


def test_one_hand_has_values_and_no_intervals():
    told = score(made(np.random.default_rng(0), hands=1), 1)
    assert told["log_loss"]["value"] is not None
    assert all(entry["low"] is None and entry["high"] is None for entry in told.values())


# --- time to identify -------------------------------------------------------------------------


def answers_of(*hands):
    """Hands as lists of (trick, chance of the truth)."""
    rows = [(h, k, trick, p) for h, hand in enumerate(hands) for k, (trick, p) in enumerate(hand)]
    hand, number, trick = (np.array([row[i] for row in rows]) for i in range(3))
    chances = np.zeros((len(rows), 6))
    chances[:, 2] = [row[3] for row in rows]
    chances[:, 3] = 1 - chances[:, 2]
    label = np.full(len(rows), 2)
    return Answers(hand, number, trick, label, chances, chances, np.ones((len(rows), 6), bool))


def test_identified_is_the_first_decision_after_which_it_stays():
    answers = answers_of(
        [(1, 0.5), (2, 0.95), (3, 0.3), (4, 0.9), (5, 0.99)],
        [(0, 0.9), (1, 0.9)],
        [(1, 0.99), (2, 0.89)],
        [(7, 0.1)],
    )
    times, found = identified(answers)
    assert times.tolist() == [4, 0, 2, 7]
    assert found.tolist() == [True, True, False, False]
    told = survival(answers, 1, 100)
    assert (told["hands"], told["identified"]) == (4, 0.5)
    assert [entry["hands"] for entry in told["curve"]] == [4, 3, 3, 2, 2, 1, 1, 1]
    assert told["curve"][0]["value"] == 0.75
    assert told["curve"][4]["value"] == pytest.approx(0.75 / 2)
    assert told["median"] == 4


def test_kaplan_meier_of_a_textbook():
    """6-MP group of Freireich et al. (1963), as in Kleinbaum and Klein, Survival Analysis."""
    times = [6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]
    found = np.arange(21) < 9
    curve = kaplan_meier(np.array(times), found)
    expected = {5: 1, 6: 0.8571, 7: 0.8067, 10: 0.7529, 13: 0.6902, 16: 0.6275, 22: 0.5378}
    for time, value in (expected | {23: 0.4482, 35: 0.4482}).items():
        assert curve[time] == pytest.approx(value, abs=5e-5)
    weight = np.stack([np.ones(21), np.arange(21) % 3])
    twice = kaplan_meier(np.array(times), found, weight)
    assert np.allclose(twice[0], curve)
    again = np.repeat(np.arange(21), np.arange(21) % 3)
    known = kaplan_meier(np.array(times)[again], found[again])
    assert np.allclose(twice[1][: len(known)], known)
