"""Recovery on both scales, and its errors."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from surpass.score import CEILING, FLOOR, Reference, UndefinedRecovery, bounded, recovery, recovery_se

LOW, HIGH = 1e-6, 1e6
METRIC = st.floats(1e-3, 1e3)
SCALES = st.sampled_from(["linear", "log"])


def reference(b=1.0, s=0.1, scale="linear", *, spread_b=0.0, spread_s=0.0, low=LOW, high=HIGH):
    return Reference("lower" if s < b else "higher", b, spread_b, s, spread_s, scale, low, high)


@st.composite
def references(draw, spreads=False):
    b, s = draw(METRIC), draw(METRIC)
    assume(abs(math.log(b / s)) > 0.05)
    spread = st.floats(0, 0.1) if spreads else st.just(0.0)
    return reference(b, s, draw(SCALES), spread_b=draw(spread) * b, spread_s=draw(spread) * s)


@given(references())
def test_the_baseline_is_zero_and_the_sota_exactly_one(ref):
    assert recovery(ref.baseline, ref) == 0.0
    assert recovery(ref.sota, ref) == 1.0


@given(references(), METRIC, METRIC)
def test_better_values_never_recover_less(ref, one, other):
    better, worse = (min, max) if ref.direction == "lower" else (max, min)
    assert recovery(better(one, other), ref) >= recovery(worse(one, other), ref)


@given(references(), METRIC, st.floats(0.01, 100))
def test_the_unit_does_not_matter(ref, value, unit):
    scaled = reference(ref.baseline * unit, ref.sota * unit, ref.scale, low=LOW * unit, high=HIGH * unit)
    assert recovery(value * unit, scaled) == pytest.approx(recovery(value, ref), rel=1e-6, abs=1e-6)


def test_examples():
    assert recovery(0.55, reference(1.0, 0.1)) == pytest.approx(0.5)
    assert recovery(0.85, reference(0.5, 0.9)) == pytest.approx(0.875)
    assert recovery(1e-2, reference(1.0, 1e-4, "log")) == pytest.approx(0.5)
    # FSR of a speedrun: a record went from 10 to 6 minutes, the agent to 7.
    assert recovery(7.0, reference(10.0, 6.0)) == pytest.approx(0.75)


def test_a_log_value_below_the_range_counts_as_its_low_end():
    ref = reference(1.0, 1e-2, "log", low=1e-4)
    assert recovery(0.0, ref) == recovery(-5.0, ref) == recovery(1e-4, ref) == pytest.approx(2.0)
    assert recovery_se(0.0, 0.1, ref).random == 0.0


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_coinciding_anchors_are_an_error_of_our_own(scale):
    ref = Reference("lower", 28.0, 0.0, 28.0, 0.0, scale, 1.0, 100.0)
    with pytest.raises(UndefinedRecovery):
        recovery(28.0, ref)
    with pytest.raises(UndefinedRecovery):
        recovery_se(28.0, 0.0, ref)
    assert issubclass(UndefinedRecovery, ValueError)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_only_finite_values_recover(value):
    with pytest.raises(ValueError):
        recovery(value, reference())


@pytest.mark.parametrize("se", [math.nan, math.inf, -1.0])
def test_only_finite_errors_propagate(se):
    with pytest.raises(ValueError):
        recovery_se(0.5, se, reference())


@given(references(spreads=True), METRIC, st.floats(0, 0.1))
def test_the_errors_are_the_numerical_derivatives(ref, value, relative):
    error = recovery_se(value, relative * value, ref)

    def slope(change, of):
        h = 1e-5 * of
        return (change(of + h) - change(of - h)) / (2 * h)

    def with_anchor(b, s):
        return recovery(value, reference(b, s, ref.scale))

    by_m = slope(lambda m: recovery(m, ref), value)
    by_b = slope(lambda b: with_anchor(b, ref.sota), ref.baseline)
    by_s = slope(lambda s: with_anchor(ref.baseline, s), ref.sota)
    assert error.random == pytest.approx(abs(by_m) * relative * value, rel=1e-3, abs=1e-6)
    systematic = math.hypot(by_b * ref.baseline_spread, by_s * ref.sota_spread)
    assert error.systematic == pytest.approx(systematic, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_errors_are_the_spread_of_simulated_recoveries(scale):
    rng = np.random.default_rng(1)
    m, b, s = (rng.normal(mean, 0.01 * mean, 4000).tolist() for mean in (0.3, 1.0, 0.1))
    exact = reference(1.0, 0.1, scale, spread_b=0.01, spread_s=0.001)
    error = recovery_se(0.3, 0.003, exact)
    assert error.random == pytest.approx(np.std([recovery(x, exact) for x in m]), rel=0.05)
    moved = [recovery(0.3, reference(x, y, scale)) for x, y in zip(b, s, strict=True)]
    assert error.systematic == pytest.approx(np.std(moved), rel=0.05)


def test_at_the_anchors_only_one_anchor_matters():
    ref = reference(1.0, 0.1, spread_b=0.05, spread_s=0.02)
    assert recovery_se(1.0, 0.0, ref).systematic == pytest.approx(0.05 / 0.9)
    assert recovery_se(0.1, 0.0, ref).systematic == pytest.approx(0.02 / 0.9)


@given(st.floats(allow_nan=False))
def test_bounded_stays_between_floor_and_ceiling(r):
    assert (FLOOR, CEILING) == (-0.5, 1.5)
    assert FLOOR <= bounded(r) <= CEILING
    assert bounded(r) == r or not FLOOR <= r <= CEILING


@pytest.mark.parametrize(
    "change",
    [
        {"baseline": math.nan},
        {"high": math.inf},
        {"sota_spread": -1.0},
        {"baseline_spread": -1.0},
        {"sota": 11.0},
        {"low": 10.0},
        {"scale": "log", "low": 0.0},
        {"scale": "cubic"},
        {"direction": "up"},
    ],
)
def test_impossible_references_are_refused(change):
    good = {
        "direction": "lower",
        "baseline": 5.0,
        "baseline_spread": 0.0,
        "sota": 1.0,
        "sota_spread": 0.0,
        "scale": "linear",
        "low": 0.0,
        "high": 10.0,
    }
    Reference(**good)
    with pytest.raises(ValueError):
        Reference(**(good | change))
