"""What happens at the gate: waiting for bubblewrap, the limits to set, and the end of what came through."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import time
from pathlib import Path

from ._types import Limits, SandboxError
from ._view import LAUNCHER_PATH

__all__ = ["START_S", "await_launcher", "await_mounts", "failure", "gone", "inner_pid", "kill", "open_child", "rlimits"]

START_S = 30.0
_OPEN_FILES = 4096
_PER_USER_NAMESPACE = (5, 14)  # from here on RLIMIT_NPROC counts inside each user namespace


def rlimits(limits: Limits, *, count_processes: bool) -> dict[int, int]:
    """Limits that the kernel keeps for each process, by number; never above our own hard limits."""
    import resource

    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_FSIZE: limits.disk_bytes,
    }
    if limits.cpu_s is not None:
        wanted[resource.RLIMIT_CPU] = math.ceil(limits.cpu_s) + 2  # for one process; the tree's sum is watched
    if count_processes and _kernel() >= _PER_USER_NAMESPACE:
        wanted[resource.RLIMIT_NPROC] = limits.pids + 1
    hard = {which: resource.getrlimit(which)[1] for which in wanted}
    return {
        which: value if hard[which] == resource.RLIM_INFINITY else min(value, hard[which])
        for which, value in wanted.items()
    }


def _kernel() -> tuple[int, ...]:
    numbers = os.uname().release.split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())


def _readable(fd: int, deadline: float) -> bool:
    return bool(select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0])


def inner_pid(status: int, deadline: float, errors: int) -> int:
    """The host's number of the sandbox's first process, which bubblewrap says as soon as it exists."""
    text = b""
    while b"\n" not in text:
        chunk = os.read(status, 4096) if _readable(status, deadline) else b""
        if not chunk:
            raise failure(errors)
        text += chunk
    return int(json.loads(text.splitlines()[0])["child-pid"])


def await_launcher(report: int, deadline: float, errors: int) -> None:
    if not _readable(report, deadline) or os.read(report, 1) != b"R":
        raise failure(errors)


def await_mounts(inner: int, deadline: float, errors: int) -> None:
    """Without the launcher: its place, a link, shows once bubblewrap has finished mounting."""
    while not os.path.lexists(f"/proc/{inner}/root{LAUNCHER_PATH}"):
        if time.monotonic() > deadline or not Path(f"/proc/{inner}").exists():
            raise failure(errors)
        time.sleep(0.001)


def failure(errors: int) -> SandboxError:
    """What to raise when bubblewrap has given up: its own words, which it wrote to `errors`."""
    said = os.read(errors, 4096).decode(errors="replace").strip() if _readable(errors, time.monotonic() + 1) else ""
    return SandboxError(f"bubblewrap could not build the sandbox: {said or 'it did not say why'}")


def open_child(pid: int, parent: int) -> int:
    """A handle of a process that stays right even if its number is given to another one later.

    Raises:
        ProcessLookupError: it is gone.
    """
    handle = os.pidfd_open(pid)
    with contextlib.suppress(OSError):
        if int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1]) == parent:
            return handle
    os.close(handle)
    raise ProcessLookupError(pid)


def kill(handle: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)


def gone(handle: int) -> None:
    kill(handle)
    select.select([handle], [], [], START_S)
