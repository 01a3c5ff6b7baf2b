"""Run a sealed program: in a batch on a tier's inputs, or step by step against the task's driver."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from surpass.sandbox import Completed, Limits, Mount, Role, Running, Sandbox
from surpass.task import Task
from surpass.verdict import trusted
from surpass.verdict.candidate import candidate_environment, candidate_limits, candidate_mounts, rejection_of
from surpass.verdict.converse import GRACE_SECONDS, converse
from surpass.verdict.data import TierData

__all__ = ["execute"]

_SUBMISSION = PurePosixPath("/submission")
_INPUTS = PurePosixPath("/inputs")
_OUTPUTS = PurePosixPath("/outputs")


@dataclass(frozen=True, slots=True)
class _Run:
    """Everything that one run of one submission needs."""

    task: Task
    submission: Path
    data: TierData
    outputs: Path
    sandbox: Sandbox

    @property
    def limits(self) -> Limits:
        return candidate_limits(self.task, self.task.spec.budget.run_seconds)

    @property
    def mounts(self) -> list[Mount]:
        return [Mount(self.submission, _SUBMISSION), *candidate_mounts(self.task)]


def execute(task: Task, submission: Path, data: TierData, outputs: Path, sandbox: Sandbox) -> Completed:
    """Run the submission's program; what it produced lies in `outputs`, which must exist and be empty.

    Raises:
        Rejection: FAILED, with `timeout`, `memory`, `pids`, `disk`, `crashed` or a code of the task's driver.
        VerdictError: the task's driver itself failed.
    """
    run = _Run(task, submission, data, outputs, sandbox)
    return _interactive(run) if task.spec.submission.interactive else _batch(run)


def _batch(run: _Run) -> Completed:
    run.sandbox.adopt(run.outputs, Role.CANDIDATE)
    done = run.sandbox.run(
        run.task.spec.submission.command,
        mounts=[*run.mounts, Mount(run.data.inputs, _INPUTS), Mount(run.outputs, _OUTPUTS, writable=True)],
        env=candidate_environment(run.task, SURPASS_INPUTS=str(_INPUTS), SURPASS_OUTPUTS=str(_OUTPUTS)),
        cwd=_SUBMISSION,
        limits=run.limits,
    )
    if rejection := rejection_of(done):
        raise rejection
    return done


def _interactive(run: _Run) -> Completed:
    run.sandbox.adopt(run.outputs, Role.EVALUATOR)

    def program(stdin: int, stdout: int) -> Running:
        return run.sandbox.start(
            run.task.spec.submission.command,
            mounts=run.mounts,
            env=candidate_environment(run.task),
            cwd=_SUBMISSION,
            limits=run.limits,
            stdin=stdin,
            stdout=stdout,
        )

    def driver(stdin: int, stdout: int) -> Running:
        return run.sandbox.start(
            trusted.command("drive"),
            mounts=[
                *trusted.mounts(run.task),
                Mount(run.data.inputs, _INPUTS),
                Mount(run.outputs, _OUTPUTS, writable=True),
            ],
            env=trusted.environment(run.sandbox, run.task.spec.budget.cpus, inputs=_INPUTS, outputs=_OUTPUTS),
            cwd=trusted.WORKING_DIRECTORY,
            limits=trusted.limits(run.task, run.task.spec.budget.run_seconds + 2 * GRACE_SECONDS),
            stdin=stdin,
            stdout=stdout,
            role=Role.EVALUATOR,
        )

    return converse(run.task, program, driver)
