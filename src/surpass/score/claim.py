"""What an interval lets us say about the published SOTA."""

from __future__ import annotations

import enum
import math
from typing import Protocol

__all__ = ["Claim", "claim"]


class Bounds(Protocol):
    """An interval's two ends; `surpass.stats.Interval` is one."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class Claim(enum.StrEnum):
    """The one conclusion that a result supports."""

    REPRODUCED = "reproduced"
    MATCHED = "matched"
    SURPASSED = "surpassed"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


def claim(estimate_mean: float, interval: Bounds, tie_band: float, has_score: bool) -> Claim:
    """The claim that a recovery's interval supports, 1 being the published SOTA.

    The band of ties is [1 - tie_band, 1 + tie_band], both ends included. Where the interval's ends lie decides:

        low end     high end    claim           test it amounts to
        above       above       surpassed       superiority by more than the band
        inside      above       matched         non-inferiority
        inside      inside      reproduced      equivalence
        below       below       failed          inferiority by more than the band
        below       elsewhere   inconclusive    none of them

    Without any valid score the claim is failed, whatever the interval.

    Raises:
        ValueError: when the band is negative or not finite, or the interval does not hold the mean.
    """
    if not 0 <= tie_band < math.inf:
        raise ValueError(f"a tie band is finite and not negative, got {tie_band}")
    if not interval.low <= estimate_mean <= interval.high:
        raise ValueError(f"the interval [{interval.low}, {interval.high}] does not hold the mean {estimate_mean}")
    worst, best = 1 - tie_band, 1 + tie_band
    if not has_score or interval.high < worst:
        return Claim.FAILED
    if interval.low < worst:
        return Claim.INCONCLUSIVE
    if interval.low > best:
        return Claim.SURPASSED
    return Claim.MATCHED if interval.high > best else Claim.REPRODUCED
