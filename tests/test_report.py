"""The worked report and the trace: byte for byte for seed 17, right for every seed."""

import re
from pathlib import Path

import numpy as np
import pytest

from coursekit import errors, initializers, report
from coursekit.rng import SplitMix64

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", ["report", "trace"])
def test_seed_17_gives_the_golden_bytes(name):
    text = {"report": report.worked_report, "trace": report.trace}[name]()
    assert text.encode() == (GOLDEN / f"{name}.txt").read_bytes()


@pytest.mark.parametrize("seed", [0, 18, 2**64 - 1, np.uint64(2**64 - 1)])
def test_another_seed_is_computed(seed):
    lines = report.worked_report(seed).splitlines()
    assert len(lines) == 12
    assert lines[0] == f"seed: {seed}"
    weights = initializers.xavier_uniform(2, 2, SplitMix64(seed)).ravel()
    assert lines[4] == "weights: " + ",".join(f"{weight:.12f}" for weight in weights)
    assert lines[5:7] == ["same seed reproduces: true", "different seed differs: true"]
    assert lines[10].endswith("rng-unchanged=true")


@pytest.mark.parametrize("seed", [0, 5, 2**64 - 1])
def test_the_trace_of_another_seed_counts_every_weight(seed):
    text = report.trace(seed)
    lines = text.splitlines()
    assert len(lines) == 15
    histograms = [line for line in lines if line.startswith("HISTOGRAM")]
    for line in histograms:
        counts = map(int, re.search(r"counts=([\d,]+)", line)[1].split(","))
        beyond = int(re.search(r"underflow=(\d+)", line)[1]) + int(line.rsplit("=", 1)[1])
        assert sum(counts) + beyond == 4096
    assert f"alternate-seed={(seed + 1) % 2**64} alternate-seed-different=yes" in text
    assert f"seed={seed} same-seed-equal=yes" in text


def test_weights_beyond_the_bins_are_counted_as_such(monkeypatch):
    monkeypatch.setattr(report, "OVERSIZED", 4.0)
    (line,) = (line for line in report.trace().splitlines() if "HISTOGRAM kind=oversized" in line)
    beyond = np.abs(4.0 * initializers.xavier_uniform(64, 64, SplitMix64(17))) > 0.45
    under, over = re.search(r"underflow=(\d+) overflow=(\d+)", line).groups()
    assert int(under) + int(over) == beyond.sum() > 0


def test_a_start_that_does_not_repeat_would_be_reported(monkeypatch):
    draws = iter(range(100))
    drawn = report._diagnostic(17)
    monkeypatch.setattr(report, "_diagnostic", lambda seed: drawn + next(draws))
    assert "same-seed-equal=no" in report.trace()


def test_a_request_that_is_not_refused_would_be_reported(monkeypatch):
    class Anything(report.NamedParameters):
        def __init__(self, parameters):
            super().__init__(list(parameters)[:1])

    monkeypatch.setattr(report, "NamedParameters", Anything)
    assert "duplicate-name-accepted" in report.worked_report()


@pytest.mark.parametrize("function", [report.worked_report, report.trace])
@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (-1, errors.SeedError),
        (2**64, errors.SeedError),
        (True, errors.WrongType),
        (17.0, errors.WrongType),
        ("17", errors.WrongType),
        (None, errors.WrongType),
    ],
)
def test_seeds_that_are_none(function, seed, error):
    with pytest.raises(error):
        function(seed)


def test_the_bins_are_the_float64_numbers_that_their_decimals_name():
    assert report.EDGES == (-0.45, -0.35, -0.25, -0.15, -0.05, 0.05, 0.15, 0.25, 0.35, 0.45)
