"""Numbers as a reader wants them. Each returns plain text, which the template escapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ABSENT", "FILTERS", "duration", "number", "recovery", "signed", "when"]

ABSENT = "–"  # noqa: RUF001 - an en dash: nothing was measured, which is not zero
_MINUS = "−"  # noqa: RUF001 - as wide as a plus, so that columns align


def recovery(value: float | None) -> str:
    """Two decimals."""
    return ABSENT if value is None else _tidy(f"{value:z.2f}")


def signed(value: float | None) -> str:
    """Two decimals with a sign; as many digits as fit a column when the number is huge."""
    if value is None:
        return ABSENT
    return _tidy(f"{value:+z.2f}" if abs(value) < 1e4 else f"{value:+.1e}")


def number(value: float | None) -> str:
    """Four significant digits."""
    if value is None:
        return ABSENT
    if 1e4 <= abs(value) < 1e7:
        return _tidy(f"{value:.0f}")
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return _tidy(f"{mantissa}e{int(exponent)}" if exponent else mantissa)


def duration(seconds: float) -> str:
    """Seconds below two minutes, then minutes, then hours."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def when(timestamp: str) -> str:
    """`2026-01-31T12:34:56+00:00` as `2026-01-31 12:34 UTC`."""
    return timestamp[:16].replace("T", " ") + (" UTC" if timestamp.endswith("+00:00") else "")


FILTERS: dict[str, Callable[..., Any]] = {
    "recovery": recovery,
    "signed": signed,
    "number": number,
    "duration": duration,
    "when": when,
}


def _tidy(text: str) -> str:
    """With a real minus sign."""
    return text.replace("-", _MINUS)
