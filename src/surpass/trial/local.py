"""The local engine: a few trials at a time, each in its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from surpass.trial.worker import DATABASE_VARIABLE

__all__ = ["Ended", "Engine", "LocalEngine"]

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Ended:
    """A worker that is no longer running."""

    trial: str
    exit_status: int
    """As `surpass.trial.worker` documents it; negative for the signal that killed it."""
    message: str


class Engine(Protocol):
    """Runs trials somewhere. A trial that has its outcome already is never submitted."""

    def submit(self, trial: str) -> None:
        """Take a trial; it starts when there is room."""

    def next_ended(self, timeout_s: float) -> Ended | None:
        """A worker that ended since the last call, or None after `timeout_s` seconds without one."""

    @property
    def busy(self) -> bool:
        """True while any submitted trial has not been returned by `next_ended`."""

    def stop(self) -> None:
        """End everything now; what was in flight can be resumed."""


@dataclass(slots=True)
class _Worker:
    trial: str
    process: subprocess.Popen[bytes]
    stderr: IO[bytes]


class LocalEngine:
    """At most `concurrency` workers at once on this machine."""

    def __init__(self, directory: Path, *, concurrency: int, database: str = "", inherit: Sequence[int] = ()) -> None:
        self._directory = directory
        self._concurrency = concurrency
        self._database = database
        self._inherit = tuple(inherit)
        self._waiting: deque[str] = deque()
        self._running: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def busy(self) -> bool:
        return bool(self._waiting or self._running)

    def submit(self, trial: str) -> None:
        self._waiting.append(trial)
        self._fill()

    def next_ended(self, timeout_s: float) -> Ended | None:
        deadline = time.monotonic() + timeout_s
        while True:
            for worker in self._running:
                if worker.process.poll() is not None:
                    self._running.remove(worker)
                    self._fill()
                    return _ended(worker)
            if time.monotonic() >= deadline:
                return None
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        self._waiting.clear()
        for worker in self._running:
            worker.process.kill()
        for worker in self._running:
            worker.process.wait()
            worker.stderr.close()
        self._running.clear()

    def _fill(self) -> None:
        while self._waiting and len(self._running) < self._concurrency:
            trial = self._waiting.popleft()
            stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
            environment = os.environ | ({DATABASE_VARIABLE: self._database} if self._database else {})
            process = subprocess.Popen(
                [sys.executable, "-m", "surpass.trial.worker", str(self._directory), trial],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=environment,
                pass_fds=self._inherit,
                start_new_session=True,  # Ctrl-C is for us: we stop the workers in order
            )
            self._running.append(_Worker(trial, process, stderr))


def _ended(worker: _Worker) -> Ended:
    with worker.stderr as stderr:
        stderr.seek(0)
        lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    return Ended(worker.trial, worker.process.returncode, lines[-1] if lines else "")
