"""Confidence intervals for a mean of few trials and for a proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

__all__ = ["Estimate", "Interval", "mean_interval", "student", "wilson"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval, both ends included.

    Raises:
        ValueError: when an end is NaN, `low` exceeds `high`, or `level` is not strictly between 0 and 1.
    """

    low: float
    high: float
    level: float = 0.95

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an interval needs low <= high, got [{self.low}, {self.high}]")
        _check_level(self.level)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A point estimate and the interval around it."""

    mean: float
    interval: Interval


def mean_interval(
    values: Sequence[float], standard_errors: Sequence[float], *, systematic: float = 0.0, level: float = 0.95
) -> Estimate:
    """The mean of k trials, each measured with its own known standard error.

    Model: `value_i = mu + trial_i + measurement_i + reference`, with `trial_i` of unknown variance, `measurement_i`
    of standard error `standard_errors[i]`, and `reference`, one error shared by all trials, of standard error
    `systematic`, which no number of trials averages away. The half-widths of the parts are

        measurement  z * sqrt(mean(se_i^2) / k)
        sample       t(k - 1) * sqrt(s^2 / k)            s^2 the sample variance; absent when k = 1
        random       the wider of the two
        total        sqrt(random^2 + (z * systematic)^2)

    The sample variance already holds the measurement errors, so the two are alternatives and never add up; the
    known error is the floor that keeps a few trials which happen to agree from claiming more than was measured.
    Comparing half-widths rather than variances matters for k = 2 and 3: see docs/reference/scoring.md. A single trial
    says nothing about other trials: its interval is about the measurement alone. Trials without any error that all
    agree give an interval of zero width.

    Raises:
        ValueError: for no values, lengths that differ, anything not finite, or a negative standard error.
    """
    count = len(values)
    if count == 0 or count != len(standard_errors):
        raise ValueError(
            f"need as many standard errors as values and at least one, got {count}, {len(standard_errors)}"
        )
    if not all(map(math.isfinite, (*values, *standard_errors, systematic))):
        raise ValueError("values and standard errors must be finite")
    if min(*standard_errors, systematic) < 0:
        raise ValueError("a standard error cannot be negative")
    _check_level(level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    mean = _mean(values)
    random = z * math.hypot(*standard_errors) / count
    if count > 1:
        random = max(random, student(level, count - 1) * math.dist(values, [mean] * count) / _sqrt_pairs(count))
    half = math.hypot(random, z * systematic)
    return Estimate(mean, Interval(mean - half, mean + half, level))


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval for a proportion (E. B. Wilson, JASA 22, 1927); [0, 1] when nothing was tried.

    Raises:
        ValueError: unless 0 <= successes <= n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"need 0 <= successes <= n, got {successes} of {n}")
    _check_level(level)
    if n == 0:
        return Interval(0.0, 1.0, level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # The exact ends at 0 and n are 0 and 1; rounding may miss them, and p, by an ulp.
    low = 0.0 if successes == 0 else min(p, centre - half)
    high = 1.0 if successes == n else max(p, centre + half)
    return Interval(low, high, level)


def _mean(values: Sequence[float]) -> float:
    """Exact to rounding; k equal values give that value, whatever k is."""
    return values[0] + math.fsum(value - values[0] for value in values) / len(values)


def _sqrt_pairs(count: int) -> float:
    """`sqrt(k (k - 1))`: what a root sum of squared deviations is divided by for the standard error of a mean."""
    return math.sqrt(count * (count - 1))


def student(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies strictly between 0 and 1, got {level}")
