"""What an instance's score is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

__all__ = ["Direction", "Reference", "Scale"]

Direction = Literal["lower", "higher"]
Scale = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Reference:
    """The two anchors of one instance, each with one standard error, and the range its metric can take.

    Raises:
        ValueError: for anything not finite, a negative spread, an empty range, or a log scale that reaches 0 or below.
    """

    direction: Direction
    baseline: float
    baseline_spread: float
    sota: float
    sota_spread: float
    scale: Scale
    low: float
    high: float

    def __post_init__(self) -> None:
        numbers = (self.baseline, self.baseline_spread, self.sota, self.sota_spread, self.low, self.high)
        if not all(map(math.isfinite, numbers)):
            raise ValueError(f"a reference must be finite: {self}")
        if self.direction not in ("lower", "higher") or self.scale not in ("linear", "log"):
            raise ValueError(f"direction is lower or higher, scale linear or log: {self}")
        if self.baseline_spread < 0 or self.sota_spread < 0:
            raise ValueError(f"a spread cannot be negative: {self}")
        if not (self.low < self.high and self._holds(self.baseline) and self._holds(self.sota)):
            raise ValueError(f"the range must hold baseline and sota: {self}")
        if self.scale == "log" and self.low <= 0:
            raise ValueError(f"a log scale needs a range above 0: {self}")

    def _holds(self, value: float) -> bool:
        return self.low <= value <= self.high
