"""Summaries of weighted values, and a bootstrap over trials within tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from surpass.stats.interval import Estimate, Interval

__all__ = ["Statistic", "TooFewTrials", "iqm", "stratified_bootstrap", "weighted_mean", "weighted_median"]


class TooFewTrials(ValueError):
    """A task has fewer than two trials, so nothing is known about how trials of it vary."""


class Statistic(Protocol):
    """A summary of weighted values, such as `iqm`."""

    def __call__(self, values: Sequence[float], weights: Sequence[float], /) -> float: ...


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean; exact to rounding."""
    return math.fsum(v * w for v, w in zip(values, weights, strict=True)) / math.fsum(weights)


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The value below which half of the weight lies; the middle of two neighbours when the half falls between them.

    Raises:
        ValueError: for no values.
    """
    if not values:
        raise ValueError("a median needs at least one value")
    pairs = sorted(zip(values, weights, strict=True))
    half, below = math.fsum(weights) / 2, 0.0
    for index, (value, weight) in enumerate(pairs[:-1]):
        below += weight
        if math.isclose(below, half):
            return (value + pairs[index + 1][0]) / 2
        if below > half:
            return value
    return pairs[-1][0]


def iqm(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """The interquartile mean: the mean of the middle half of the weight (Agarwal et al., NeurIPS 2021, "rliable").

    A value that straddles a quartile counts with the part of its weight that lies inside, so that exactly half of the
    weight is averaged for any number of values. With equal weights and a count divisible by four it equals the mean
    trimmed by a quarter on either side.

    Raises:
        ValueError: for no values, lengths that differ, NaN, or weights that are not positive.
    """
    import numpy as np

    x = np.asarray(values, dtype=np.float64)
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    if x.size == 0 or x.shape != w.shape:
        raise ValueError(f"need as many weights as values and at least one, got {x.size} values, {w.size} weights")
    if not (np.isfinite(x).all() and np.isfinite(w).all() and (w > 0).all()):
        raise ValueError("values must be finite and weights finite and positive")
    order = np.argsort(x, kind="stable")
    upper = np.cumsum(w[order])
    total = upper[-1]
    lower = np.concatenate(([0.0], upper[:-1]))
    inside = np.minimum(upper, 0.75 * total) - np.maximum(lower, 0.25 * total)
    inside = np.maximum(inside, 0.0)
    return float(inside @ x[order] / inside.sum())


def stratified_bootstrap(
    groups: Sequence[Sequence[float]], statistic: Statistic, seed: int, *, level: float = 0.95, repetitions: int = 2000
) -> Estimate:
    """A statistic over tasks with the percentile interval of a bootstrap that resamples trials within each task.

    Args:
        groups: one sequence of trial results per task (stratum). The tasks are fixed: the interval tells how the line
            would move with new trials of these tasks, not with other tasks.
        statistic: gets all values with weights that give every task the same total, whatever its number of trials.
        seed: the same seed gives the same interval.

    Each repetition draws k - 1 of a task's k trials with replacement (Rao and Wu, JASA 83, 1988). Drawing k would
    make the variance too small by (k - 1) / k, which is half of it for two trials.

    Raises:
        TooFewTrials: when a task has fewer than two trials.
        ValueError: when there are no groups.
    """
    import numpy as np

    if not groups:
        raise ValueError("need at least one group")
    if min(map(len, groups)) < 2:
        raise TooFewTrials("every task needs at least two trials before an interval over trials can be given")
    rng = np.random.default_rng(seed)
    weights = [1 / (len(group) - 1) for group in groups for _ in group[1:]]
    draws = np.concatenate(
        [
            np.asarray(group, dtype=np.float64)[rng.integers(len(group), size=(repetitions, len(group) - 1))]
            for group in groups
        ],
        axis=1,
    )
    results = np.array([statistic(row, weights) for row in draws.tolist()])
    low, high = np.quantile(results, [(1 - level) / 2, (1 + level) / 2])
    values = [value for group in groups for value in group]
    point = statistic(values, [1 / len(group) for group in groups for _ in group])
    return Estimate(point, Interval(float(low), float(high), level))
