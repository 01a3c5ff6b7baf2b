"""The numbers printed in docs/reference/scoring.md."""

import pytest

from surpass.score import Claim, Reference, combine, score_instances

REFERENCES = {
    "flow": Reference("lower", 0.98, 0.05, 2.11e-3, 0.44e-3, "log", 1e-9, 1e3),
    "label": Reference("higher", 0.50, 0.0, 0.90, 0.01, "linear", 0.0, 1.0),
}
NAMES = {"flow": "nrmse", "label": "accuracy"}


def trial(flow, label):
    metrics = {"flow": {"nrmse": flow, "nrmse_se": 0.5e-3}}
    if label is not None:
        metrics["label"] = {"accuracy": label, "accuracy_se": 0.01}
    return score_instances(metrics, REFERENCES, NAMES)


def test_the_page_says_what_the_code_does():
    first, second, third = trial(4.0e-3, 0.87), trial(3.5e-3, 0.89), trial(3.8e-3, 0.88)
    flow, label = first.instances
    rows = [(s.recovery, s.random_se, s.systematic_se, s.g) for s in (flow, label)]
    assert rows[0] == pytest.approx((0.896, 0.020, 0.030, -0.896), abs=5e-4)
    assert rows[1] == pytest.approx((0.925, 0.025, 0.023, -0.033), abs=5e-4)
    assert (first.headline, first.random_se, first.systematic_se) == pytest.approx((0.910, 0.016, 0.019), abs=5e-4)
    assert first.g == pytest.approx(-0.465, abs=5e-4)
    alone = combine([first], 0.05).interval
    assert (alone.low, alone.high) == pytest.approx((0.861, 0.959), abs=6e-4)

    row = combine([first, second, third], 0.05)
    assert (row.recovery, row.interval.low, row.interval.high) == pytest.approx((0.928, 0.869, 0.987), abs=6e-4)
    assert row.claim is Claim.INCONCLUSIVE
    assert combine([first, second, third], 0.15).claim is Claim.REPRODUCED

    lost = trial(3.8e-3, None)
    assert lost.headline == pytest.approx(0.202, abs=5e-4)
    assert combine([first, second, lost], 0.05).recovery == pytest.approx(0.686, abs=5e-4)
