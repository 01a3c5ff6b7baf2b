"""The warm evaluator: one sandboxed process that has imported the task's code and forks for each submission."""

from __future__ import annotations

import json
import os
import secrets
import select
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Self

from surpass.sandbox import Completed, Mount, Reason, Role, Running, Sandbox
from surpass.task import Task
from surpass.verdict import trusted
from surpass.verdict.errors import VerdictError

__all__ = ["Answer", "Evaluator"]

_VISIBLE = PurePosixPath("/judged")
_TRUTH = PurePosixPath("/truth")
_START_SECONDS = 120.0
_SLACK_SECONDS = 5.0
_LIFETIME_SECONDS = 7 * 24 * 3600.0
_LINE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What the evaluator said: metrics and failures per instance, or one code for the whole submission."""

    metrics: dict[str, dict[str, float]]
    failures: dict[str, tuple[str, str]]
    code: str = ""
    detail: str = ""
    work_s: float = 0.0


@dataclass(slots=True)
class _Process:
    running: Running
    requests: int
    answers: int
    buffered: bytes = b""


class Evaluator:
    """Evaluates folders below `visible` against truth below `truth`; restarts itself after it was killed.

    Must be used from the thread that created it (the sandbox dies with the thread that started it).
    """

    def __init__(self, task: Task, sandbox: Sandbox, *, visible: Path, truth: Path) -> None:
        self._task = task
        self._sandbox = sandbox
        self._visible = visible
        self._truth = truth
        self._process: _Process | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill the process, if there is one."""
        self._kill()

    def warm(self) -> None:
        """Start now, so that the first evaluation does not pay for it.

        Raises:
            VerdictError: the task's evaluator does not import.
        """
        if self._process is None:
            self._process = self._start()

    def evaluate(self, outputs: Path, truth: Path) -> Answer:
        """Evaluate one sealed folder. Anything that goes wrong inside is an answer with a code, never an exception.

        Raises:
            VerdictError: the evaluator cannot be started at all.
        """
        self.warm()
        assert self._process is not None
        seconds = self._task.spec.budget.evaluate_seconds
        request = {
            "nonce": secrets.token_hex(16),
            "outputs": outputs.relative_to(self._visible).as_posix(),
            "truth": truth.relative_to(self._truth).as_posix(),
            "seconds": seconds,
        }
        try:
            os.write(self._process.requests, json.dumps(request).encode() + b"\n")
            line = self._read_line(time.monotonic() + seconds + _SLACK_SECONDS)
        except BrokenPipeError:
            line = None
        document = _document(line, request["nonce"])
        if document is None:
            return self._died()
        return _parsed(document)

    def _died(self) -> Answer:
        """The process is gone or babbles; the evaluation that was running caused it."""
        done = self._kill()
        causes = {Reason.MEMORY: "evaluator-memory", Reason.DISK: "evaluator-disk", Reason.PIDS: "evaluator-pids"}
        code = causes.get(done, "evaluator-timeout" if done is Reason.KILLED else "evaluator-error")
        return Answer({}, {}, code, f"the evaluator was stopped: {done}")

    def _start(self) -> _Process:
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()
        try:
            running = self._sandbox.start(
                trusted.command("serve"),
                mounts=[*trusted.mounts(self._task), Mount(self._visible, _VISIBLE), Mount(self._truth, _TRUTH)],
                env=trusted.environment(self._sandbox, self._task.spec.budget.cpus, judged=_VISIBLE, truth=_TRUTH),
                cwd=trusted.WORKING_DIRECTORY,
                limits=trusted.limits(self._task, _LIFETIME_SECONDS),
                stdin=theirs_read,
                stdout=theirs_write,
                role=Role.EVALUATOR,
            )
        except BaseException:
            os.close(ours_read)
            os.close(ours_write)
            raise
        finally:
            os.close(theirs_read)
            os.close(theirs_write)
        self._process = _Process(running, ours_write, ours_read)
        if self._read_line(time.monotonic() + _START_SECONDS) is None:
            stderr = self._end().stderr.decode("utf-8", "replace").strip().splitlines()
            raise VerdictError(
                f"{self._task.name}: evaluator.py does not start: {stderr[-1] if stderr else 'no answer'}"
            )
        return self._process

    def _read_line(self, deadline: float) -> bytes | None:
        """One line of the evaluator, or None at its end, at the deadline, or when the line is too long."""
        process = self._process
        assert process is not None
        while b"\n" not in process.buffered:
            # Short waits, because the sandbox enforces its limits while it is waited for.
            ready, _, _ = select.select([process.answers], [], [], 0.05)
            if ready:
                chunk = os.read(process.answers, 1 << 16)
                if not chunk or len(process.buffered) > _LINE_BYTES:
                    return None
                process.buffered += chunk
            elif time.monotonic() > deadline or process.running.wait(0) is not None:
                return None
        line, _, process.buffered = process.buffered.partition(b"\n")
        return line

    def _end(self) -> Completed:
        process = self._process
        assert process is not None
        self._process = None
        done = process.running.wait(0.2) or process.running.kill()
        os.close(process.requests)
        os.close(process.answers)
        return done

    def _kill(self) -> Reason:
        return self._end().reason if self._process is not None else Reason.KILLED


def _document(line: bytes | None, nonce: object) -> dict[str, Any] | None:
    if line is None:
        return None
    try:
        document = json.loads(line)
    except ValueError:
        return None
    return document if isinstance(document, dict) and document.get("nonce") == nonce else None


def _parsed(document: dict[str, Any]) -> Answer:
    instances = document.get("instances", {})
    return Answer(
        metrics={name: value["metrics"] for name, value in instances.items() if "metrics" in value},
        failures={name: (value["code"], value["detail"]) for name, value in instances.items() if "code" in value},
        code=document.get("code", ""),
        detail=document.get("detail", ""),
        work_s=document.get("work_s", 0.0),
    )
