"""Run a sealed program: in a batch on a tier's inputs, or step by step against the task's driver."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from surpass.sandbox import Completed, Limits, Mount, Reason, Role, Running, Sandbox
from surpass.task import Task
from surpass.verdict import trusted
from surpass.verdict.data import TierData
from surpass.verdict.errors import VerdictError
from surpass.verdict.records import Outcome, Rejection

__all__ = ["candidate_environment", "candidate_limits", "execute", "rejection_of"]

_SUBMISSION = PurePosixPath("/submission")
_TASK = PurePosixPath("/task")
_INPUTS = PurePosixPath("/inputs")
_OUTPUTS = PurePosixPath("/outputs")
_GRACE_SECONDS = 2.0


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
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **extra,
    }


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
        return [Mount(self.submission, _SUBMISSION), Mount(self.task.public, _TASK)]


def execute(task: Task, submission: Path, data: TierData, outputs: Path, sandbox: Sandbox) -> Completed:
    """Run the submission's program; what it produced lies in `outputs`, which must exist and be empty.

    Raises:
        Rejection: FAILED, with `timeout`, `memory`, `pids`, `disk`, `crashed` or a code of the task's driver.
        VerdictError: the task's driver itself failed.
    """
    run = _Run(task, submission, data, outputs, sandbox)
    return _interactive(run) if task.spec.submission.interactive else _batch(run)


def rejection_of(done: Completed) -> Rejection | None:
    """Why a candidate's command counts as failed, or None when it ended well."""
    if done.ok:
        return None
    if done.reason in (Reason.EXITED, Reason.SIGNAL):
        return Rejection(Outcome.FAILED, "crashed", f"exit status {done.exit_code}; {_tail(done)}")
    return Rejection(Outcome.FAILED, done.reason.value, _tail(done))


def _tail(done: Completed) -> str:
    return done.stderr[-2000:].decode("utf-8", "replace").strip()


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
    """Cross-connect program and driver. Neither sees the other's files; the program never sees an input file."""
    to_program, from_driver = os.pipe()
    to_driver, from_program = os.pipe()
    try:
        run.sandbox.adopt(run.outputs, Role.EVALUATOR)
        program = run.sandbox.start(
            run.task.spec.submission.command,
            mounts=run.mounts,
            env=candidate_environment(run.task),
            cwd=_SUBMISSION,
            limits=run.limits,
            stdin=to_program,
            stdout=from_program,
        )
        try:
            driver = _start_driver(run, stdin=to_driver, stdout=from_driver)
        except BaseException:
            program.kill()
            raise
    finally:
        for descriptor in (to_program, from_driver, to_driver, from_program):
            os.close(descriptor)
    done, drove = _wait_for_both(program, driver)
    if done.reason not in (Reason.EXITED, Reason.SIGNAL, Reason.KILLED) and (rejection := rejection_of(done)):
        raise rejection
    result = _driver_result(run.task, drove)
    if code := result.get("code"):
        raise Rejection(Outcome.FAILED, code, f"{result.get('detail', '')}; {_tail(done)}".strip("; "))
    return done


def _start_driver(run: _Run, *, stdin: int, stdout: int) -> Running:
    return run.sandbox.start(
        trusted.command("drive"),
        mounts=[
            *trusted.mounts(run.task),
            Mount(run.data.inputs, _INPUTS),
            Mount(run.outputs, _OUTPUTS, writable=True),
        ],
        env=trusted.environment(run.sandbox, run.task.spec.budget.cpus, inputs=_INPUTS, outputs=_OUTPUTS),
        cwd=trusted.WORKING_DIRECTORY,
        limits=trusted.limits(run.task, run.task.spec.budget.run_seconds + 2 * _GRACE_SECONDS),
        stdin=stdin,
        stdout=stdout,
        role=Role.EVALUATOR,
    )


def _wait_for_both(program: Running, driver: Running) -> tuple[Completed, Completed]:
    """Wait for the driver; a program that outlives it, its input closed, is killed after a moment of grace."""
    drove = driver.wait()
    done = program.wait(_GRACE_SECONDS) or program.kill()
    assert drove is not None  # without a timeout it has ended
    return done, drove


def _driver_result(task: Task, drove: Completed) -> dict[str, str]:
    lines = drove.stderr.decode("utf-8", "replace").strip().splitlines()
    if drove.reason is Reason.TIMEOUT:
        return {"code": "timeout", "detail": "the exchange did not end in time"}
    try:
        return dict(json.loads(lines[-1]))
    except (IndexError, ValueError):
        raise VerdictError(f"{task.name}: driver.py failed: {lines[-1] if lines else drove.reason}") from None
