"""A ladder measured for real on the small task, and its rules on made-up figures."""

import math

import pytest

from surpass.measure import Progress
from surpass.verdict import PairRun, calibrate_ladder, summarise
from tests.verdict.ladder import STEPS, write_task

NAMES = {"local/r01-pairs": ("r01", "r02")}


def test_one_transition_for_real(tmp_path, sandbox):
    task = write_task(tmp_path / "r01-pairs")
    told = []
    runs = calibrate_ladder([task], sandbox, tmp_path / "work", rounds=2, workers=2, done=told.append)
    assert sorted(run.round for run in told) == [0, 1]
    found = summarise([task], runs, NAMES)
    first, second = found.records
    assert (first.record, first.steps, first.runs, first.passed) == ("r01", STEPS, 2, 2)
    assert (second.record, second.steps) == ("r02", STEPS // 2)
    (step,) = found.transitions
    assert 0.2 < step.saving < 0.7
    assert second.relative == pytest.approx(1 - step.saving)
    assert [share for share, _ in found.envelope] == [0.25, 0.5, 0.75, 0.9]
    assert list((tmp_path / "work").glob("r01-pairs-*")) == []


def pair(number, before, after, loss=(3.44, 3.44)):
    curve = Progress(100, [(0.5, 3.5), (0.8, 3.5), (1.0, 3.45)])
    return PairRun("local/r01-pairs", number, (before, after), (100, 90), loss, (curve, curve))


@pytest.fixture
def task(tmp_path):
    return write_task(tmp_path / "r01-pairs")


def test_the_rules_hold(task):
    losses = [(3.440, 3.441), (3.441, 3.440), (3.442, 3.442)]
    found = summarise([task], [pair(i, 10 + i, 8 + 0.8 * i, losses[i]) for i in range(3)], NAMES)
    assert found.holds
    assert found.transitions[0].saving == pytest.approx(0.2)
    assert found.records[0].margin > 3
    assert found.records[0].pass_rate > 0.99


@pytest.mark.parametrize(
    ("runs", "broken"),
    [
        ([pair(0, 10, 9.5), pair(1, 10, 9.5)], "saving"),
        ([pair(0, 10, 5), pair(1, 10, 9.9), pair(2, 10, 8)], "errors"),
        ([pair(0, 10, 8, (3.40, 3.44)), pair(1, 10, 8, (3.455, 3.44))], "margin"),
        ([pair(0, 10, 8, (3.47, 3.44)), pair(1, 10, 8, (3.47, 3.44))], "target"),
    ],
    ids=["saves-too-little", "too-noisy", "too-near-the-target", "misses-the-target"],
)
def test_each_rule_can_break(task, runs, broken):
    found = summarise([task], runs, NAMES)
    assert not found.holds
    assert found.transitions[0].holds == (broken in ("margin", "target"))
    assert found.records[0].holds == (broken in ("saving", "errors"))


def test_repeats_grow_with_scatter(task):
    quiet = summarise([task], [pair(i, 10, 8 + 0.01 * i) for i in range(3)], NAMES).transitions[0]
    loud = summarise([task], [pair(i, 10, 8 + 0.3 * i) for i in range(3)], NAMES).transitions[0]
    assert 2 <= quiet.repeats < loud.repeats
    assert not math.isnan(loud.scatter)
