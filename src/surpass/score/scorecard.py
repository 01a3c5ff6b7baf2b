"""From an evaluator's metrics to the scorecard of one submission."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from surpass.score.gap import UndefinedGap, instance_gap
from surpass.score.numbers import is_finite, is_number
from surpass.score.recovery import FLOOR, RecoveryError, bounded, recovery, recovery_se
from surpass.score.reference import Reference

__all__ = ["InstanceScore", "Scorecard", "score_instances"]


@dataclass(frozen=True, slots=True)
class InstanceScore:
    """One instance. Without a usable value, `failure` says why and the recovery is at the floor."""

    name: str
    value: float | None
    value_se: float | None
    """The standard error that the evaluator gave; None for an exact metric or a failed instance."""
    recovery: float | None
    """Not bounded; None when failed."""
    bounded: float
    random_se: float
    systematic_se: float
    g: float | None
    """None when the SOTA is 0, where g does not exist."""
    failure: str | None = None
    """missing | not-a-number | not-finite | out-of-range | bad-standard-error; None when scored."""

    @property
    def failed(self) -> bool:
        return self.failure is not None


@dataclass(frozen=True, slots=True)
class Scorecard:
    """All instances of one submission, and their means with equal weights."""

    instances: tuple[InstanceScore, ...]
    headline: float
    """Mean bounded recovery over all instances, failed ones at the floor."""
    random_se: float
    systematic_se: float
    g: float | None
    """Mean g over the instances that have one, failed ones at -1; None when no instance has one."""

    @property
    def has_score(self) -> bool:
        """True when at least one instance has a value."""
        return not all(score.failed for score in self.instances)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for strict JSON: no NaN, no infinities."""
        return {**asdict(self), "instances": [asdict(score) for score in self.instances]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` gave.

        Raises:
            TypeError, KeyError: when a field is missing or unknown.
        """
        return cls(**{**data, "instances": tuple(InstanceScore(**score) for score in data["instances"])})


def score_instances(
    metrics: Mapping[str, Mapping[str, float] | None],
    references: Mapping[str, Reference],
    metric_names: Mapping[str, str],
) -> Scorecard:
    """Score a submission on every instance that has a reference.

    Args:
        metrics: what the evaluator reported by instance; None or absent for an instance that failed. The primary
            metric's standard error is `<metric>_se` where the metric has one.
        references: the anchors of each instance. Reports on other instances are ignored.
        metric_names: the primary metric of each instance.

    Instances are independent, so the errors of the mean add in quadrature. A clipped or failed instance adds none:
    a small change of its value would not change its score.

    Raises:
        UndefinedRecovery: when an instance's baseline and SOTA coincide.
        ValueError: when there are no references.
        KeyError: when an instance has no metric name.
    """
    if not references:
        raise ValueError("a scorecard needs at least one instance")
    scores = tuple(
        _score(name, metrics.get(name), metric_names[name], reference) for name, reference in references.items()
    )
    gaps = [score.g for score in scores if score.g is not None]
    count = len(scores)
    return Scorecard(
        instances=scores,
        headline=math.fsum(score.bounded for score in scores) / count,
        random_se=_representable(math.hypot(*(score.random_se for score in scores))) / count,
        systematic_se=_representable(math.hypot(*(score.systematic_se for score in scores))) / count,
        g=_representable(math.fsum(g / len(gaps) for g in gaps)) if gaps else None,
    )


def _score(name: str, metrics: Mapping[str, float] | None, metric: str, reference: Reference) -> InstanceScore:
    read = _read(metrics or {}, metric, reference)
    if isinstance(read, str):
        return InstanceScore(name, None, None, None, FLOOR, 0.0, 0.0, _gap(None, reference), read)
    value, value_se = read
    raw = recovery(value, reference)
    score = bounded(raw)
    error = recovery_se(value, value_se or 0.0, reference) if score == raw else RecoveryError(0.0, 0.0)
    return InstanceScore(
        name=name,
        value=value,
        value_se=value_se,
        recovery=_representable(raw),
        bounded=score,
        random_se=_representable(error.random),
        systematic_se=_representable(error.systematic),
        g=_gap(value, reference),
    )


def _read(metrics: Mapping[str, object], metric: str, reference: Reference) -> tuple[float, float | None] | str:
    """The primary metric's value and standard error, or why there is nothing to score."""
    value, value_se = metrics.get(metric), metrics.get(f"{metric}_se")
    if value is None:
        return "missing"
    if not is_number(value):
        return "not-a-number"
    if not is_finite(value):
        return "not-finite"
    if not reference.low <= value <= reference.high:
        return "out-of-range"
    if value_se is not None and not (is_number(value_se) and is_finite(value_se) and value_se >= 0):
        return "bad-standard-error"
    return float(value), None if value_se is None else float(value_se)


def _gap(value: float | None, reference: Reference) -> float | None:
    try:
        return _representable(instance_gap(value, reference.sota, reference.direction))
    except UndefinedGap:
        return None


def _representable(number: float) -> float:
    """The nearest number that strict JSON can hold: a division by something tiny may have overflowed."""
    return min(max(number, -sys.float_info.max), sys.float_info.max)
