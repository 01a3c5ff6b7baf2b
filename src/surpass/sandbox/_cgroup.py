"""Limits and accounting by control groups, version 2 where delegated, version 1 where root may write."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ._proc import process
from ._types import Limits, Reason, SandboxError

__all__ = ["CgroupMeter", "Hierarchy", "detect", "remove_stale"]

_PARENT = "surpass"
_V1_CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")
_V2_CONTROLLERS = frozenset({"memory", "pids", "cpu"})
_PERIOD_US = 100_000
_names = itertools.count()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made: a writable directory for each controller (one for all in version 2)."""

    tier: str
    parents: Mapping[str, Path]


@functools.cache
def detect() -> Hierarchy | None:
    """The best usable hierarchy: delegated version 2, then version 1 as root, else None."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
        own = Path("/proc/self/cgroup").read_text()
    except OSError:
        return None
    return _detect_v2(mounts, own) or _detect_v1(mounts)


def _mount_points(mountinfo: str, kind: str) -> dict[str, str]:
    """Mount point by the file system's own options."""
    found = {}
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields = right.split()
        if len(fields) >= 3 and fields[0] == kind:
            found[fields[2]] = left.split()[4]
    return found


def _detect_v2(mountinfo: str, own: str) -> Hierarchy | None:
    paths = [line[3:] for line in own.splitlines() if line.startswith("0::")]
    for mount in _mount_points(mountinfo, "cgroup2").values():
        for path in paths:
            current = Path(mount) / path.lstrip("/")
            # The nearest ancestor that hands the controllers down to its children and lets us add one.
            while current.is_relative_to(mount):
                if _usable_v2(current):
                    return Hierarchy("cgroup2", {"all": current})
                current = current.parent
    return None


def _usable_v2(directory: Path) -> bool:
    try:
        handed_down = set((directory / "cgroup.subtree_control").read_text().split())
    except OSError:
        return False
    # Moving a process needs the right to write cgroup.procs in the common ancestor, which this is.
    return handed_down >= _V2_CONTROLLERS and os.access(directory / "cgroup.procs", os.W_OK) and _can_make(directory)


def _detect_v1(mountinfo: str) -> Hierarchy | None:
    parents: dict[str, Path] = {}
    for options, mount in _mount_points(mountinfo, "cgroup").items():
        for controller in set(options.split(",")) & set(_V1_CONTROLLERS):
            parents[controller] = Path(mount) / _PARENT
    if set(parents) != set(_V1_CONTROLLERS):
        return None
    try:
        for parent in parents.values():
            parent.mkdir(exist_ok=True)
    except OSError:
        return None
    return Hierarchy("cgroup1", parents) if all(_can_make(parent) for parent in parents.values()) else None


def _can_make(directory: Path) -> bool:
    trial = directory / _new_name()
    try:
        trial.mkdir()
        trial.rmdir()
    except OSError:
        return False
    return True


def _new_name() -> str:
    """Names the owner, so that another run can tell whether it is still alive."""
    me = process(os.getpid())
    return f"{_PARENT}-{_pid_namespace()}-{os.getpid()}-{me.start if me else 0}-{next(_names)}"


def _pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def remove_stale(hierarchy: Hierarchy) -> int:
    """Kill and remove what dead owners left behind; returns how many groups went.

    Only groups of owners in our own process namespace are judged: for others a process id says nothing.
    """
    removed = 0
    for parent in set(hierarchy.parents.values()):
        for group in parent.glob(f"{_PARENT}-*"):
            try:
                namespace, pid, start = map(int, group.name.removeprefix(f"{_PARENT}-").split("-")[:3])
            except ValueError:
                continue
            owner = process(pid)
            if namespace == _pid_namespace() and (owner is None or owner.start != start):
                removed += _remove(group)
    return removed


def _remove(group: Path, patience_s: float = 1.0) -> bool:
    """Kill what is inside and remove the group. False when something would not die in time."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            group.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
        with contextlib.suppress(OSError, ValueError):
            for pid in map(int, (group / "cgroup.procs").read_text().split()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)


class CgroupMeter:
    """The groups of one run: made with its limits, entered by its first process, read and removed."""

    def __init__(self, hierarchy: Hierarchy, limits: Limits) -> None:
        self.tier = hierarchy.tier
        name = _new_name()
        self._groups = {controller: parent / name for controller, parent in hierarchy.parents.items()}
        self._base_cpu_s = 0.0
        self._peak = 0
        self._limits = limits
        try:
            for group in self._groups.values():
                group.mkdir(exist_ok=True)  # two controllers of version 1 may share a hierarchy
            self._set_limits()
        except OSError as error:
            self.close()
            raise SandboxError(f"cannot make a control group: {error}") from error

    def _set_limits(self) -> None:
        limits = self._limits
        quota = max(1000, int(limits.cpus * _PERIOD_US))
        if self.tier == "cgroup2":
            self._write("all", "memory.max", limits.memory_bytes)
            with contextlib.suppress(OSError):  # absent when the kernel has no swap accounting
                self._write("all", "memory.swap.max", 0)
            self._write("all", "memory.oom.group", 1)
            self._write("all", "pids.max", limits.pids + 1)
            self._write("all", "cpu.max", f"{quota} {_PERIOD_US}")
            return
        self._write("memory", "memory.limit_in_bytes", limits.memory_bytes)
        with contextlib.suppress(OSError):
            self._write("memory", "memory.memsw.limit_in_bytes", limits.memory_bytes)
        self._write("pids", "pids.max", limits.pids + 1)  # one more for the process that reaps
        self._write("cpu", "cpu.cfs_period_us", _PERIOD_US)
        self._write("cpu", "cpu.cfs_quota_us", quota)

    def admit(self, pid: int) -> None:
        """Put a process in. It has not started the command yet, so everything the command does is counted."""
        try:
            for controller in self._groups:
                self._write(controller, "cgroup.procs", pid)
        except ProcessLookupError:
            raise  # it has ended already, and says why elsewhere
        except OSError as error:
            raise SandboxError(f"cannot put the sandbox into its control group: {error}") from error

    def begin(self) -> None:
        """The command is about to start: what was used so far was the sandbox's own."""
        self._base_cpu_s = self._cpu_s()

    def ended(self, tree_rusage_s: float) -> None:
        """The tree is gone. The groups know better than wait4 what it used."""

    def cpu_s(self) -> float:
        """CPU seconds of the whole tree since `begin`."""
        return max(0.0, self._cpu_s() - self._base_cpu_s)

    def _cpu_s(self) -> float:
        if self.tier == "cgroup2":
            return self._keyed("all", "cpu.stat").get("usage_usec", 0) / 1e6
        return self._number("cpuacct", "cpuacct.usage") / 1e9

    def peak_memory_bytes(self) -> int:
        """The most memory charged at once, file cache and tmpfs included."""
        if self.tier == "cgroup1":
            return self._number("memory", "memory.max_usage_in_bytes")
        with contextlib.suppress(OSError):  # before Linux 5.19 there is no memory.peak
            return self._number("all", "memory.peak")
        return self._peak

    def breach(self) -> Reason | None:
        """Looked at while the command runs."""
        if self.tier == "cgroup2":
            self._peak = max(self._peak, self._number("all", "memory.current"))
            killed = self._keyed("all", "memory.events").get("oom_kill", 0)
        else:
            killed = self._keyed("memory", "memory.oom_control").get("oom_kill", 0)
        return Reason.MEMORY if killed else None

    def afterwards(self, exit_code: int) -> Reason | None:
        """Looked at when everything has ended: a limit that explains why the command failed."""
        reason = self.breach()
        if reason is None and exit_code != 0:
            controller = "all" if self.tier == "cgroup2" else "pids"
            with contextlib.suppress(OSError):
                if self._keyed(controller, "pids.events").get("max", 0):
                    return Reason.PIDS
        return reason

    def pids(self) -> list[int]:
        """The processes inside now."""
        with contextlib.suppress(OSError):
            return [int(word) for word in self._read(next(iter(self._groups)), "cgroup.procs").split()]
        return []

    def close(self) -> None:
        """Remove the groups, and kill what is still inside."""
        for group in set(self._groups.values()):
            _remove(group)

    def _write(self, controller: str, name: str, value: object) -> None:
        fd = os.open(self._groups[controller] / name, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, str(value).encode())
        finally:
            os.close(fd)

    def _read(self, controller: str, name: str) -> str:
        return (self._groups[controller] / name).read_text()

    def _number(self, controller: str, name: str) -> int:
        return int(self._read(controller, name))

    def _keyed(self, controller: str, name: str) -> dict[str, int]:
        """Files of the form "name number" a line."""
        lines = (line.split() for line in self._read(controller, name).splitlines())
        return {words[0]: int(words[1]) for words in lines if len(words) == 2}
