"""How much is in the places a command may write to, found without following a link or trusting a name."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from ._types import Limits, Reason

__all__ = ["DiskMeter", "usage"]

_MOST_DEPTH = 200  # one descriptor is open for each level


def usage(directory: int, byte_cap: int, entry_cap: int) -> tuple[int, int]:
    """Bytes and entries below an open directory; stops as soon as either cap is exceeded.

    A file counts with its apparent size or its blocks, whichever is more: what a copy of it would take. A tree
    deeper than a copy could descend counts as exceeding, and so does one that we may not look into.
    """
    total = entries = 0
    stack: list[tuple[int, list[str]]] = []

    def enter(fd: int) -> None:
        stack.append((fd, os.listdir(fd)))

    try:
        enter(os.dup(directory))
        while stack:
            fd, names = stack[-1]
            if not names:
                os.close(stack.pop()[0])
                continue
            name = names.pop()
            entries += 1
            try:
                info = os.stat(name, dir_fd=fd, follow_symlinks=False)
                total += max(info.st_size, info.st_blocks * 512)
                if stat.S_ISDIR(info.st_mode):
                    if len(stack) > _MOST_DEPTH:
                        return total, entry_cap + 1
                    enter(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd))
            except PermissionError:  # whoever owns it hides what it holds: a folder without r or x
                return total, entry_cap + 1
            except OSError:  # gone meanwhile
                continue
            if total > byte_cap or entries > entry_cap:
                break
    finally:
        for fd, _ in stack:
            os.close(fd)
    return total, entries


class DiskMeter:
    """Watches the writable directories of one run."""

    def __init__(self, limits: Limits, pids: Callable[[], list[int]]) -> None:
        self._limits = limits
        self._directories: list[int] = []
        self._memory_mounts: list[int] = []
        self._pids = pids
        self._next_scan = 0.0

    def watch(self, directory: str) -> None:
        """Watch a directory by looking at everything in it."""
        self._directories.append(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def watch_memory(self, directory: str) -> None:
        """Watch an in-memory file system, whose kernel counters make a scan unnecessary."""
        self._memory_mounts.append(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    def breach(self) -> Reason | None:
        """Looked at while the command runs. Scans take a few per cent of one core at most."""
        if any(_memory_entries(fd) > self._limits.files for fd in self._memory_mounts):
            return Reason.DISK
        if time.monotonic() < self._next_scan:
            return None
        begun = time.thread_time()
        reason = self._scan(exceeding=True)
        took = time.thread_time() - begun
        self._next_scan = time.monotonic() + min(1.0, max(0.1, 50 * took))
        return reason

    def afterwards(self, exit_code: int) -> Reason | None:
        """Looked at when everything has ended. A failed command that had filled a place failed because of it."""
        if self._scan(exceeding=True):
            return Reason.DISK
        if exit_code != 0 and (self._scan(exceeding=False) or any(map(_memory_full, self._memory_mounts))):
            return Reason.DISK
        return None

    def _scan(self, *, exceeding: bool) -> Reason | None:
        slack = 0 if exceeding else 1
        byte_cap, entry_cap = self._limits.disk_bytes - slack, self._limits.files - slack
        unlinked = self._unlinked() if exceeding else 0
        for fd in self._directories:
            used, entries = usage(fd, byte_cap - unlinked, entry_cap)
            if used + unlinked > byte_cap or entries > entry_cap:
                return Reason.DISK
        return None

    def _unlinked(self) -> int:
        """Bytes in files that were removed but are still open, which no directory shows."""
        devices = {os.fstat(fd).st_dev for fd in self._directories}
        found: dict[tuple[int, int], int] = {}
        for pid in self._pids() if devices else ():
            with contextlib.suppress(OSError):
                for entry in Path(f"/proc/{pid}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        info = entry.stat()
                        if info.st_nlink == 0 and info.st_dev in devices and stat.S_ISREG(info.st_mode):
                            found[info.st_dev, info.st_ino] = info.st_blocks * 512
        return sum(found.values())

    def close(self) -> None:
        """Close every descriptor."""
        for fd in (*self._directories, *self._memory_mounts):
            os.close(fd)
        self._directories, self._memory_mounts = [], []


def _memory_entries(fd: int) -> int:
    state = os.fstatvfs(fd)
    return state.f_files - state.f_ffree - 1  # the root itself


def _memory_full(fd: int) -> bool:
    state = os.fstatvfs(fd)
    return state.f_blocks > 0 and state.f_bavail == 0
