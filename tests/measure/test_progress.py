"""Reading progress, and ending runs that cannot win."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.measure import EarlyStop, Progress, envelope_of


def run(losses, spent_s=0.0, steps=100):
    progress = Progress(spent_s=spent_s)
    for index, loss in enumerate(losses, 1):
        progress.read(f"step {round(index * steps / len(losses))}/{steps} train_loss {loss}".encode())
    return progress


@pytest.mark.parametrize(
    "line",
    [b"", b"step 1/0 train_loss 1", b"step 5/3 train_loss 1", b"step 0/3 train_loss 1", b"step 1/2 train_loss x",
     b" step 1/2 train_loss 1", b"step 1/2 train_loss 1 step_avg 3", b"step -1/2 train_loss 1", b"\xff\xfe",
     b"step 9999999999/9999999999 train_loss 1", b"step 1/2 train_loss " + b"9" * 40],
)  # fmt: skip
def test_other_output_is_ignored(line):
    progress = Progress()
    progress.read(line)
    assert (progress.steps, progress.points, progress.share) == (0, [], 0.0)
    assert math.isnan(progress.loss)


def test_progress_is_read():
    progress = run([4.0, 3.0, 2.0, 1.0])
    assert (progress.steps, progress.share, progress.loss) == (100, 1.0, 2.0)


def test_a_flood_of_lines_is_bounded():
    assert len(run([1.0] * 5000, steps=5000).points) == 1000


def test_slower_than_the_baseline():
    stop = EarlyStop()
    assert stop.reason(run([], 10.9), 10.0) == ""
    assert stop.reason(run([], 11.1), 10.0) == "slower"
    assert stop.reason(run([], 1.2), 0.7) == ""  # equal runs this short may differ by as much
    assert stop.reason(run([], 99.0), None) == ""  # the baseline still runs, so nothing is known


def test_projection():
    """At 40 % of its steps, one that will take twice the baseline's time is ended, one of 1.4 is not."""
    stop = EarlyStop()
    early = run([3.0] * 4)
    for point in range(4):
        early.points[point] = ((point + 1) / 10, 3.0)
    early.spent_s = 8.0
    assert stop.reason(early, 10.0) == "slower"
    early.spent_s = 5.6
    assert stop.reason(early, 10.0) == ""


def test_diverged():
    assert EarlyStop().reason(run([3.0, math.nan]), None) == "hopeless"
    assert EarlyStop().reason(run([3.0, math.inf]), None) == "hopeless"


@given(st.lists(st.lists(st.floats(0.5, 9), min_size=8, max_size=30), min_size=1, max_size=5))
def test_the_envelope_never_ends_a_run_it_was_made_from(curves):
    """However a run is cut, what it has said until then lies inside."""
    runs = [run(losses) for losses in curves]
    stop = EarlyStop(envelope=envelope_of(runs, (0.25, 0.5, 0.75, 0.9), 0.01))
    for losses, whole in zip(curves, runs, strict=True):
        for count in range(1, len(losses) + 1):
            partial = Progress(whole.steps, whole.points[:count])
            assert stop.reason(partial, None) == ""


def test_the_envelope_ends_a_run_far_above_it():
    stop = EarlyStop(envelope=((0.25, 3.0), (0.5, 2.0)))
    assert stop.reason(run([9.0]), None) == ""  # too few points to be smoothed
    assert stop.reason(run([4.0, 2.9, 1.9, 1.8, 1.7, 1.6]), None) == ""
    assert stop.reason(run([4.0, 3.0, 2.6, 2.5, 2.5, 2.5]), None) == "hopeless"
