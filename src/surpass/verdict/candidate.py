"""What every command of a candidate gets: limits, environment, mounts; and when its end counts as a failure."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from surpass.sandbox import Completed, Limits, Mount, Reason
from surpass.task import Task
from surpass.verdict.records import Outcome, Rejection

__all__ = ["candidate_environment", "candidate_limits", "candidate_mounts", "rejection_of", "tail_of"]

_TASK = PurePosixPath("/task")


def candidate_limits(task: Task, wall_s: float) -> Limits:
    """The task's budget as limits of one command."""
    budget = task.spec.budget
    return Limits(
        wall_s=wall_s,
        memory_bytes=budget.memory_mb << 20,
        pids=budget.pids,
        cpus=budget.cpus,
        disk_bytes=budget.disk_mb << 20,
    )


def candidate_environment(task: Task, **extra: str) -> dict[str, str]:
    """The whole environment of a candidate: the same in every tier, so that it cannot tell them apart."""
    threads = str(task.spec.budget.cpus)
    return {
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OMP_WAIT_POLICY": "passive",
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **extra,
    }


def candidate_mounts(task: Task) -> list[Mount]:
    """The task's public files; and nothing in the place of each installed package that hides truth."""
    covered = [Mount(None, PurePosixPath(folder)) for name in task.spec.environment.hidden for folder in _folders(name)]
    return [Mount(task.public, _TASK), *covered]


def _folders(package: str) -> Iterator[str]:
    """Where an installed package lies, by the path at which a sandbox would show it too."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if Path(folder).is_dir():
            yield folder


def rejection_of(done: Completed) -> Rejection | None:
    """Why a candidate's command counts as failed, or None when it ended well."""
    if done.ok:
        return None
    if done.reason in (Reason.EXITED, Reason.SIGNAL):
        return Rejection(Outcome.FAILED, "crashed", f"exit status {done.exit_code}; {tail_of(done)}")
    return Rejection(Outcome.FAILED, done.reason.value, tail_of(done))


def tail_of(done: Completed) -> str:
    """The end of what it said on stderr."""
    return done.stderr[-2000:].decode("utf-8", "replace").strip()
