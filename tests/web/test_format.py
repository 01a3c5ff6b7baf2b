# ruff: noqa: RUF001 - real minus signs and dashes are the point
"""Numbers on the page."""

from __future__ import annotations

import pytest

from surpass.web._format import duration, number, recovery, signed, when


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.005, "0.01"), (-0.5, "−0.50"), (-0.001, "0.00"), (1.0, "1.00")]
)
def test_recovery(value, text):
    assert recovery(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0.0, "+0.00"), (-0.001, "+0.00"), (-1.0, "−1.00"), (-1.7e308, "−1.7e+308")]
)
def test_signed(value, text):
    assert signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.00203, "0.00203"), (2.03e-7, "2.03e−7"), (123456.7, "123457"), (1.5e12, "1.5e12"), (-3.0, "−3")],
)
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0.0 s"), (12.4, "12 s"), (119, "119 s"), (600, "10 min"), (7200, "2.0 h")]
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_when():
    assert when("2026-01-31T12:34:56+00:00") == "2026-01-31 12:34 UTC"
