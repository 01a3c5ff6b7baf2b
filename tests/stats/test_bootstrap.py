"""The interquartile mean and its bootstrap over trials within tasks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surpass.stats import TooFewTrials, iqm, stratified_bootstrap, weighted_mean, weighted_median

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=40)


@given(st.lists(st.floats(-100, 100), min_size=4, max_size=40))
def test_iqm_is_the_quarter_trimmed_mean_when_four_divides_the_count(values):
    values = values[: len(values) // 4 * 4]
    assert iqm(values) == pytest.approx(stats.trim_mean(values, 0.25), abs=1e-9)


def test_a_straddling_value_counts_in_part():
    assert iqm([0.0, 1.0, 2.0, 3.0, 40.0]) == pytest.approx((0.75 * 1 + 1 * 2 + 0.75 * 3) / 2.5)
    assert iqm([7.0]) == 7.0
    assert iqm([1.0, 3.0]) == 2.0


@given(VALUES, st.integers(2, 4))
def test_weights_are_repetitions(values, times):
    weights = [float(times)] + [1.0] * (len(values) - 1)
    repeated = [values[0]] * (times - 1) + values
    assert iqm(values, weights) == pytest.approx(iqm(repeated), abs=1e-9)


@given(VALUES, st.floats(0.1, 10), st.floats(-10, 10), st.randoms())
def test_iqm_follows_shift_scale_and_order(values, scale, shift, random):
    middle = iqm(values)
    assert min(values) - 1e-9 <= middle <= max(values) + 1e-9
    moved = [scale * v + shift for v in random.sample(values, len(values))]
    assert iqm(moved) == pytest.approx(scale * middle + shift, abs=1e-8)


@given(st.lists(st.floats(-100, 100), min_size=5, max_size=40))
def test_iqm_ignores_how_far_an_outlier_is(values):
    assert iqm([*values, 1e3]) == pytest.approx(iqm([*values, 1e9]), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "weights"),
    [([], None), ([1.0], [1.0, 1.0]), ([math.nan], None), ([1.0], [0.0]), ([1.0, 2.0], [1.0, -1.0])],
)
def test_iqm_refuses_nonsense(values, weights):
    with pytest.raises(ValueError):
        iqm(values, weights)


def test_the_same_seed_gives_the_same_interval():
    groups = [[0.1, 0.4, 0.2], [0.9, 1.1, 1.3], [0.5, 0.4, 0.9]]
    assert stratified_bootstrap(groups, iqm, 3) == stratified_bootstrap(groups, iqm, 3)
    assert stratified_bootstrap(groups, iqm, 3) != stratified_bootstrap(groups, iqm, 4)


def test_deterministic_tasks_have_no_width_however_different_they_are():
    estimate = stratified_bootstrap([[0.0] * 3, [1.0] * 3, [0.5] * 2], iqm, 0)
    assert estimate.interval.low == estimate.interval.high == pytest.approx(estimate.mean)


def test_each_task_weighs_the_same_whatever_its_number_of_trials():
    estimate = stratified_bootstrap([[0.0] * 9, [1.0] * 2], iqm, 0)
    assert estimate.mean == pytest.approx(0.5)


def test_a_single_trial_gives_no_interval():
    with pytest.raises(TooFewTrials):
        stratified_bootstrap([[0.1, 0.2], [0.3]], iqm, 0)
    with pytest.raises(ValueError):
        stratified_bootstrap([], iqm, 0)


@pytest.mark.parametrize(("tasks", "trials", "least"), [(20, 2, 0.86), (8, 5, 0.86)])
def test_coverage(tasks, trials, least):
    """Near nominal for a suite of the usual size; the percentile bootstrap stays a little short with few trials."""
    rng = np.random.default_rng([tasks, trials])
    centres = np.linspace(-0.3, 1.2, tasks)[:, None]
    truth = np.mean([iqm(x.ravel()) for x in centres + rng.normal(0, 0.2, (1000, tasks, trials))])
    covered = []
    for seed in range(200):
        groups = (centres + rng.normal(0, 0.2, (tasks, trials))).tolist()
        interval = stratified_bootstrap(groups, iqm, seed, repetitions=150).interval
        covered.append(interval.low <= truth <= interval.high)
    assert least <= np.mean(covered) <= 0.99


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_with_equal_weights_the_weighted_mean_and_median_are_the_plain_ones(values):
    weights = [0.25] * len(values)
    assert weighted_median(values, weights) == pytest.approx(np.median(values), abs=1e-9)
    assert weighted_mean(values, weights) == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "weights", "median"),
    [([1, 2, 3], [1, 1, 2], 2.5), ([3, 1, 2], [2.1, 1, 1], 3), ([5, 0], [0.1, 9], 0), ([7], [3], 7)],
)
def test_the_weighted_median_lies_where_half_of_the_weight_does(values, weights, median):
    assert weighted_median(values, weights) == median


def test_a_median_of_nothing_is_refused():
    with pytest.raises(ValueError):
        weighted_median([], [])
