"""The workbench of one trial: the agent's hands in the sandbox, and the only way to an attempt."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from surpass.agent import AttemptRecord, BudgetExhausted, Feedback
from surpass.guard import Malformed
from surpass.guard.beneath import open_beneath
from surpass.sandbox import Completed, Sandbox
from surpass.task import Task, Tier
from surpass.trial.errors import InfraError
from surpass.trial.experiment import TrialFolder, write_atomically
from surpass.trial.journal import Attempt, Journal
from surpass.verdict import (
    DATA,
    WORKSPACE,
    Judge,
    Outcome,
    Rejection,
    Verdict,
    candidate_environment,
    candidate_limits,
    workspace_mounts,
)

__all__ = ["TrialWorkbench"]

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
        used_seconds: float,
    ) -> None:
        self.prompt = prompt
        self.seed = seed
        self._trial = trial
        self._task = task
        self._sandbox = sandbox
        self._judge = judge
        self._journal = journal
        self._folder = folder
        self._used_before = used_seconds
        self._started = time.monotonic()
        self._attempts = journal.attempts(trial)
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
        """Run a command in the workspace, off the event loop; it ends with the solve budget at the latest."""
        left = self.seconds_left()
        if left <= 0:
            raise BudgetExhausted("the solve time is used up")
        wall_s = min(timeout_s or self._task.spec.budget.run_seconds, left)
        return await asyncio.to_thread(
            self._sandbox.run,
            command,
            mounts=self._mounts,
            env=candidate_environment(self._task, SURPASS_DATA=str(DATA)),
            cwd=WORKSPACE,
            limits=candidate_limits(self._task, wall_s),
        )

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
        number = len(self._attempts) + 1
        place = self._folder.attempt(number)
        shutil.rmtree(place, ignore_errors=True)
        key, verdict = self._seal(place)
        if known := next((attempt for attempt in self._attempts if attempt.key == key), None):
            shutil.rmtree(place, ignore_errors=True)
            return known.feedback
        if self.attempts_left() == 0 or self.seconds_left() <= 0:
            shutil.rmtree(place, ignore_errors=True)
            raise BudgetExhausted("no attempt is left" if self.attempts_left() == 0 else "the solve time is used up")
        at_seconds = self.used_seconds()
        if verdict is None:
            verdict = self._judge.judge(self._folder.submission(number), key, Tier.FEEDBACK)
        if verdict.outcome is Outcome.INFRA_ERROR:
            raise InfraError(verdict.detail)
        attempt = Attempt(number, key, note, at_seconds, self._feedback(number, verdict), verdict)
        self._journal.add_attempt(self._trial, attempt)
        self._attempts.append(attempt)
        write_atomically(place / "feedback.json", json.dumps(verdict.to_dict(), indent=2) + "\n")
        return attempt.feedback

    def log(self, message: str) -> None:
        """Add a line to the transcript."""
        entry = {"at_seconds": round(self.used_seconds(), 3), "message": message}
        with self._folder.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")

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
