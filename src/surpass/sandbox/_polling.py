"""Limits without control groups: resource limits that the kernel keeps, and looking at the tree often."""

from __future__ import annotations

from collections.abc import Callable

from ._proc import peak_resident, process, proportional_memory, runtime_s
from ._types import Limits, Reason

__all__ = ["PollingMeter"]


class PollingMeter:
    """Tier `rlimit`: memory, CPU and process count are read from /proc every few milliseconds.

    Weaker than control groups: what happens between two looks is missed, and memory that no process maps
    (a System V segment, a memfd) is not seen.
    """

    tier = "rlimit"

    def __init__(
        self, limits: Limits, tree: Callable[[], list[int]], *, setup: tuple[int, ...] = (), namespaced: bool
    ) -> None:
        """`tree` lists the processes now, `setup` are processes whose time before `begin` is not counted."""
        self._limits = limits
        self._tree = tree
        self._setup = setup
        self._namespaced = namespaced
        self._cpu_by_process: dict[tuple[int, int], float] = {}
        self._base_cpu_s = self._exact_cpu_s = 0.0
        self._peak = 0
        self._most_threads = 0

    def admit(self, pid: int) -> None:
        """Nothing to enter; only that its time until `begin` is not the command's."""
        self._setup = (*self._setup, pid)

    def begin(self) -> None:
        """The command is about to start: what was used so far was the sandbox's own."""
        self._base_cpu_s = sum(map(runtime_s, self._setup))

    def ended(self, tree_rusage_s: float) -> None:
        """The tree is gone; `tree_rusage_s` is what wait4 says that it used."""
        self._exact_cpu_s = tree_rusage_s - self._base_cpu_s

    def cpu_s(self) -> float:
        """CPU seconds of the whole tree since `begin`.

        wait4 is exact but misses children whose parent ignored SIGCHLD; what was seen in /proc is coarse but
        misses nothing that lived long. The larger counts.
        """
        return max(0.0, sum(self._cpu_by_process.values()), self._exact_cpu_s)

    def peak_memory_bytes(self) -> int:
        """The most resident memory seen, or the most that one process says it ever had."""
        return self._peak

    def breach(self) -> Reason | None:
        """Looked at while the command runs."""
        pids = self._tree()
        seen = [found for found in map(process, pids) if found is not None]
        for one in seen:
            key = (one.pid, one.start)
            self._cpu_by_process[key] = max(one.cpu_s, self._cpu_by_process.get(key, 0.0))
        own = 1 if self._namespaced else 0
        threads = sum(one.threads for one in seen) - own
        self._most_threads = max(self._most_threads, threads)
        resident = sum(one.resident_bytes for one in seen)
        if resident > self._limits.memory_bytes:
            resident = proportional_memory(pids)  # the sum counts shared pages once for each process
        self._peak = max(self._peak, resident, *map(peak_resident, pids))
        if resident > self._limits.memory_bytes:
            return Reason.MEMORY
        return Reason.PIDS if threads > self._limits.pids else None

    def afterwards(self, exit_code: int) -> Reason | None:
        """Looked at when everything has ended: a limit that explains why the command failed."""
        return Reason.PIDS if exit_code != 0 and self._most_threads >= self._limits.pids else None

    def pids(self) -> list[int]:
        """The processes of the tree now."""
        return self._tree()

    def close(self) -> None:
        """Nothing to remove."""
