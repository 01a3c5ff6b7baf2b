"""Attempts over time."""

from __future__ import annotations

import pytest

from surpass.analysis import attempt_series, read


def test_the_best_so_far_never_falls_and_starts_with_the_first_score(make_book):
    book = make_book()
    (trial,) = book.ids("one")
    book.start(trial)
    for number, error in enumerate((None, 0.55, 0.82, 0.1), 1):
        book.attempt(trial, number, 30.0 * number, error, note=f"n{number}")
    book.done(trial, 0.1, chosen=4, seconds=180.0)
    (series,) = attempt_series(read(book.experiment), "local/estimate-mean")
    assert [point.best for point in series.points] == [None, *map(pytest.approx, (0.5, 0.5, 1.0))]
    assert [point.minutes for point in series.points] == [0.5, 1.0, 1.5, 2.0]
    assert series.points[0].code == "timeout"
    assert series.points[0].recovery is None
    assert series.minutes == 3.0


def test_a_trial_without_attempts_has_an_empty_series(make_book):
    (series,) = attempt_series(read(make_book().experiment), "local/estimate-mean")
    assert series.points == ()
    assert series.minutes == 0.0
