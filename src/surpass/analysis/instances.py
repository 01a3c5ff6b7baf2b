"""What the trials of one agent on one task come to, instance by instance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from surpass.analysis.records import InstanceRow
from surpass.score import FLOOR, MISSING, InstanceScore, bounded
from surpass.score.reference import Scale
from surpass.stats import mean_interval
from surpass.task import Instance, Spec
from surpass.verdict import Verdict

__all__ = ["instance_rows"]


def instance_rows(verdicts: Sequence[Verdict | None], spec: Spec | None, *, level: float) -> tuple[InstanceRow, ...]:
    """One row an instance over judged trials; empty when there are none, or when nobody knows the instances.

    Without the task's spec the names come from the scorecards, and what only the spec knows is left out.
    """
    if not verdicts:
        return ()
    if spec is not None:
        return tuple(_row(instance.name, verdicts, instance, level) for instance in spec.instance)
    card = next((v.scorecard for v in verdicts if v is not None and v.scorecard is not None), None)
    return tuple(_row(score.name, verdicts, None, level) for score in card.instances) if card else ()


def _row(name: str, verdicts: Sequence[Verdict | None], instance: Instance | None, level: float) -> InstanceRow:
    scores = [_score(verdict, name) for verdict in verdicts]
    present = [score for score in scores if score is not None]
    count = len(scores)
    absent = count - len(present)
    scale = instance.scale if instance else None
    estimate = mean_interval(
        [score.bounded for score in present] + [FLOOR] * absent,
        [score.random_se for score in present] + [0.0] * absent,
        systematic=math.fsum(score.systematic_se / count for score in present),
        level=level,
    )
    failures = Counter(
        _failure(verdict, name, score)
        for verdict, score in zip(verdicts, scores, strict=True)
        if score is None or score.failed
    )
    return InstanceRow(
        name=name,
        metric=instance.metric if instance else "",
        unit=instance.unit if instance else "",
        direction=instance.direction if instance else None,
        scale=scale,
        baseline=instance.baseline if instance else None,
        sota=instance.sota if instance else None,
        value=_mean([score.value for score in present if score.value is not None], scale),
        recovery=bounded(estimate.mean),
        low=bounded(estimate.interval.low),
        high=bounded(estimate.interval.high),
        g=_gap(present, absent, instance),
        trials=count,
        clipped=sum(score.recovery is not None and score.recovery != score.bounded for score in present),
        failures=tuple(failures.most_common()),
    )


def _score(verdict: Verdict | None, name: str) -> InstanceScore | None:
    if verdict is None or verdict.scorecard is None:
        return None
    return next((score for score in verdict.scorecard.instances if score.name == name), None)


def _failure(verdict: Verdict | None, name: str, score: InstanceScore | None) -> str:
    """The most specific code there is."""
    known = score.failure if score else None
    if verdict is None:
        return known or "failed"
    return verdict.failures.get(name) or known or verdict.code or verdict.outcome.value


def _mean(values: Sequence[float], scale: Scale | None) -> float | None:
    """On a log scale recovery is a mean of logarithms; only the geometric mean of the values agrees with it."""
    if not values:
        return None
    if scale == "log":
        return math.exp(fmean(math.log(value) for value in values))
    return math.fsum(value / len(values) for value in values)


def _gap(present: Sequence[InstanceScore], absent: int, instance: Instance | None) -> float | None:
    gaps = [score.g for score in present if score.g is not None]
    if (present and not gaps) or (instance is not None and instance.sota == 0):
        return None
    gaps += [MISSING] * absent
    return math.fsum(g / len(gaps) for g in gaps)
