"""The last line of a script that times itself, in the form that the NanoGPT speedrun's scripts print it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

__all__ = ["Report", "last_report"]

_LINE = re.compile(
    r"^step:(\d{1,9})/(\d{1,9}) val_loss:(\S{1,32}) train_time:(\d{1,15}(?:\.\d{1,30})?)ms", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Report:
    """One validation, by the script's own account."""

    step: int
    steps: int
    loss: float
    """Nats a token; NaN when what was printed is no number."""
    seconds: float
    """Training time so far: without what the script excludes, such as warm-up and validation."""

    @property
    def complete(self) -> bool:
        """True when it was made after the last step and its numbers are numbers."""
        return self.step == self.steps and math.isfinite(self.loss) and self.seconds > 0


def last_report(text: str) -> Report | None:
    """The last line `step:i/N val_loss:X train_time:Yms` of a log, or None when it has none."""
    found = _LINE.findall(text)
    if not found:
        return None
    step, steps, loss, milliseconds = found[-1]
    try:
        value = float(loss)
    except ValueError:
        value = math.nan
    return Report(int(step), int(steps), value, float(milliseconds) / 1000)
