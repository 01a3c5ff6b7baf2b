"""Recovery: the share of the way from the baseline to the published SOTA.

With metric m, baseline b and SOTA s, for either direction:

    linear  R = (m - b) / (s - b)
    log     R = ln(b / m) / ln(b / s)

so that b scores 0 and s scores 1. On a speedrun's time the linear R is FSR, the fraction of the human speedup
recovered (arXiv 2506.22419). The errors follow by the delta method, one partial derivative per uncertain number:

              dR/dm            dR/db                dR/ds
    linear    1 / (s - b)      (R - 1) / (s - b)    -R / (s - b)
    log       -1 / (m L)       (1 - R) / (b L)      R / (s L)          L = ln(b / s)

m varies between trials (random); b and s are the same numbers in each (systematic).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from surpass.score.reference import Reference

__all__ = ["CEILING", "FLOOR", "RecoveryError", "UndefinedRecovery", "bounded", "recovery", "recovery_se"]

FLOOR = -0.5
"""The lowest bounded recovery, and the score of a failed instance (reference/tasks.md, section 0)."""
CEILING = 1.5
"""The highest bounded recovery."""


class UndefinedRecovery(ValueError):
    """Baseline and SOTA coincide, so that there is no way to recover."""


@dataclass(frozen=True, slots=True)
class RecoveryError:
    """Standard errors of one recovery, by origin."""

    random: float
    """From the measured value: independent between trials."""
    systematic: float
    """From baseline and SOTA: common to all trials of the instance."""


def recovery(value: float, reference: Reference) -> float:
    """R of a metric's value, unbounded. On a log scale a value below the range's low end counts as that end.

    Raises:
        UndefinedRecovery: when baseline and SOTA coincide.
        ValueError: when the value is not finite.
    """
    if not math.isfinite(value):
        raise ValueError(f"recovery of {value} is undefined")
    # Adding 0.0 turns the -0.0 of an unchanged start into a plain zero.
    return _travelled(value, reference) / _distance(reference) + 0.0


def recovery_se(value: float, value_se: float, reference: Reference) -> RecoveryError:
    """Standard errors of `recovery(value, reference)` by the delta method (formulas at the top of this file).

    Raises:
        UndefinedRecovery, ValueError: as `recovery`; also when `value_se` is negative or not finite.
    """
    if not 0 <= value_se < math.inf:
        raise ValueError(f"a standard error is finite and not negative, got {value_se}")
    r = recovery(value, reference)
    distance = abs(_distance(reference))
    b, s = reference.baseline, reference.sota
    if reference.scale == "linear":
        unit_m, unit_b, unit_s = 1.0, 1.0, 1.0
    else:
        # A value below the range is held at its low end, where a small change of it changes nothing.
        unit_m = 1 / value if value >= reference.low else 0.0
        unit_b, unit_s = 1 / b, 1 / s
    return RecoveryError(
        random=unit_m * value_se / distance,
        systematic=math.hypot(
            (1 - r) * unit_b * reference.baseline_spread / distance, r * unit_s * reference.sota_spread / distance
        ),
    )


def bounded(r: float) -> float:
    """R held inside [FLOOR, CEILING], so that no instance outweighs the others of its task."""
    return min(max(r, FLOOR), CEILING)


def _travelled(value: float, reference: Reference) -> float:
    if reference.scale == "linear":
        return value - reference.baseline
    return math.log(reference.baseline) - math.log(max(value, reference.low))


def _distance(reference: Reference) -> float:
    """The whole way: `_travelled` at the SOTA, never 0."""
    distance = _travelled(reference.sota, reference)
    if distance == 0:
        raise UndefinedRecovery(f"baseline and sota are both {reference.sota}")
    return distance
