"""The two control arms: the unchanged start, which must score 0, and the reference, which must score 1."""

from __future__ import annotations

from surpass.agent._types import Workbench
from surpass.sandbox import Completed
from surpass.task import SOLVER, Task, package_files

__all__ = ["SolutionAgent", "SolutionFailed"]


class SolutionFailed(Exception):
    """A shipped solution's own script ended badly."""


class SolutionAgent:
    """Hands in one of the task's shipped solutions."""

    def __init__(self, name: str, task: Task, solution: str) -> None:
        self.name = name
        self._folder = task.solution(solution)

    async def solve(self, bench: Workbench) -> None:
        """Copy the solution into the workspace, run its script when it has one, hand in the result."""
        for path in package_files(self._folder):
            await bench.write(path.relative_to(self._folder).as_posix(), path.read_bytes())
        if (self._folder / SOLVER).is_file():
            done = await bench.exec(["python", SOLVER])
            bench.log(_summary(done))
            if not done.ok:
                raise SolutionFailed(f"{SOLVER} ended with {_summary(done)}")
        await bench.attempt(self.name)


def _summary(done: Completed) -> str:
    tail = done.stderr[-500:].decode("utf-8", "replace").strip()
    return f"{done.reason} (exit status {done.exit_code}) after {done.wall_s:.1f} s" + (f": {tail}" if tail else "")
