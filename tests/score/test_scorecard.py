"""Scorecards of one submission, and rows of several trials."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.score import (
    FLOOR,
    Claim,
    Reference,
    Scorecard,
    UndefinedRecovery,
    bounded,
    combine,
    recovery,
    score_instances,
)

FLOW = Reference("lower", 1.0, 0.05, 0.1, 0.01, "linear", 0.0, 100.0)
RATE = Reference("higher", 0.5, 0.0, 0.9, 0.0, "linear", 0.0, 1.0)
REFERENCES = {"flow": FLOW, "rate": RATE}
NAMES = {"flow": "nrmse", "rate": "acc"}


def card(flow=None, rate=None):
    return score_instances({"flow": flow, "rate": rate}, REFERENCES, NAMES)


def at(flow_value, rate_value, se=None):
    extra = {} if se is None else {"nrmse_se": se}
    return card({"nrmse": flow_value, **extra}, {"acc": rate_value})


def test_the_oracle_scores_one_and_the_start_zero():
    assert at(0.1, 0.9).headline == 1.0
    assert at(1.0, 0.5).headline == 0.0


def test_one_instance_in_full():
    flow, rate = at(0.19, 0.95, se=0.009).instances
    assert (flow.name, flow.value, flow.value_se, flow.failure) == ("flow", 0.19, 0.009, None)
    assert flow.recovery == flow.bounded == pytest.approx(0.9)
    assert flow.random_se == pytest.approx(0.01)
    assert flow.systematic_se == pytest.approx(math.hypot(0.1 * 0.05, 0.9 * 0.01) / 0.9)
    assert flow.g == pytest.approx(-0.9)
    assert (rate.value_se, rate.random_se, rate.systematic_se) == (None, 0.0, 0.0)
    assert rate.g == pytest.approx(0.05 / 0.9)


def test_the_headline_is_the_mean_and_its_errors_add_in_quadrature():
    both = at(0.19, 0.8, se=0.009)
    assert both.headline == pytest.approx((0.9 + 0.75) / 2)
    assert both.random_se == pytest.approx(0.01 / 2)
    assert both.g == pytest.approx((-0.9 - 0.1 / 0.9) / 2)
    pair = score_instances(
        {"x": {"m": 0.3, "m_se": 0.03}, "y": {"m": 0.3, "m_se": 0.04}}, {"x": FLOW, "y": FLOW}, {"x": "m", "y": "m"}
    )
    assert pair.random_se == pytest.approx(0.05 / 0.9 / 2)


@pytest.mark.parametrize(
    ("flow", "why"),
    [
        (None, "missing"),
        ({}, "missing"),
        ({"other": 1.0}, "missing"),
        ({"nrmse": None}, "missing"),
        ({"nrmse": "0.1"}, "not-a-number"),
        ({"nrmse": True}, "not-a-number"),
        ({"nrmse": math.nan}, "not-finite"),
        ({"nrmse": -math.inf}, "not-finite"),
        ({"nrmse": 10**400}, "not-finite"),
        ({"nrmse": -0.1}, "out-of-range"),
        ({"nrmse": 100.1}, "out-of-range"),
        ({"nrmse": 0.1, "nrmse_se": -1.0}, "bad-standard-error"),
        ({"nrmse": 0.1, "nrmse_se": math.nan}, "bad-standard-error"),
        ({"nrmse": 0.1, "nrmse_se": "0"}, "bad-standard-error"),
    ],
)
def test_what_cannot_be_scored_is_at_the_floor_and_the_others_stand(flow, why):
    result = card(flow, {"acc": 0.9})
    failed, _ = result.instances
    assert failed.failed and failed.failure == why
    assert (failed.value, failed.recovery, failed.bounded, failed.g) == (None, None, FLOOR, -1.0)
    assert result.headline == pytest.approx((FLOOR + 1) / 2)
    assert (result.random_se, result.systematic_se) == (0.0, 0.0)
    assert result.g == pytest.approx(-0.5)
    assert result.has_score


def test_absent_instances_fail_and_strangers_are_ignored():
    result = score_instances({"stranger": {"acc": 1.0}}, REFERENCES, NAMES)
    assert [s.failure for s in result.instances] == ["missing", "missing"]
    assert (result.headline, result.g, result.has_score) == (FLOOR, -1.0, False)


def test_a_clipped_instance_keeps_its_raw_recovery_and_adds_no_error():
    flow, _ = at(50.0, 0.9, se=1.0).instances
    assert flow.recovery == pytest.approx(-49 / 0.9)
    assert (flow.bounded, flow.random_se, flow.systematic_se) == (FLOOR, 0.0, 0.0)
    assert flow.g == pytest.approx(-499)


def test_an_instance_whose_sota_is_zero_has_no_g():
    zero = Reference("lower", 1.0, 0.0, 0.0, 0.0, "linear", 0.0, 2.0)
    result = score_instances({"z": {"m": 0.0}}, {"z": zero}, {"z": "m"})
    assert (result.headline, result.g) == (1.0, None)
    mixed = score_instances({"flow": {"nrmse": 0.1}}, {"z": zero, "flow": FLOW}, {"z": "m", "flow": "nrmse"})
    assert mixed.g == 0.0
    assert combine([result], 0.05).g is None


def test_misuse_is_an_error():
    same = Reference("lower", 1.0, 0.0, 1.0, 0.0, "linear", 0.0, 2.0)
    with pytest.raises(UndefinedRecovery):
        score_instances({"s": {"m": 1.0}}, {"s": same}, {"s": "m"})
    with pytest.raises(KeyError):
        score_instances({}, REFERENCES, {})
    with pytest.raises(ValueError):
        score_instances({}, {}, {})


HOSTILE = st.none() | st.booleans() | st.floats() | st.text(max_size=2) | st.integers()
REPORTS = st.none() | st.fixed_dictionaries({}, optional={"nrmse": HOSTILE, "nrmse_se": HOSTILE, "acc": HOSTILE})


@given(REPORTS, REPORTS)
def test_any_report_gives_a_card_that_survives_strict_json(flow, rate):
    result = card(flow, rate)
    assert FLOOR <= result.headline <= 1.5
    again = Scorecard.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False)))
    assert again == result
    for score in result.instances:
        assert score.failed == (score.value is None)
        if score.value is not None:
            assert score.bounded == bounded(recovery(score.value, REFERENCES[score.name]))


def test_extreme_anchors_stay_representable():
    tiny = Reference("lower", 2e-300, 1e300, 1e-300, 1e300, "linear", 0.0, 1e300)
    result = score_instances({"t": {"m": 1e300}, "u": {"m": 1e-300}}, {"t": tiny, "u": tiny}, {"t": "m", "u": "m"})
    json.dumps(result.to_dict(), allow_nan=False)


def test_combining_reproducible_trials():
    row = combine([at(0.1, 0.9)] * 3, 0.05)
    assert (row.trials, row.failed_trials, row.recovery, row.g) == (3, 0, 1.0, 0.0)
    assert row.interval.low < 1 < row.interval.high  # the references' own uncertainty
    assert row.claim is Claim.REPRODUCED


def test_failed_trials_count_at_the_floor():
    row = combine([at(0.1, 0.9), None, card()], 0.05)
    assert (row.trials, row.failed_trials) == (3, 2)
    assert row.recovery == pytest.approx(0.0)
    assert row.g == pytest.approx(-2 / 3)
    assert row.claim is Claim.INCONCLUSIVE
    assert (row.interval.low, row.interval.high) == (-0.5, 1.5)


@pytest.mark.parametrize("trials", [[None], [None, None], [card()]])
def test_nothing_scored_is_a_failure(trials):
    row = combine(trials, 0.05)
    assert (row.recovery, row.g, row.claim) == (FLOOR, -1.0, Claim.FAILED)
    assert row.failed_trials == len(trials)


def test_claims_of_combined_trials():
    better = [at(0.02, 0.99), at(0.03, 0.98), at(0.025, 0.985)]
    assert combine(better, 0.02).claim is Claim.SURPASSED
    assert combine([at(0.9, 0.55)] * 3, 0.05).claim is Claim.FAILED
    assert combine([at(0.1, 0.9, se=0.3)], 0.05).claim is Claim.INCONCLUSIVE
    assert combine([at(0.1, 0.9, se=0.3)] * 1000, 0.05).claim is Claim.REPRODUCED


def test_more_trials_narrow_the_interval_down_to_the_references_error():
    def width(k):
        interval = combine([at(0.2, 0.8, se=0.1)] * k, 0.05).interval
        return interval.high - interval.low

    floor = 2 * 1.959964 * at(0.2, 0.8).systematic_se
    assert width(1) > width(4) > width(100) > floor
    assert width(10_000) == pytest.approx(floor, rel=0.01)


def test_trials_of_different_instances_do_not_mix():
    other = score_instances({}, {"rate": RATE}, NAMES)
    with pytest.raises(ValueError):
        combine([at(0.1, 0.9), other], 0.05)
    with pytest.raises(ValueError):
        combine([], 0.05)


@given(
    st.lists(st.none() | st.tuples(st.floats(0, 100), st.floats(0, 1), st.floats(0, 10)), min_size=1, max_size=6),
    st.floats(0, 0.5),
)
def test_any_trials_combine(trials, band):
    row = combine([None if t is None else at(*t) for t in trials], band)
    assert FLOOR <= row.interval.low <= row.recovery <= row.interval.high <= 1.5
    assert row.trials == len(trials)
