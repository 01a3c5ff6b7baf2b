"""One line an agent over all tasks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from surpass.analysis.records import Overall, Row
from surpass.score import Claim
from surpass.stats import Estimate, TooFewTrials, iqm, stratified_bootstrap, weighted_mean, weighted_median
from surpass.stats.bootstrap import Statistic

__all__ = ["overall"]

_BEST_FIRST = (Claim.SURPASSED, Claim.MATCHED, Claim.REPRODUCED, Claim.INCONCLUSIVE, Claim.FAILED)
_SEED = 0
"""Of the bootstrap: the same journal gives the same report."""


def overall(
    agents: Sequence[str],
    rows: Sequence[Row],
    headlines: Mapping[tuple[str, str], Sequence[float]],
    *,
    level: float,
) -> tuple[Overall, ...]:
    """Mean and interquartile mean over tasks, each task with the same weight, highest mean first.

    Args:
        headlines: recovery of each judged trial by (task, agent).
    """
    lines = [_line(agent, [row for row in rows if row.agent == agent], headlines, level) for agent in agents]
    return tuple(sorted(lines, key=lambda line: (line.mean is None, -(line.mean or 0.0))))


def _line(
    agent: str, rows: Sequence[Row], headlines: Mapping[tuple[str, str], Sequence[float]], level: float
) -> Overall:
    groups = [headlines[row.task, agent] for row in rows if row.judged]
    mean, mean_low, mean_high = _estimated(groups, weighted_mean, level)
    median, median_low, median_high = _estimated(groups, weighted_median, level)
    middle, iqm_low, iqm_high = _estimated(groups, iqm, level)
    gaps = [row.g for row in rows if row.g is not None]
    claims = Counter(row.claim for row in rows if row.judged)
    return Overall(
        agent=agent,
        tasks=len(groups),
        missing=len(rows) - len(groups),
        mean=mean,
        mean_low=mean_low,
        mean_high=mean_high,
        median=median,
        median_low=median_low,
        median_high=median_high,
        iqm=middle,
        iqm_low=iqm_low,
        iqm_high=iqm_high,
        g=math.fsum(g / len(gaps) for g in gaps) if gaps else None,
        claims=tuple((claim, claims[claim]) for claim in _BEST_FIRST if claims[claim]),
    )


def _estimated(
    groups: Sequence[Sequence[float]], statistic: Statistic, level: float
) -> tuple[float | None, float | None, float | None]:
    """Point, low and high end; no ends when some task has a single trial, nothing at all without tasks."""
    if not groups:
        return None, None, None
    try:
        estimate: Estimate = stratified_bootstrap(groups, statistic, _SEED, level=level)
    except TooFewTrials:
        values = [value for group in groups for value in group]
        weights = [1 / len(group) for group in groups for _ in group]
        return statistic(values, weights), None, None
    return estimate.mean, estimate.interval.low, estimate.interval.high
