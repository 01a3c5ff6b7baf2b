"""A candidate's process and a trusted driver, each in a sandbox of its own, with their streams cross-connected."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from surpass.sandbox import Completed, Reason, Running
from surpass.task import Task
from surpass.verdict.candidate import rejection_of, tail_of
from surpass.verdict.errors import VerdictError
from surpass.verdict.records import Outcome, Rejection

__all__ = ["GRACE_SECONDS", "Start", "converse"]

GRACE_SECONDS = 2.0
"""How long a program may outlive its driver."""

Start = Callable[[int, int], Running]
"""Starts one side on the given stdin and stdout."""


def converse(task: Task, start_program: Start, start_driver: Start) -> Completed:
    """Let both run to the end. Neither sees the other's files; the program never sees an input file.

    Raises:
        Rejection: the program broke a limit, or the driver refused it.
        VerdictError: the driver itself failed.
    """
    to_program, from_driver = os.pipe()
    to_driver, from_program = os.pipe()
    try:
        program = start_program(to_program, from_program)
        try:
            driver = start_driver(to_driver, from_driver)
        except BaseException:
            program.kill()
            raise
    finally:
        for descriptor in (to_program, from_driver, to_driver, from_program):
            os.close(descriptor)
    drove = driver.wait()
    done = program.wait(GRACE_SECONDS) or program.kill()
    assert drove is not None  # without a timeout it has ended
    if done.reason not in (Reason.EXITED, Reason.SIGNAL, Reason.KILLED) and (rejection := rejection_of(done)):
        raise rejection
    result = _driver_result(task, drove)
    if code := result.get("code"):
        raise Rejection(Outcome.FAILED, code, f"{result.get('detail', '')}; {tail_of(done)}".strip("; "))
    return done


def _driver_result(task: Task, drove: Completed) -> dict[str, str]:
    lines = drove.stderr.decode("utf-8", "replace").strip().splitlines()
    if drove.reason is Reason.TIMEOUT:
        return {"code": "timeout", "detail": "the exchange did not end in time"}
    try:
        return dict(json.loads(lines[-1]))
    except (IndexError, ValueError):
        raise VerdictError(f"{task.name}: driver.py failed: {lines[-1] if lines else drove.reason}") from None
