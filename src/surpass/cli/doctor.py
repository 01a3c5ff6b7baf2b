"""`surpass doctor`: what this machine can and cannot do, and how to get what is missing."""

from __future__ import annotations

import typer

from surpass.cli._exit import ExitCode
from surpass.cli._options import Json
from surpass.cli._output import console, emit_json

__all__ = ["doctor"]


def doctor(json: Json = False) -> None:
    """Check the machine: sandbox layers, limits, and every attack of the start-up self-test."""
    from surpass.cli._diagnosis import diagnose

    findings = diagnose()
    if json:
        emit_json([finding.to_dict() for finding in findings])
    else:
        from rich.table import Table
        from rich.text import Text

        marks = {"ok": "[green]ok[/green]", "missing": "[yellow]missing[/yellow]", "danger": "[red]danger[/red]"}
        table = Table("", "what", "found", "what to do", box=None, header_style="bold")
        for finding in findings:
            table.add_row(marks[finding.status], finding.id, Text(finding.detail), Text(finding.remedy))
        console.print(table)
    if any(finding.status == "danger" for finding in findings):
        raise typer.Exit(ExitCode.SANDBOX)
