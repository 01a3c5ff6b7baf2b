"""The ratio of two means of paired measurements, and how often such pairs have to be repeated.

Fieller's theorem (E. C. Fieller, J. R. Stat. Soc. B 16, 1954): for pairs (y_i, x_i), the ratios theta that a t-test of
mean(y - theta x) = 0 does not reject form the interval. Unlike the delta method it stays right when the denominator
is itself uncertain, and says so: when mean(x) does not differ from 0, every ratio is possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from surpass.stats.interval import Estimate, Interval, student

__all__ = ["Repeats", "paired_ratio"]


@dataclass(frozen=True, slots=True)
class Repeats:
    """A sequential rule: repeat at least `least` times, then until the interval is narrow enough, at most `most` times.

    Looking after each repeat and stopping at a narrow interval favours samples that scatter little by chance, so the
    interval is taken at the higher `nominal` level, which keeps its coverage at 95 % (a test simulates that).
    """

    least: int = 3
    most: int = 4
    half_width: float = 0.05
    nominal: float = 0.97

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise ValueError(f"need 1 <= least <= most, got {self.least} and {self.most}")

    def enough(self, rounds: int, interval: Interval) -> bool:
        """True when no further repeat is wanted."""
        return rounds >= self.most or (rounds >= self.least and (interval.high - interval.low) / 2 <= self.half_width)


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float], *, level: float = 0.95) -> Estimate:
    """mean(numerators) / mean(denominators) with Fieller's interval, which need not be symmetric.

    Where the denominator does not differ from 0 at this level, the interval is unbounded. With a single pair
    it is unbounded as well: one pair says nothing about scatter.

    Raises:
        ValueError: for no pairs, unequal lengths, anything not finite, or denominators that average to 0.
    """
    count = len(numerators)
    if count == 0 or count != len(denominators):
        raise ValueError(f"a paired ratio needs pairs, got {count} numerators and {len(denominators)} denominators")
    if not all(map(math.isfinite, (*numerators, *denominators))):
        raise ValueError("a paired ratio needs finite numbers")
    y, x = math.fsum(numerators) / count, math.fsum(denominators) / count
    if x == 0:
        raise ValueError("the denominators average to 0")
    if count == 1:
        return Estimate(y / x, Interval(-math.inf, math.inf, level))
    yy, xy, xx = _moments(numerators, denominators, y, x)
    return Estimate(y / x, _fieller(y, x, (yy, xy, xx), student(level, count - 1) ** 2, level))


def _moments(ys: Sequence[float], xs: Sequence[float], y: float, x: float) -> tuple[float, float, float]:
    """Variances and covariance of the two means."""
    pairs = len(ys) * (len(ys) - 1)
    return (
        math.fsum((value - y) ** 2 for value in ys) / pairs,
        math.fsum((a - y) * (b - x) for a, b in zip(ys, xs, strict=True)) / pairs,
        math.fsum((value - x) ** 2 for value in xs) / pairs,
    )


def _fieller(y: float, x: float, moments: tuple[float, float, float], t2: float, level: float) -> Interval:
    """The roots of (y - r x)^2 = t^2 (yy - 2 r xy + r^2 xx) in r."""
    yy, xy, xx = moments
    a, b, c = x * x - t2 * xx, x * y - t2 * xy, y * y - t2 * yy
    if a <= 0:
        return Interval(-math.inf, math.inf, level)
    # With a > 0 the discriminant is positive but for rounding: the ratio itself lies between the roots.
    spread = math.sqrt(max(0.0, b * b - a * c))
    low, high = (b - spread) / a, (b + spread) / a
    ratio = y / x
    return Interval(min(low, ratio), max(high, ratio), level)
