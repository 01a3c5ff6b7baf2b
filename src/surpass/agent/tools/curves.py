"""Training dynamics as text: where the loss is, how fast it falls, and what looks wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Curve", "read_curve", "sparkline", "summarise_curve"]

_STEP = re.compile(r"^step[: ]\s*(?P<step>\d+)/(?P<steps>\d+)\s+(?P<rest>.*)$")
_VALUE = re.compile(r"(?P<name>[a-z_]*loss)[: ]\s*(?P<value>[-+.\w]+)")
_BARS = "▁▂▃▄▅▆▇█"
_SPIKE = 0.2
"""A rise above the lowest loss so far of this many nats is called a spike."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity over a run."""

    name: str
    points: tuple[tuple[int, float], ...]
    """(step, value); values may be NaN."""
    steps: int
    """Of the whole run."""


def read_curve(log: str) -> list[Curve]:
    """The curves in a training log of lines `step DONE/STEPS name_loss VALUE`."""
    points: dict[str, list[tuple[int, float]]] = {}
    steps = 0
    for line in log.splitlines():
        if match := _STEP.match(line.strip()):
            steps = int(match["steps"])
            for value in _VALUE.finditer(match["rest"]):
                points.setdefault(value["name"], []).append((int(match["step"]), _number(value["value"])))
    return [Curve(name, tuple(values), steps) for name, values in points.items()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """Values as a line of bars, at most `width` of them; gaps for what is not finite."""
    if not values:
        return ""
    count = min(width, len(values))
    picked = [values[round(i * (len(values) - 1) / max(1, count - 1))] for i in range(count)]
    finite = [value for value in picked if math.isfinite(value)]
    if not finite:
        return " " * count
    low, span = min(finite), (max(finite) - min(finite)) or 1.0
    return "".join(
        _BARS[round((value - low) / span * (len(_BARS) - 1))] if math.isfinite(value) else " " for value in picked
    )


def summarise_curve(curve: Curve) -> str:
    """A curve in three lines: its shape, its milestones, and what stands out."""
    values = [value for _, value in curve.points]
    lines = [f"{curve.name} over {curve.steps} steps: {sparkline(values)}"]
    marks = [0.1, 0.25, 0.5, 0.75, 1.0]
    shown = [(mark, _at(curve, mark)) for mark in marks]
    lines.append(", ".join(f"{mark:.0%}: {value:.4f}" for mark, value in shown if value is not None))
    lines += [f"note: {remark}" for remark in _remarks(curve)]
    return "\n".join(lines)


def _at(curve: Curve, share: float) -> float | None:
    reached = [value for step, value in curve.points if step <= share * curve.steps + 0.5]
    return reached[-1] if reached else None


def _remarks(curve: Curve) -> list[str]:
    values = [value for _, value in curve.points]
    remarks: list[str] = []
    if any(not math.isfinite(value) for value in values):
        first = next(step for step, value in curve.points if not math.isfinite(value))
        remarks.append(f"not finite from step {first}: the rate is too high, or something overflows")
    lowest = math.inf
    for step, value in curve.points:
        if math.isfinite(value):
            if value > lowest + _SPIKE:
                remarks.append(f"a spike at step {step}: {value:.3f} after {lowest:.3f}")
                break
            lowest = min(lowest, value)
    if curve.points and curve.points[-1][0] < curve.steps:
        remarks.append(f"ended at step {curve.points[-1][0]} of {curve.steps}")
    half, end = _at(curve, 0.75), _at(curve, 1.0)
    if half is not None and end is not None and math.isfinite(end) and abs(half - end) < 0.01:
        remarks.append("flat over the last quarter: fewer steps may do, or the rate falls too early")
    return remarks
