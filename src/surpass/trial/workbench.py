"""The workbench of one trial: the agent's hands in the sandbox, and the only way to an attempt."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from surpass.agent import AttemptRecord, BudgetExhausted, Feedback
from surpass.guard import Malformed
from surpass.guard.beneath import open_beneath
from surpass.guard.removal import remove_tree
from surpass.sandbox import Completed, Sandbox, SandboxError
from surpass.task import Task, Tier
from surpass.trial.errors import InfraError, StorageError
from surpass.trial.experiment import TrialFolder, copy_folder, write_atomically
from surpass.trial.journal import Attempt, Journal
from surpass.trial.replay import Replay
from surpass.verdict import (
    DATA,
    WORKSPACE,
    Judge,
    Outcome,
    Rejection,
    Verdict,
    VerdictError,
    candidate_environment,
    candidate_limits,
    workspace_mounts,
)

__all__ = ["TrialWorkbench", "printable"]

_READ_BYTES = 64 << 20


class TrialWorkbench:
    """Implements `surpass.agent.Workbench` for one trial."""

    def __init__(
        self,
        *,
        trial: str,
        task: Task,
        prompt: str,
        seed: int,
        sandbox: Sandbox,
        judge: Judge,
        journal: Journal,
        folder: TrialFolder,
        origin: Path,
        used_seconds: float,
        replay: Replay | None = None,
    ) -> None:
        self.prompt = prompt
        self.seed = seed
        self.records = folder.records
        self._trial = trial
        self._task = task
        self._sandbox = sandbox
        self._judge = judge
        self._journal = journal
        self._folder = folder
        self._origin = origin
        self._replay = replay
        self._memory = journal.memory(trial)
        self._used_before = used_seconds
        self._started = time.monotonic()
        self._attempts = journal.attempts(trial)
        self._turn = asyncio.Lock()
        self.broken: Exception | None = None
        """The harness's first own failure: an agent may catch it, but the trial cannot go on."""
        self._mounts = workspace_mounts(judge, folder.workspace)

    @property
    def attempts(self) -> Sequence[AttemptRecord]:
        """What has been tried, as the agent may know it."""
        return [AttemptRecord(attempt.feedback, attempt.note) for attempt in self._attempts]

    def used_seconds(self) -> float:
        """Solve time used so far, by earlier processes of this trial too."""
        return self._used_before + time.monotonic() - self._started

    def seconds_left(self) -> float:
        """Wall-clock seconds of the solve budget that remain."""
        return max(0.0, self._task.spec.budget.solve_minutes * 60.0 - self.used_seconds())

    def attempts_left(self) -> int:
        """Attempts that remain."""
        return max(0, self._task.spec.budget.attempts - len(self._attempts))

    async def exec(self, command: Sequence[str], *, timeout_s: float | None = None) -> Completed:
        """Run a command in the workspace, off the event loop; it ends with the solve budget at the latest.

        One at a time: commands side by side would each get the whole of the task's limits.
        """
        if timeout_s is not None and not 0 < timeout_s < math.inf:
            raise ValueError(f"timeout_s must be a positive number of seconds, got {timeout_s}")
        async with self._turn:
            left = self.seconds_left()
            if left <= 0:
                raise BudgetExhausted("the solve time is used up")
            with self._ours():
                self._journal.spend(self._trial, self.used_seconds())
                return await asyncio.to_thread(
                    self._sandbox.run,
                    command,
                    mounts=self._mounts,
                    env=candidate_environment(self._task, SURPASS_DATA=str(DATA)),
                    cwd=WORKSPACE,
                    limits=candidate_limits(self._task, min(left, timeout_s or self._task.spec.budget.run_seconds)),
                )

    async def settle(self) -> None:
        """Wait for a command that the agent left behind: nothing may change the workspace while it is sealed."""
        async with self._turn:
            return

    async def read(self, path: str) -> bytes:
        """A workspace file, read without following links."""
        with os.fdopen(open_beneath(self._folder.workspace, path, os.O_RDONLY), "rb") as file:
            content = file.read(_READ_BYTES + 1)
        if len(content) > _READ_BYTES:
            raise Malformed("too-large", f"{path}: more than {_READ_BYTES} bytes")
        return content

    async def write(self, path: str, content: bytes) -> None:
        """Create or replace a workspace file, without following links."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(open_beneath(self._folder.workspace, path, flags), "wb") as file:
            file.write(content)
        # Only what was written: the rest belongs to the candidate already, and may be too deep to walk.
        for part in (PurePosixPath(path), *PurePosixPath(path).parents[:-1]):
            self._sandbox.adopt(self._folder.workspace / part, recursive=False)

    async def attempt(self, note: str = "") -> Feedback:
        """Seal the workspace, judge it at the feedback tier, journal it, and tell what the task allows to tell."""
        async with self._turn:
            with self._ours():
                return self._attempt(printable(note))

    def _attempt(self, note: str) -> Feedback:
        number = len(self._attempts) + 1
        place = self._folder.attempt(number)
        remove_tree(place)
        key, verdict = self._seal(place)
        if known := next((attempt for attempt in self._attempts if attempt.key == key), None):
            remove_tree(place)
            return known.feedback
        if self.attempts_left() == 0 or self.seconds_left() <= 0:
            remove_tree(place)
            raise BudgetExhausted("no attempt is left" if self.attempts_left() == 0 else "the solve time is used up")
        at_seconds = self.used_seconds()
        if verdict is None:
            verdict = self._measured(number, key)
        if verdict.outcome is Outcome.INFRA_ERROR:
            raise InfraError(verdict.detail)
        attempt = Attempt(number, key, note, at_seconds, self._feedback(number, verdict), verdict)
        self._journal.add_attempt(self._trial, attempt)
        self._attempts.append(attempt)
        write_atomically(place / "feedback.json", json.dumps(verdict.to_dict(), indent=2) + "\n")
        return attempt.feedback

    def _measured(self, number: int, key: str) -> Verdict:
        if self._replay is not None:
            return self._replay.attempt(key)
        return self._judge.judge(self._folder.submission(number), key, Tier.FEEDBACK)

    async def restore(self, attempt: int) -> None:
        """Replace the workspace's content by that of a sealed attempt, or by what the trial began from."""
        if attempt and not any(each.number == attempt for each in self._attempts):
            raise KeyError(f"there is no attempt {attempt}")
        source = self._folder.submission(attempt) if attempt else self._origin
        if not source.is_dir():
            raise KeyError(f"attempt {attempt} could not be sealed; it has no files to go back to")
        async with self._turn:
            with self._ours():
                self._replace_workspace(source)

    def _replace_workspace(self, source: Path) -> None:
        """The folder itself stays: it is what sandboxes mount."""
        for entry in self._folder.workspace.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                remove_tree(entry)
            else:
                entry.unlink()
        copy_folder(source, self._folder.workspace)
        self._sandbox.adopt(self._folder.workspace)

    @property
    def memory(self) -> Sequence[Mapping[str, Any]]:
        """What the agent has remembered."""
        return tuple(self._memory)

    def remember(self, entry: Mapping[str, Any]) -> None:
        """Journal an entry."""
        document = json.loads(json.dumps(dict(entry), allow_nan=False))
        with self._ours():
            self._journal.remember(self._trial, len(self._memory), document)
        self._memory.append(document)

    def log(self, message: str) -> None:
        """Add a line to the transcript."""
        entry = {"at_seconds": round(self.used_seconds(), 3), "message": printable(message)}
        with self._ours(), self._folder.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    @contextlib.contextmanager
    def _ours(self) -> Iterator[None]:
        """Remember a failure of the harness: it ends the trial as one, even when the agent catches it."""
        if self.broken is not None:
            raise self.broken
        try:
            yield
        except (InfraError, SandboxError, StorageError, VerdictError) as error:
            self.broken = error
            raise
        except OSError as error:
            self.broken = StorageError(f"{error.filename or self._folder.root} cannot be written: {error.strerror}")
            raise self.broken from error

    def _seal(self, place: Path) -> tuple[str, Verdict | None]:
        """The submission's key, and a verdict already when it may not even be sealed."""
        place.mkdir(parents=True)
        try:
            return self._judge.seal(self._folder.workspace, place / "submission").digest, None
        except Rejection as rejection:
            return f"unsealed {rejection}", self._judge.rejected(rejection, Tier.FEEDBACK)

    def _feedback(self, number: int, verdict: Verdict) -> Feedback:
        rules = self._task.spec.feedback
        accepted = verdict.outcome is Outcome.DONE
        score = verdict.scorecard.headline if verdict.scorecard and rules.detail == "score" else None
        full = Feedback(number, accepted, None if score is None else round(score, rules.decimals), verdict.code)
        return full if rules.detail != "none" else replace(full, accepted=None, score=None, code="")


def printable(text: str) -> str:
    """Text that can be stored and shown: what is no character (half a surrogate pair, say) becomes `?`."""
    return str(text).encode("utf-8", "replace").decode("utf-8").replace("\0", "?")
