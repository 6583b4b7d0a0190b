"""Numbers of the command line: what is read, and what is refused and why."""

import argparse

import pytest

from lupai.train.cli.common import chance, minutes, positive, processes, seconds, whole


@pytest.mark.parametrize(
    ("read", "good", "bad", "why"),
    [
        (whole, {"0": 0, "7": 7}, ("-1", "1.5", "", "٣", "1" * 21), "no whole number"),
        (positive, {"1": 1}, ("0",), "at least 1"),
        (processes, {"2": 2}, ("99999",), "processes, not 99999"),
        (seconds, {"0.5": 0.5, "3600": 3600}, ("0", "3601", "nan", "x"), "time in seconds"),
        (minutes, {"1e-3": 0.001, "10080": 10080}, ("-1", "10081", "inf"), "time in minutes"),
        (chance, {"0": 0, "1": 1, ".05": 0.05}, ("-0.1", "1.01", "nan", "ten"), "no chance"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_numbers(read, good, bad, why):
    for text, value in good.items():
        assert read(text) == value
    for text in bad:
        with pytest.raises(argparse.ArgumentTypeError, match=why):
            read(text)
