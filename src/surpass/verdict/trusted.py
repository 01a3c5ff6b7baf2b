"""How the harness's own code is mounted and started in the evaluator's sandbox."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from surpass.sandbox import Limits, Mount, Sandbox
from surpass.task import Task

__all__ = ["PRIVATE", "WORKING_DIRECTORY", "command", "environment", "limits", "mounts"]

_PACKAGE = Path(__file__).resolve().parent.parent
_HARNESS = PurePosixPath("/harness")
PRIVATE = PurePosixPath("/private")
WORKING_DIRECTORY = PurePosixPath("/tmp")


def command(*arguments: str) -> list[str]:
    """The command line that starts `inside.py` with these arguments."""
    # -P keeps the script's folder off the import path, -B keeps bytecode out of read-only mounts.
    return ["python", "-P", "-s", "-B", str(_HARNESS / "inside.py"), *arguments]


def mounts(task: Task) -> list[Mount]:
    """The task's private folder, the guard and `inside.py`, all read-only; nothing else of the package."""
    # Bytecode in private/ is outside the task's digest, so it is covered by nothing.
    caches = [path.relative_to(task.private) for path in sorted(task.private.rglob("__pycache__")) if path.is_dir()]
    return [
        Mount(task.private, PRIVATE),
        *(Mount(None, PRIVATE / cache.as_posix()) for cache in caches),
        Mount(_PACKAGE / "verdict" / "inside.py", _HARNESS / "inside.py"),
        Mount(_PACKAGE / "guard", _HARNESS / "surpass" / "guard"),
    ]


def environment(sandbox: Sandbox, cpus: int, **paths: PurePosixPath) -> dict[str, str]:
    """The whole environment of trusted code; each path becomes `SURPASS_<NAME>`."""
    threads = str(cpus)
    return {
        "PYTHONPATH": str(_HARNESS),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "SURPASS_OWN_NAMESPACE": "0" if sandbox.name == "none" else "1",
        "SURPASS_PRIVATE": str(PRIVATE),
        **{f"SURPASS_{name.upper()}": str(path) for name, path in paths.items()},
    }


def limits(task: Task, wall_s: float) -> Limits:
    """Trusted code parses hostile files, so it is bounded like a candidate."""
    budget = task.spec.budget
    return Limits(
        wall_s=wall_s,
        memory_bytes=max(budget.memory_mb, 2048) << 20,
        pids=64,
        cpus=budget.cpus,
        disk_bytes=max(budget.disk_mb, 256) << 20,
    )
