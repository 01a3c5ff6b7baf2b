"""The three arms of a timed comparison: the same trusted runner starts each from its own folder of source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from surpass.measure import Command, EarlyStop, Progress, Timed, lease_core, lease_machine, run_together
from surpass.sandbox import Limits, Mount, Role, Sandbox
from surpass.task import Task, Training
from surpass.verdict.candidate import candidate_environment, candidate_limits, candidate_mounts

__all__ = ["BASELINE", "CANDIDATE", "HUMAN", "OUT", "START_RUNNER", "SUBMISSION", "Arms", "runner_mount"]

BASELINE, CANDIDATE, HUMAN = "baseline", "candidate", "human"
SUBMISSION, OUT = PurePosixPath("/submission"), PurePosixPath("/out")
_RUNNER = PurePosixPath("/harness/runner.py")
START_RUNNER = ("python", "-P", "-s", "-B", str(_RUNNER))
_DATA = PurePosixPath("/data")
_IMPORT_SECONDS = 60.0


def runner_mount() -> Mount:
    """The trusted runner, read-only. Nothing else of the harness is visible beside it."""
    return Mount(Path(__file__).with_name("runner.py"), _RUNNER)


class Arms:
    """Folders of source that are trained beside each other; `CANDIDATE`, if there is one, may lose early."""

    def __init__(self, task: Task, sources: Mapping[str, Path], train: Path, sandbox: Sandbox) -> None:
        training = task.spec.training
        assert training is not None  # the spec has it when the deliverable is a training
        self._task = task
        self._training: Training = training
        self._train = train
        self._sandbox = sandbox
        self._sources = sources
        self._stop = EarlyStop(envelope=training.envelope)

    def run(self, folder: Path, seed: int, number: int) -> dict[str, Timed]:
        """Train every arm once; its export lies in `folder/<arm>` afterwards.

        On the CPU clock all run at once on one core. On the wall clock they run one after the other, in an order that
        turns with the round's number, and no other measurement runs on this machine meanwhile.
        """
        names = list(self._sources) if number % 2 == 0 else list(self._sources)[::-1]
        commands = {name: self._command(name, folder / name, seed) for name in names}
        if self._training.clock == "cpu":
            with lease_core() as core:
                return run_together(self._sandbox, commands, core=core, watch=self._watch)
        ended: dict[str, Timed] = {}
        with lease_machine():
            for name, command in commands.items():
                alone = {name: command}
                ended |= run_together(self._sandbox, alone, core=None, clock="wall", watch=self._watch, ended=ended)
        return ended

    def _command(self, name: str, out: Path, seed: int) -> Command:
        out.mkdir(parents=True)
        self._sandbox.adopt(out, Role.CANDIDATE)
        script = SUBMISSION / self._training.script
        libraries = ",".join(self._training.libraries)
        return Command(
            argv=[*START_RUNNER, "train", libraries, str(script), str(_DATA), str(OUT), str(seed)],
            mounts=[
                Mount(self._sources[name], SUBMISSION),
                Mount(self._train, _DATA),
                Mount(out, OUT, writable=True),
                runner_mount(),
                *candidate_mounts(self._task),
            ],
            env=candidate_environment(self._task),
            cwd=SUBMISSION,
            limits=self._limits(),
        )

    def _limits(self) -> Limits:
        """`run_seconds` are seconds of the task's clock; side by side a run takes as many times the wall time."""
        seconds = self._task.spec.budget.run_seconds
        if self._training.clock == "wall":
            return candidate_limits(self._task, seconds + _IMPORT_SECONDS)
        wall = (seconds + _IMPORT_SECONDS) * len(self._sources) * 2
        return replace(candidate_limits(self._task, wall), cpu_s=seconds + _IMPORT_SECONDS)

    def _watch(self, name: str, progress: Progress, ended: Mapping[str, Timed]) -> str:
        """End the candidate when it cannot win any more, and the others when it has lost."""
        candidate = ended.get(CANDIDATE)
        if name != CANDIDATE:
            lost = candidate is not None and (candidate.stopped or not candidate.completed.ok)
            return "over" if lost else ""
        baseline = ended.get(BASELINE)
        return self._stop.reason(progress, baseline.spent_s if baseline is not None else None)
