"""One line an agent over all tasks."""

from __future__ import annotations

import pytest

from surpass.analysis import scoreboard


@pytest.fixture
def book(make_book, make_task):
    return make_book(tasks=[make_task(), make_task(name="other-mean")], trials=2)


def write(book, task, errors):
    for trial, error in zip(book.ids("one", f"local/{task}"), errors, strict=False):
        book.start(trial)
        book.done(trial, error)


def test_tasks_weigh_the_same_and_trials_give_the_interval(book):
    write(book, "estimate-mean", (0.1, 0.28))
    write(book, "other-mean", (1.0, 0.82))
    (line,) = scoreboard(book.experiment).overall
    assert line.mean == pytest.approx((0.9 + 0.1) / 2)
    assert line.mean_low < line.mean < line.mean_high
    assert line.iqm_low <= line.iqm <= line.iqm_high
    assert (line.tasks, line.missing) == (2, 0)
    assert sum(count for _, count in line.claims) == 2


def test_a_single_trial_gives_a_mean_without_an_interval(book):
    write(book, "estimate-mean", (0.1,))
    write(book, "other-mean", (1.0, 0.82))
    (line,) = scoreboard(book.experiment).overall
    assert line.mean == pytest.approx((1.0 + 0.1) / 2)
    assert (line.mean_low, line.mean_high, line.iqm_low, line.iqm_high) == (None, None, None, None)


def test_a_task_without_result_is_counted_not_averaged(book):
    write(book, "estimate-mean", (0.1, 0.1))
    (line,) = scoreboard(book.experiment).overall
    assert (line.mean, line.tasks, line.missing) == (pytest.approx(1.0), 1, 1)


def test_the_same_journal_gives_the_same_interval(book):
    write(book, "estimate-mean", (0.1, 0.3))
    write(book, "other-mean", (0.5, 0.8))
    assert scoreboard(book.experiment).overall == scoreboard(book.experiment).overall
