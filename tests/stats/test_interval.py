"""Intervals for means and proportions."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surpass.stats import Interval, mean_interval, wilson

FINITE = st.floats(-1e6, 1e6)
ERRORS = st.floats(0, 1e3)


def test_importing_loads_neither_scipy_nor_numpy():
    script = "import sys, surpass.stats, surpass.score; print(*{'scipy', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(("low", "high", "level"), [(1, 0, 0.95), (math.nan, 1, 0.95), (0, 1, 0), (0, 1, 1)])
def test_an_impossible_interval_is_refused(low, high, level):
    with pytest.raises(ValueError):
        Interval(low, high, level)


def test_one_trial_has_its_measurement_error():
    interval = mean_interval([0.8], [0.1]).interval
    assert (interval.low, interval.high) == pytest.approx((0.8 - 0.196, 0.8 + 0.196), abs=1e-4)


def test_exact_trials_get_students_interval():
    values = [0.9, 1.0, 1.3, 0.7]
    estimate = mean_interval(values, [0.0] * 4, level=0.9)
    low, high = stats.t.interval(0.9, 3, np.mean(values), stats.sem(values))
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((low, high))
    assert estimate.interval.level == 0.9


def test_agreeing_trials_keep_the_measurement_error():
    interval = mean_interval([1.0, 1.0, 1.0, 1.0], [0.1, 0.2, 0.3, 0.4]).interval
    assert interval.high - 1 == pytest.approx(1.959964 * math.sqrt(0.075 / 4), rel=1e-6)


def test_deterministic_trials_have_no_width():
    for k in range(1, 20):
        estimate = mean_interval([0.1] * k, [0.0] * k)
        assert (estimate.mean, estimate.interval) == (0.1, Interval(0.1, 0.1, 0.95))


def test_a_systematic_error_adds_in_quadrature_and_never_averages_away():
    plain = mean_interval([0.0], [0.3]).interval.high
    assert mean_interval([0.0], [0.3], systematic=0.4).interval.high == pytest.approx(plain * 5 / 3)
    many = mean_interval([0.0] * 1000, [0.0] * 1000, systematic=0.4).interval
    assert many.high == pytest.approx(1.959964 * 0.4, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "errors", "systematic"),
    [
        ([], [], 0.0),
        ([1.0], [], 0.0),
        ([math.nan], [0.0], 0.0),
        ([1.0], [math.inf], 0.0),
        ([1.0], [-0.1], 0.0),
        ([1.0], [0.1], -0.1),
        ([1.0], [0.1], math.nan),
    ],
)
def test_bad_trials_are_refused(values, errors, systematic):
    with pytest.raises(ValueError):
        mean_interval(values, errors, systematic=systematic)


@given(st.lists(st.tuples(FINITE, ERRORS), min_size=1, max_size=8), ERRORS, ERRORS)
def test_the_interval_holds_the_mean_and_grows_with_every_error(trials, systematic, more):
    values, errors = [list(column) for column in zip(*trials, strict=True)]
    estimate = mean_interval(values, errors, systematic=systematic)
    assert estimate.interval.low <= estimate.mean <= estimate.interval.high
    assert min(values) - 1e-9 <= estimate.mean <= max(values) + 1e-9
    wider = mean_interval(values, [e + more for e in errors], systematic=systematic + more)
    assert wider.interval.high >= estimate.interval.high - 1e-6


@given(st.lists(st.tuples(FINITE, ERRORS), min_size=1, max_size=6), st.randoms())
def test_the_order_of_trials_does_not_matter(trials, random):
    shuffled = random.sample(trials, len(trials))
    one, other = (mean_interval([v for v, _ in x], [e for _, e in x]).interval for x in (trials, shuffled))
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("trial_sd", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("systematic", [0.0, 1.0])
def test_coverage(k, trial_sd, systematic):
    """Nominal 95 %: never below, and above only where k is small or the known error dominates."""
    rng = np.random.default_rng([k, int(trial_sd), int(systematic)])
    n = 4000
    draws = rng.normal(0, math.hypot(1, trial_sd), (n, k)) + rng.normal(0, 1, (n, 1)) * systematic
    covered = 0
    for row in draws.tolist():
        interval = mean_interval(row, [1.0] * k, systematic=systematic).interval
        covered += interval.low <= 0 <= interval.high
    assert 0.938 <= covered / n <= 0.999  # 0.95 less 3.5 standard errors of a simulated proportion
    if trial_sd == 4.0 and systematic == 0 and k > 2:
        assert covered / n <= 0.965


def test_coverage_with_unequal_errors():
    rng = np.random.default_rng(5)
    errors = [0.5, 1.0, 1.5]
    draws = rng.normal(0, errors, (4000, 3)).tolist()
    intervals = [mean_interval(row, errors).interval for row in draws]
    assert np.mean([i.low <= 0 <= i.high for i in intervals]) >= 0.938


def test_wilson_reproduces_published_examples():
    """14 and 0 of NatureBench's 90 tasks (reference/anchors.md, 4.1)."""
    some, none = wilson(14, 90), wilson(0, 90)
    assert (some.low, some.high) == pytest.approx((0.095, 0.244), abs=5e-4)
    assert (none.low, none.high) == (0.0, pytest.approx(0.041, abs=5e-4))


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(successes, failures, level):
    n = successes + failures
    interval = wilson(successes, n, level=level)
    if n == 0:
        assert interval == Interval(0.0, 1.0, level)
        return
    peer = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    assert (interval.low, interval.high) == pytest.approx((peer.low, peer.high), abs=1e-12)
    assert interval.low <= successes / n <= interval.high


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_wilson_refuses_impossible_counts(successes, n):
    with pytest.raises(ValueError):
        wilson(successes, n)
