"""Where a task stands on a ladder of records, by its id."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Rung", "rung_of"]

_NUMBER = re.compile(r"(?:^|-)r(\d+)(?=-|$)")


@dataclass(frozen=True, slots=True)
class Rung:
    """The step from one record to the next."""

    number: int
    """Of the record that the task starts from; its reference is the next one."""
    variant: str
    """What is left of the id: tasks of one variant make one chain."""


def rung_of(task: str) -> Rung | None:
    """The rung of `r03-reproduce`, `suite/prefix-r03-reproduce` or either with `@profile`; None without a number."""
    name = task.rpartition("/")[2].partition("@")[0]
    found = _NUMBER.search(name)
    return Rung(int(found[1]), name[: found.start()] + name[found.end() :]) if found else None
