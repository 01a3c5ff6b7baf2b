"""What counts as a number in decoded JSON."""

from __future__ import annotations

import sys
from typing import TypeGuard

__all__ = ["as_float", "is_finite", "is_number"]


def is_number(value: object) -> TypeGuard[int | float]:
    """True for an int or a float, never for a bool or a numeric text."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: int | float) -> bool:
    """False for NaN, infinities and integers of more digits than a float can hold (where `math.isfinite` raises)."""
    return -sys.float_info.max <= value <= sys.float_info.max


def as_float(value: int | float) -> float | None:
    """The number as a float; None when it is an integer too large for one."""
    return float(value) if isinstance(value, float) or is_finite(value) else None
