"""A ladder measured for real on the small task, and its rules on made-up figures."""

import dataclasses
import json
import math

import pytest

from surpass.measure import Progress
from surpass.verdict import PairRun, calibrate_ladder, summarise
from surpass.verdict.calibrate import times_as_often, wanted
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
    row = json.loads(json.dumps(dataclasses.asdict(runs[0])))
    assert PairRun.of(row) == runs[0]


def pair(number, before, after, loss=(3.44, 3.44)):
    curve = Progress(100, [(0.5, 3.5), (0.8, 3.5), (1.0, 3.45)])
    return PairRun("local/r01-pairs", "", number, (before, after), (100, 90), loss, (curve, curve))


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


def test_short_transitions_run_more_often_for_no_more_time():
    curve = Progress(1, [])
    spent = {"long": 30.0, "middle": 9.0, "short": 3.0, "tiny": 0.1}
    runs = [PairRun(name, "", 0, (s / 2, s / 2), (1, 1), (0, 0), (curve, curve)) for name, s in spent.items()]
    assert times_as_often(runs) == {"long": 1, "middle": 1, "short": 2, "tiny": 4}


def test_what_noise_leaves_undecided_runs_again_up_to_a_limit(task):
    clear = [pair(i, 10, 8 + 0.01 * i) for i in range(3)]
    small = [pair(i, 10, 9.7 + 0.2 * i) for i in range(3)]
    hidden = [pair(i, 10, 7 + 1.0 * i) for i in range(3)]
    assert [n for _, n in wanted([task], clear[:1], 3)] == [1, 2]
    assert wanted([task], clear, 3) == []
    assert wanted([task], small, 3) == []  # more rounds would not make it large
    assert [n for _, n in wanted([task], hidden, 3)] == [3, 4, 5]
    assert [n for _, n in wanted([task], [*hidden, pair(3, 10, 9)], 3)] == [4, 5]
    assert wanted([task], [pair(i, 10, 4 + 10 * (i % 2)) for i in range(48)], 3) == []
