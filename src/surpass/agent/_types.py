"""The Agent Protocol and the Workbench: all that an agent may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from surpass.sandbox import Completed

__all__ = ["Agent", "AttemptRecord", "BudgetExhausted", "Feedback", "ModelUnavailable", "Workbench"]


class BudgetExhausted(Exception):
    """The trial's attempts or its time are used up. An agent that lets it pass simply ends."""


class ModelUnavailable(Exception):
    """The model cannot be reached: no failure of the agent's, so the trial can be resumed."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the harness tells an agent about one attempt."""

    attempt: int
    """Counted from 1."""
    accepted: bool | None
    """True when it scored; None when the task keeps even that to itself."""
    score: float | None
    """Recovery at the feedback tier, rounded as the task says; None when the task gives no score."""
    code: str = ""
    """Why it did not score."""


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An attempt of this trial that has been journalled."""

    feedback: Feedback
    note: str


class Workbench(Protocol):
    """One trial, as the agent sees it. Paths are relative to the workspace."""

    prompt: str
    """The brief, and what the hint level adds."""
    seed: int
    """For the agent's own random choices."""
    records: Path
    """A folder on the host for what the agent's own software writes about the trial; no sandbox sees it."""

    @property
    def attempts(self) -> Sequence[AttemptRecord]:
        """What has been tried in this trial, earlier runs of an interrupted trial included."""

    def seconds_left(self) -> float:
        """Wall-clock seconds of the solve budget that remain."""

    def attempts_left(self) -> int:
        """Attempts that remain."""

    async def exec(self, command: Sequence[str], *, timeout_s: float | None = None) -> Completed:
        """Run a command in the workspace, inside the sandbox; nothing survives it.

        Raises:
            BudgetExhausted: no time is left.
        """

    async def read(self, path: str) -> bytes:
        """A workspace file. Links are not followed.

        Raises:
            FileNotFoundError: there is none.
            Malformed: it is no regular file.
        """

    async def write(self, path: str, content: bytes) -> None:
        """Create or replace a workspace file, with the folders above it."""

    async def attempt(self, note: str = "") -> Feedback:
        """Hand in the workspace as it is. Content that was handed in before is answered from the journal for free.

        Raises:
            BudgetExhausted: no attempt or no time is left.
        """

    async def restore(self, attempt: int) -> None:
        """Put the workspace back to what was handed in as that attempt; 0 is where the trial began.

        Raises:
            KeyError: there is no such attempt, or it could not be sealed.
        """

    @property
    def memory(self) -> Sequence[Mapping[str, Any]]:
        """What has been remembered in this trial, earlier runs of an interrupted trial included; oldest first."""

    def remember(self, entry: Mapping[str, Any]) -> None:
        """Keep something for good, before the next step: a document of plain JSON values."""

    def log(self, message: str) -> None:
        """Add a line to the trial's transcript."""


class Agent(Protocol):
    """Whatever turns a task into a submission."""

    name: str

    async def solve(self, bench: Workbench) -> None:
        """Work until done. The best attempt at the feedback tier is judged; without attempts, the workspace is."""
