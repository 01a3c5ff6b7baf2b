"""What a check is, and what it says."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from surpass.task import Task

if TYPE_CHECKING:
    from surpass.check.dynamic.lab import Lab

__all__ = ["Check", "DynamicRun", "Finding", "Kind", "Problem", "Remark", "Report", "Skip", "StaticRun", "Status"]

Status = Literal["pass", "fail", "skip"]


class Kind(enum.StrEnum):
    """Whether a check only reads the package, or runs it."""

    STATIC = "static"
    DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one check about one task; a check with several problems gives one `fail` for each."""

    id: str
    task: str
    status: Status
    kind: Kind
    reason: str
    """What was found; for a pass what was looked at."""
    fix: str
    """What to do; empty unless it failed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self) | {"kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong. Without a `fix` of its own the check's applies."""

    reason: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a check measured; shown as the reason when it passes."""

    text: str


class Skip(Exception):
    """A check cannot run on this task or machine; the message says why."""


Report = Iterator[Problem | Remark]
StaticRun = Callable[[Task], Report]
DynamicRun = Callable[["Lab"], Report]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that a task package keeps."""

    id: str
    title: str
    kind: Kind
    why: str
    """One line: what goes wrong in a task that breaks the rule."""
    fix: str
    static: StaticRun | None = None
    dynamic: DynamicRun | None = None

    def __post_init__(self) -> None:
        expected = self.static if self.kind is Kind.STATIC else self.dynamic
        if expected is None or (self.static is None) == (self.dynamic is None):
            raise ValueError(f"check {self.id} needs exactly one function, of its own kind")
