"""How far a training run says it is, and when it is no longer worth its time.

A script may print `step DONE/STEPS train_loss X`. What it prints is never a score: it can only end a run early.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["EarlyStop", "Progress", "envelope_of"]

_LINE = re.compile(rb"^step (\d{1,9})/(\d{1,9}) train_loss (\S{1,32})\s*$")
_MOST_POINTS = 1000
_SMOOTHED = 3


@dataclass(slots=True)
class Progress:
    """What one run has said so far, and the seconds that it has used since the hand-over."""

    steps: int = 0
    """Steps of the whole run, by its own account; 0 when it does not say."""
    points: list[tuple[float, float]] = field(default_factory=list)
    """(share of the steps done, training loss), in the order in which they came."""
    spent_s: float = 0.0
    """In the clock of the comparison: CPU or wall seconds."""

    def read(self, line: bytes) -> None:
        """Take in one line of output; anything but a line of progress is ignored."""
        found = _LINE.match(line)
        if found is None or len(self.points) >= _MOST_POINTS:
            return
        done, steps = int(found[1]), int(found[2])
        try:
            loss = float(found[3])
        except ValueError:
            return
        if 0 < done <= steps:
            self.steps = steps
            self.points.append((done / steps, loss))

    @property
    def share(self) -> float:
        """Of the steps that are done, by the run's own account."""
        return self.points[-1][0] if self.points else 0.0

    @property
    def loss(self) -> float:
        """Mean of the last few reported losses; NaN before the first."""
        last = [loss for _, loss in self.points[-_SMOOTHED:]]
        return math.fsum(last) / len(last) if last else math.nan


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """When a candidate's run is ended before its time.

    Both rules are calibrated on the ladder's own records: `surpass calibrate` tells how close each of them comes.
    """

    slower: float = 1.05
    """Times the baseline's seconds of the same round. Paired noise is below 1 % for runs of some seconds."""
    slack_s: float = 0.5
    """Seconds that are forgiven in any case: equal runs of less than a second can differ by a third of one."""
    projected: float = 1.5
    """Times the baseline's, for the time that a run will take if its remaining steps cost what its past ones did."""
    envelope: tuple[tuple[float, float], ...] = ()
    """(share of the steps, highest smoothed training loss at which a run may still be), in rising order."""
    least_share: float = 0.3
    """Nothing is projected before this share of the steps: early steps carry start-up costs."""

    def reason(self, candidate: Progress, baseline_s: float | None) -> str:
        """`slower`, `hopeless`, or nothing. `baseline_s` is None while the baseline itself still runs."""
        if candidate.points and not math.isfinite(candidate.points[-1][1]):
            return "hopeless"
        spent_s = candidate.spent_s - self.slack_s
        if baseline_s is not None and spent_s > self.slower * baseline_s:
            return "slower"
        if self._too_high(candidate):
            return "hopeless"
        share = candidate.share
        if baseline_s is not None and share >= self.least_share:
            return "slower" if spent_s / share > self.projected * baseline_s else ""
        return ""

    def _too_high(self, candidate: Progress) -> bool:
        reached = [highest for share, highest in self.envelope if share <= candidate.share]
        return bool(reached) and len(candidate.points) >= _SMOOTHED and candidate.loss > reached[-1]


def envelope_of(curves: Sequence[Progress], shares: Sequence[float], margin: float) -> tuple[tuple[float, float], ...]:
    """The envelope that lets all these runs pass with `margin` to spare."""
    envelope = []
    for share in shares:
        # From this share to the next the bound stays the same, so the highest smoothed loss after it counts.
        highest = max(_smoothed_after(curve, share) for curve in curves)
        envelope.append((share, highest + margin))
    return tuple(envelope)


def _smoothed_after(curve: Progress, share: float) -> float:
    values = []
    for index in range(_SMOOTHED - 1, len(curve.points)):
        window = curve.points[index - _SMOOTHED + 1 : index + 1]
        if window[-1][0] >= share:
            values.append(math.fsum(loss for _, loss in window) / _SMOOTHED)
    return max(values, default=-math.inf)
