"""Reading /proc: which processes belong to a tree, and what they use."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Process",
    "descendants",
    "peak_resident",
    "process",
    "processes_with_environment",
    "proportional_memory",
    "runtime_s",
]


@dataclass(frozen=True, slots=True)
class Process:
    """What one process uses now."""

    pid: int
    start: int
    """Clock ticks after boot; with `pid` it names a process for good."""
    cpu_s: float
    threads: int
    resident_bytes: int


def process(pid: int) -> Process | None:
    """The process, or None when it is gone or a zombie's remains cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    ticks = os.sysconf("SC_CLK_TCK")
    return Process(
        pid=pid,
        start=int(fields[19]),
        cpu_s=(int(fields[11]) + int(fields[12])) / ticks,
        threads=int(fields[17]) if fields[0] != b"Z" else 0,
        resident_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def descendants(root: int) -> list[int]:
    """`root` and every process below it. In a process namespace orphans stay below its first process."""
    found: list[int] = []
    queue = [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{pid}/task").iterdir():
                queue += map(int, (thread / "children").read_bytes().split())
    return found


def processes_with_environment(marker: bytes) -> Iterator[int]:
    """Every process, ours aside, that was started with `marker` (NAME=value) in its environment."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if marker in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def proportional_memory(pids: list[int]) -> int:
    """Bytes that these processes hold, with each shared page counted once among its users. Slow."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) << 10
    return total


def peak_resident(pid: int) -> int:
    """Bytes of memory that one process had at most since it became what it is; 0 when it is gone."""
    with contextlib.suppress(OSError):
        found = re.search(rb"VmHWM:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_bytes())
        return int(found.group(1)) << 10 if found else 0
    return 0


def runtime_s(pid: int) -> float:
    """CPU seconds that one process has used, to the nanosecond; 0 when the kernel does not say."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0
