"""What can be wrong with a task package or with the name of one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["TaskError", "UnknownNameError", "nearest"]


class TaskError(Exception):
    """A task package that cannot be used. The message names file, line and key, and says what to do."""


class UnknownNameError(TaskError):
    """A task, suite, profile or hint level that does not exist."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        hint = nearest(name, names)
        listed = f"known: {', '.join(names[:12])}" + (", ..." if len(names) > 12 else "") if names else "there are none"
        super().__init__(f"unknown {kind} '{name}'{hint}; {listed}")
        self.kind = kind
        self.name = name


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the closest known name, or nothing when none is close."""
    matches = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""
