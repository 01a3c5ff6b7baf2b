"""Fieller's interval for a ratio of paired means, and the sequential rule that decides how many pairs there are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surpass.stats import Repeats, paired_ratio
from surpass.task import Tier
from surpass.verdict.rounds import REPEATS

NUMBERS = st.lists(st.tuples(st.floats(-100, 100), st.floats(1, 100)), min_size=2, max_size=8)


@given(NUMBERS)
def test_the_interval_is_what_a_t_test_does_not_reject(pairs):
    """At each finite end, and nowhere between, the paired t statistic of y - r x has its critical size."""
    ys, xs = (np.array(column) for column in zip(*pairs, strict=True))
    estimate = paired_ratio(ys.tolist(), xs.tolist())
    low, high = estimate.interval.low, estimate.interval.high
    assert low <= estimate.mean <= high
    critical = stats.t.ppf(0.975, len(ys) - 1)
    for end in filter(math.isfinite, (low, high)):
        rest = ys - end * xs
        error = rest.std(ddof=1) / math.sqrt(len(rest))
        if error > 1e-6 * (abs(rest).max() + 1):
            assert abs(rest.mean()) / error == pytest.approx(critical, rel=1e-3)


@given(NUMBERS, st.floats(0.1, 10))
def test_units_do_not_matter(pairs, factor):
    ys, xs = zip(*pairs, strict=True)
    one = paired_ratio(ys, xs)
    other = paired_ratio([y * factor for y in ys], [x * factor for x in xs])
    assert other.mean == pytest.approx(one.mean, rel=1e-9, abs=1e-12)


def test_exact_pairs_have_no_width():
    interval = paired_ratio([2.0, 2.1, 2.05], [4.0, 4.2, 4.1]).interval
    assert (interval.low, interval.high) == pytest.approx((0.5, 0.5))


def test_a_denominator_that_may_be_zero_allows_every_ratio():
    interval = paired_ratio([1.0, 1.1, 0.9], [0.1, -0.1, 0.05]).interval
    assert (interval.low, interval.high) == (-math.inf, math.inf)


def test_one_pair_says_nothing_about_scatter():
    estimate = paired_ratio([1.0], [2.0])
    assert estimate.mean == 0.5
    assert math.isinf(estimate.interval.high)


@pytest.mark.parametrize(("ys", "xs"), [([], []), ([1.0], []), ([math.nan], [1.0]), ([1.0, 1.0], [1.0, -1.0])])
def test_bad_pairs_are_refused(ys, xs):
    with pytest.raises(ValueError):
        paired_ratio(ys, xs)


def test_a_rule_needs_an_order():
    with pytest.raises(ValueError):
        Repeats(4, 3)


@pytest.mark.parametrize(("noise", "gap", "truth"), [(0.003, 0.15, 1.0), (0.006, 0.15, 0.0), (0.004, 0.07, 0.5)])
def test_stopping_at_a_narrow_interval_keeps_95_percent(noise, gap, truth):
    """2000 judgements of a submission whose true score is known; binomial noise of the count is 0.5 %."""
    rule, rng, held = REPEATS[Tier.FINAL], np.random.default_rng(1), 0
    for _ in range(2000):
        times = np.array([1.0, 1 - gap * truth, 1 - gap]) * (
            1 + noise / math.sqrt(2) * rng.standard_normal((rule.most, 3))
        )
        ys, xs = (times[:, 0] - times[:, 1]).tolist(), (times[:, 0] - times[:, 2]).tolist()
        count = rule.least
        while not rule.enough(count, (interval := paired_ratio(ys[:count], xs[:count], level=rule.nominal).interval)):
            count += 1
        held += interval.low <= truth <= interval.high
    assert held / 2000 > 0.94
