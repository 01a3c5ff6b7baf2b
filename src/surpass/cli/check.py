"""`surpass check`: is a task package sound?"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from surpass.cli._exit import ExitCode
from surpass.cli._options import Json, Profile, Suite, TaskFolders, catalogue
from surpass.cli._output import console, emit_json, notes

if TYPE_CHECKING:
    from rich.progress import Progress

    from surpass.check import Finding
    from surpass.sandbox import Sandbox

__all__ = ["check"]


def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="A task's id, suite/id, or folder; all when none.")
    ] = None,
    suite: Suite = "",
    tasks: TaskFolders = None,
    profile: Profile = "",
    static: Annotated[bool, typer.Option("--static", help="Only read the package; run nothing of it.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this check, e.g. S07; repeatable.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Check task packages: files, names, leaks; that null scores 0 and the oracle 1; that nothing malformed scores.

    Ends with status 1 when a check failed. docs/reference/checks.md explains every check.
    """
    from surpass.check import run_checks, select_checks

    found = catalogue(tasks).select(suite=suite, tasks=names or (), profile=profile)
    wanted = select_checks(only or (), static_only=static)
    needs_sandbox = any(check.dynamic is not None for check in wanted)
    sandbox = _sandbox() if needs_sandbox else None
    findings: list[Finding] = []
    with _progress() as progress:
        bar = progress.add_task("", total=len(found) * len(wanted))
        for task in found:
            findings += run_checks(
                task,
                sandbox=sandbox,
                static_only=static,
                only=only or (),
                on_start=lambda check, task=task: progress.update(  # type: ignore[misc]
                    bar, advance=1, description=f"{task.name} {check.id} {check.title}"
                ),
            )
    emit_json([finding.to_dict() for finding in findings]) if json else _print(findings, len(found))
    if any(finding.status == "fail" for finding in findings):
        raise typer.Exit(ExitCode.NOT_PASSED)


def _sandbox() -> Sandbox | None:
    """The sandbox, or None with a word of explanation: the static checks are worth having without one."""
    from surpass.sandbox import SandboxUnavailable, open_sandbox, require_safe

    try:
        sandbox = open_sandbox()
        require_safe(sandbox)
    except SandboxUnavailable as error:
        notes.print(f"the dynamic checks are skipped: {error}", markup=False, soft_wrap=True)
        return None
    return sandbox


def _progress() -> AbstractContextManager[Progress]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


def _print(findings: list[Finding], tasks: int) -> None:
    """What failed or was skipped, and what to do; then the count of everything."""
    from rich.table import Table
    from rich.text import Text

    table = Table("", "check", "task", "found", "what to do", box=None, header_style="bold")
    styles = {"fail": "red", "skip": "yellow"}
    for finding in findings:
        if finding.status != "pass":
            style = styles[finding.status]
            table.add_row(
                Text(finding.status, style), finding.id, finding.task, Text(finding.reason), Text(finding.fix)
            )
    if table.row_count:
        console.print(table)
    counts = {status: sum(finding.status == status for finding in findings) for status in ("pass", "fail", "skip")}
    plural = "s" if tasks != 1 else ""
    console.print(f"{tasks} task{plural}: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped")
