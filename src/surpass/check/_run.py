"""Run checks on a task, one after the other, and turn what they say into findings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from surpass.check._registry import CHECKS
from surpass.check._types import Check, Finding, Kind, Problem, Remark, Report, Skip
from surpass.check.dynamic.lab import Lab
from surpass.guard.removal import remove_tree
from surpass.sandbox import Sandbox, SandboxError
from surpass.task import Task, TaskError, UnknownNameError
from surpass.verdict import VerdictError

__all__ = ["run_checks", "select_checks"]


def select_checks(only: Collection[str] = (), *, static_only: bool = False) -> list[Check]:
    """The checks with these ids, or all; in the registry's order.

    Raises:
        UnknownNameError: an id that no check has.
    """
    wanted = {name.upper() for name in only}
    known = [check.id for check in CHECKS]
    for name in sorted(wanted.difference(known)):
        raise UnknownNameError("check", name, known)
    return [
        check
        for check in CHECKS
        if (not wanted or check.id in wanted) and not (static_only and check.kind is Kind.DYNAMIC)
    ]


def run_checks(
    task: Task,
    *,
    sandbox: Sandbox | None = None,
    static_only: bool = False,
    only: Collection[str] = (),
    on_start: Callable[[Check], None] = lambda check: None,
    on_finding: Callable[[Finding], None] = lambda finding: None,
) -> list[Finding]:
    """Check a task. Without a sandbox the dynamic checks are skipped, and say so.

    Args:
        task: the package at one profile; the dynamic checks run it at that profile.
        sandbox: where the package's scripts run.
        static_only: leave the dynamic checks out altogether.
        only: ids of the checks to run; all when empty.
        on_start: called before each check.
        on_finding: called with each finding as soon as it is known.

    Raises:
        UnknownNameError: `only` names a check that does not exist.
    """
    findings: list[Finding] = []
    stopped: dict[str, str] = {}
    root = Path(tempfile.mkdtemp(prefix="surpass-check-"))
    lab = Lab(task, sandbox, root) if sandbox is not None else None
    try:
        for check in select_checks(only, static_only=static_only):
            on_start(check)
            for finding in _findings(check, task, lab, stopped):
                findings.append(finding)
                on_finding(finding)
    finally:
        if lab is not None:
            lab.close()
        remove_tree(root)
    return findings


def _findings(check: Check, task: Task, lab: Lab | None, stopped: dict[str, str]) -> Iterator[Finding]:
    """One finding a problem; a single pass or skip when there are none.

    `stopped` maps what has stopped the harness to the check that reported it: the first fails, later ones are skipped.
    """
    failed = False
    remark = check.title
    try:
        for said in _report(check, task, lab):
            if isinstance(said, Remark):
                remark = f"{check.title}: {said.text}"
                continue
            failed = True
            yield _finding(check, task, said)
    except Skip as skip:
        remark = str(skip)
    except TaskError as error:
        remark = f"the package is incomplete: {error}"
    except SandboxError as error:
        remark = f"the sandbox failed: {error}"
    except VerdictError as error:
        cause = stopped.setdefault(str(error), check.id)
        remark = f"cannot be judged, as {cause} says"
        if cause == check.id:
            failed = True
            yield _finding(check, task, Problem(f"cannot be judged: {error}", "mend the script that it names"))
    else:
        if not failed:
            yield Finding(check.id, task.name, "pass", check.kind, remark, "")
        return
    if not failed:
        yield Finding(check.id, task.name, "skip", check.kind, remark, "")


def _report(check: Check, task: Task, lab: Lab | None) -> Report:
    if check.static is not None:
        return check.static(task)
    if lab is None:
        raise Skip("there is no sandbox to run it in")
    assert check.dynamic is not None
    return check.dynamic(lab)


def _finding(check: Check, task: Task, problem: Problem) -> Finding:
    return Finding(check.id, task.name, "fail", check.kind, problem.reason, problem.fix or check.fix)
