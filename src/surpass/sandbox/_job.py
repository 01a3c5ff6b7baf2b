"""A command that has been started, as the supervisor needs to know it."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ._disk import DiskMeter
from ._types import Limits, Reason

__all__ = ["Meter", "Started", "Stream"]

_CHUNK = 1 << 16
_MOST_LEFT = 64  # chunks read after the end; more is only there when a live writer goes on


class Meter(Protocol):
    """Keeps and reads the limits of one tree; one implementation a tier."""

    tier: str

    def admit(self, pid: int) -> None: ...
    def begin(self) -> None: ...
    def ended(self, tree_rusage_s: float) -> None: ...
    def cpu_s(self) -> float: ...
    def peak_memory_bytes(self) -> int: ...
    def breach(self) -> Reason | None: ...
    def afterwards(self, exit_code: int) -> Reason | None: ...
    def pids(self) -> list[int]: ...
    def close(self) -> None: ...


@dataclass(slots=True)
class Started:
    """A command that is running, and all that is needed to see it through. The supervisor closes the descriptors."""

    process: subprocess.Popen[bytes]
    kill: Callable[[], None]
    """Kill the whole tree; `process` then ends by itself."""
    limits: Limits
    meter: Meter
    disk: DiskMeter
    started: float
    """time.monotonic() when the command was let go."""
    stdin: bytes = b""
    stdin_fd: int | None = None
    stdout_fd: int | None = None
    stderr_fd: int | None = None
    report_fd: int | None = None
    """Where the launcher says how the command ended, while whatever the command left behind may still run."""
    encodes_signals: bool = False
    """True when the process is not the command and says 128 + n when signal n ended the command."""
    after: list[Callable[[], None]] = field(default_factory=list)
    """To be called when everything is over."""


class Stream:
    """Keeps the first `cap` bytes of what comes and drops the rest."""

    def __init__(self, fd: int, cap: int) -> None:
        self.fd = fd
        self._cap = cap
        self._kept = bytearray()
        self.truncated = False
        os.set_blocking(fd, False)

    def pump(self) -> bool:
        """Read what is there now; False at the end of the stream. BlockingIOError: nothing now."""
        chunk = os.read(self.fd, _CHUNK)
        room = self._cap - len(self._kept)
        self._kept += chunk[:room]
        self.truncated |= len(chunk) > room
        return bool(chunk)

    def finish(self) -> bytes:
        """Take what is left, without waiting for a writer that may still be alive."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MOST_LEFT):
                if not self.pump():
                    break
        return bytes(self._kept)
