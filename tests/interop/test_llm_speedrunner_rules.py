"""Both aggregates against numbers worked out by hand, and what must hold for any runs."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.interop import Node, Run, our_fsr, score_runs, their_fsr
from surpass.interop.llm_speedrunner_rules import their_top
from surpass.score import CEILING, FLOOR

START, NEXT = 200.0, 100.0
BASE = Node(0, START, 3.2775)
NAN = math.nan
SECONDS = {number: 3100.0 - 100 * number for number in range(1, 22)}

times = st.one_of(st.just(NAN), st.floats(1e-3, 1e6))
losses = st.one_of(st.just(NAN), st.floats(3.0, 3.5))
nodes = st.lists(st.builds(Node, st.integers(0, 20), times, losses, st.booleans()), max_size=8)


@pytest.mark.parametrize(
    ("made", "theirs", "ours"),
    [
        ([], 0.0, None),  # the baseline is no result of the agent's
        ([Node(1, 150, 3.27)], 0.5, 0.5),
        ([Node(1, 150, 3.27), Node(2, 120, 3.279)], 0.8, 0.8),
        ([Node(1, 150, 3.28)], 0.5, 0.5),
        ([Node(1, 150, 3.2899)], 0.5, None),  # above the target, below their tolerance
        ([Node(1, 150, 3.29)], 0.0, None),
        ([Node(1, 150, 3.27, valid=False)], 0.5, None),  # they ignore the flag
        ([Node(1, 250, 3.27)], 0.0, -0.5),  # slower: node 0 hides it from them
        ([Node(1, 210, 3.27)], 0.0, -0.1),
        ([Node(1, 1, 3.27)], 1.99, 1.5),
        ([Node(1, -150, 3.27)], 0.0, None),  # 3.5 is outside [0, 3]; no training takes a negative time
        ([Node(1, NAN, NAN, valid=False)], 0.0, None),
        ([Node(1, 150, NAN)], 0.5, None),  # NaN is not >= 3.29
    ],
)
def test_one_run(made, theirs, ours):
    assert their_fsr([BASE, *made], START, NEXT) == pytest.approx(theirs)
    assert our_fsr([BASE, *made], START, NEXT) == (None if ours is None else pytest.approx(ours))


def test_more_than_three_times_the_gap_is_nothing_to_them():
    assert their_fsr([Node(1, 500, 3.2)], 1000, 900) == 0.0
    assert their_fsr([Node(1, 700, 3.2)], 1000, 900) == 3.0
    assert our_fsr([Node(1, 500, 3.2)], 1000, 900) == CEILING


def test_the_best_three_and_repetition():
    assert their_top([0.1, 0.5, 0.3, 0.2]) == (0.5, 0.3, 0.2)
    assert their_top([0.2, 0.5]) == (0.5, 0.2, 0.2)
    assert their_top([0.4]) == (0.4, 0.4, 0.4)
    with pytest.raises(ValueError, match="without runs"):
        their_top([])


def run(task: int, fsr: float | None, name: str = "r") -> Run:
    """A run whose one node recovers `fsr`; None is one that reaches no target."""
    start = SECONDS[task]
    made = Node(1, start - 100 * (fsr or 0), 3.27 if fsr is not None else 3.4)
    return Run(name, task, (Node(0, start, 3.2775), made))


def test_both_aggregates_by_hand():
    # Task 1: 0.2, 0.4, 0.6 and a failure; task 2: 1.0 and 0.8; task 20: 0.9, 0.9.
    runs = [run(1, 0.2), run(1, 0.4), run(1, 0.6), run(1, None), run(2, 1.0), run(2, 0.8), run(20, 0.9), run(20, 0.9)]
    scores = score_runs(runs, SECONDS)
    one, two, twenty = scores.tasks
    assert (one.task, one.runs, one.failed) == (1, 4, 1)
    assert one.theirs == pytest.approx((0.6 + 0.4 + 0.2) / 3)
    assert one.ours == pytest.approx((0.2 + 0.4 + 0.6 + FLOOR) / 4)
    assert two.theirs == pytest.approx((1.0 + 0.8 + 0.8) / 3)
    assert two.ours == pytest.approx(0.9)
    assert (twenty.theirs, twenty.ours) == (None, pytest.approx(0.9))
    # Columns: (0.6 + 1) / 2, (0.4 + 0.8) / 2, (0.2 + 0.8) / 2, so 0.8, 0.6, 0.5.
    assert scores.theirs == pytest.approx(1.9 / 3)
    mean = 1.9 / 3
    sd = math.sqrt(((0.8 - mean) ** 2 + (0.6 - mean) ** 2 + (0.5 - mean) ** 2) / 3)
    assert scores.theirs_error == pytest.approx(sd / math.sqrt(2))
    assert scores.ours["mean"] == pytest.approx((0.175 + 0.9 + 0.9) / 3)
    # Each task weighs 1: the four runs of task 1 and the 0.8 of task 2 are half of it.
    assert scores.ours["median"] == pytest.approx((0.8 + 0.9) / 2)
    assert scores.intervals is not None
    for name, estimate in scores.intervals.items():
        assert estimate.mean == pytest.approx(scores.ours[name])
        assert estimate.interval.low <= estimate.interval.high


def test_a_single_run_gives_no_interval():
    scores = score_runs([run(1, 0.5)], SECONDS)
    assert scores.intervals is None
    assert scores.ours == pytest.approx({"mean": 0.5, "median": 0.5, "iqm": 0.5})


def test_only_task_twenty_leaves_them_with_nothing():
    scores = score_runs([run(20, 0.5), run(20, 0.5)], SECONDS)
    assert (scores.theirs, scores.theirs_error) == (None, None)
    assert scores.ours["mean"] == pytest.approx(0.5)


def test_nothing_to_score():
    with pytest.raises(ValueError, match="no runs"):
        score_runs([], SECONDS)
    with pytest.raises(ValueError, match="target < start"):
        our_fsr([], 1.0, 1.0)


@given(nodes)
def test_theirs_lies_in_its_range_and_ours_in_ours(made):
    assert 0 <= their_fsr(made, START, NEXT) <= 3
    ours = our_fsr(made, START, NEXT)
    assert ours is None or FLOOR <= ours <= CEILING


@given(nodes)
def test_with_the_baseline_they_never_see_a_regression(made):
    slower = [Node(n.number, START + abs(n.seconds), n.loss, n.valid) for n in made]
    assert their_fsr([BASE, *slower], START, NEXT) == 0


@given(nodes, st.randoms())
def test_order_does_not_matter(made, random):
    shuffled = random.sample(made, len(made))
    assert their_fsr(made, START, NEXT) == their_fsr(shuffled, START, NEXT)
    assert our_fsr(made, START, NEXT) == our_fsr(shuffled, START, NEXT)


@given(nodes, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_does_not_matter(made, unit):
    scaled = [Node(n.number, n.seconds * unit, n.loss, n.valid) for n in made]
    ours, again = our_fsr(made, START, NEXT), our_fsr(scaled, START * unit, NEXT * unit)
    assert (ours is None) == (again is None)
    assert ours is None or again == pytest.approx(ours)


@given(nodes, nodes)
def test_more_nodes_never_lower_ours(made, more):
    before, after = our_fsr(made, START, NEXT), our_fsr([*made, *more], START, NEXT)
    assert before is None or (after is not None and after >= before)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=9), st.floats(0, 3))
def test_another_run_never_lowers_a_full_top_three(values, extra):
    if len(values) >= 3:
        assert sum(their_top([*values, extra])) >= sum(their_top(values))
    assert max(their_top(values)) == max(values)


@given(st.lists(st.one_of(st.none(), st.floats(-2, 4)), min_size=2, max_size=8))
def test_ours_counts_every_run(values):
    ours = score_runs([run(3, value) for value in values], SECONDS).tasks[0]
    expected = [FLOOR if v is None else min(max(v, FLOOR), CEILING) for v in values]
    assert ours.ours == pytest.approx(sum(expected) / len(expected))
    assert ours.failed == values.count(None)
