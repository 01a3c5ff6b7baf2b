"""The logs of modded-nanogpt: full source, a line of `=`, versions and GPUs, another such line, then the steps."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from surpass.interop.errors import InteropError
from surpass.interop.reading import is_python, read_bytes
from surpass.measure import last_report

__all__ = ["LoggedScript", "TrainingLog", "read_log", "read_source"]

_BAR = re.compile(r"^={20,}[ \t]*$", re.MULTILINE)
"""Shorter lines of `=` occur in sources, where they underline."""


@dataclass(frozen=True, slots=True)
class LoggedScript:
    """A log and the script whose full text it holds."""

    path: Path
    sha256: str
    """Of the log."""
    source: str
    """Empty when the log holds none, as in the first records."""
    steps: str
    """Everything after the source."""


@dataclass(frozen=True, slots=True)
class TrainingLog:
    """One complete run, by its own account."""

    script: LoggedScript
    seconds: float
    """Training time as printed by the script."""
    loss: float
    """Final validation loss in nats a token."""
    steps: int


def read_source(path: Path) -> LoggedScript:
    """Split a log into source and the rest.

    Raises:
        InteropError: the file cannot be read.
    """
    data = read_bytes(path)
    # Console output may hold stray bytes after the source; the source itself has to be Python and is checked.
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    # Old logs open with a line of `=`, newer ones do not.
    parts = [part for part in _BAR.split(text) if part.strip()]
    source = parts[0].strip("\n") + "\n" if len(parts) > 1 and is_python(parts[0]) else ""
    rest = "\n".join(parts[1:]) if source else text
    return LoggedScript(path, hashlib.sha256(data).hexdigest(), source, rest)


def read_log(script: LoggedScript) -> TrainingLog:
    """The result at the end of the log.

    Raises:
        InteropError: no validation lines, a run that ended before its last step, or numbers that are none.
    """
    report = last_report(script.steps)
    if report is None:
        raise InteropError(
            f"{script.path}: holds no line 'step:i/N val_loss:X train_time:Yms'; check out the file again"
        )
    if report.step != report.steps:
        raise InteropError(
            f"{script.path}: ends at step {report.step} of {report.steps}, so it is cut off; check out the file again"
        )
    if not report.complete:
        raise InteropError(
            f"{script.path}: ends with loss {report.loss} after {report.seconds} s, which is no result; "
            "remove the log from the checkout"
        )
    return TrainingLog(script, report.seconds, report.loss, report.steps)
