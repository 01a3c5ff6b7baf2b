"""From the trials of one agent on one task to a row of the results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from surpass.score.claim import Claim, claim
from surpass.score.gap import MISSING
from surpass.score.recovery import FLOOR, bounded
from surpass.score.scorecard import Scorecard
from surpass.stats import Interval, mean_interval

__all__ = ["TaskEstimate", "combine"]


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """What k trials of one agent on one task come to."""

    trials: int
    failed_trials: int
    """Trials without a scorecard, or whose every instance failed."""
    recovery: float
    """Mean headline, failed trials at the floor."""
    interval: Interval
    g: float | None
    """Mean g, failed trials at -1; None when the task has no g."""
    claim: Claim


def combine(scorecards: Sequence[Scorecard | None], tie_band: float, *, level: float = 0.95) -> TaskEstimate:
    """Combine the trials of one (task, agent), None standing for a trial that failed as a whole.

    The interval is `surpass.stats.mean_interval` over the headlines: measurement and trial-to-trial errors shrink
    with the number of trials, the error of the references does not. Every trial meets the same references, so their
    systematic errors move together; the mean of the trials' systematic errors is used, which by the triangle
    inequality is never below the systematic error of the mean. The interval is cut to the range of a recovery.

    A trial that an infrastructure failure ended is no result: leave it out of `scorecards` and report it beside.

    Raises:
        ValueError: for no trials, trials scored on different instances, or a bad tie band.
    """
    if not scorecards:
        raise ValueError("combining needs at least one trial")
    present = [card for card in scorecards if card is not None]
    if len({tuple(score.name for score in card.instances) for card in present}) > 1:
        raise ValueError("these trials were scored on different instances and cannot be combined")
    count = len(scorecards)
    absent = count - len(present)
    estimate = mean_interval(
        [card.headline for card in present] + [FLOOR] * absent,
        [card.random_se for card in present] + [0.0] * absent,
        systematic=math.fsum(card.systematic_se / count for card in present),
        level=level,
    )
    interval = Interval(bounded(estimate.interval.low), bounded(estimate.interval.high), level)
    scored = sum(card.has_score for card in present)
    return TaskEstimate(
        trials=count,
        failed_trials=count - scored,
        recovery=bounded(estimate.mean),
        interval=interval,
        g=_mean_gap(present, absent),
        claim=claim(bounded(estimate.mean), interval, tie_band, scored > 0),
    )


def _mean_gap(present: Sequence[Scorecard], absent: int) -> float | None:
    gaps = [card.g for card in present if card.g is not None]
    if present and not gaps:
        return None
    gaps += [MISSING] * absent
    return math.fsum(g / len(gaps) for g in gaps)
