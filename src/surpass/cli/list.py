"""`surpass list`: what there is."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from surpass.cli._options import Json, Profile, Suite, TaskFolders, catalogue
from surpass.cli._output import console, emit_json

__all__ = ["list_tasks"]


def list_tasks(
    what: Annotated[Literal["tasks", "agents"], typer.Argument(help="tasks or agents.")] = "tasks",
    suite: Suite = "",
    profile: Profile = "",
    tasks: TaskFolders = None,
    json: Json = False,
) -> None:
    """List tasks: all that are installed, or one suite; or the agents that can be named."""
    if what == "agents":
        _list_agents(json)
        return
    found = catalogue(tasks).select(suite=suite, profile=profile)
    if json:
        emit_json(
            [
                {
                    "id": task.id,
                    "suite": task.suite,
                    "domain": task.spec.domain,
                    "track": task.spec.track.value,
                    "deliverable": task.spec.deliverable.value,
                    "digest": task.digest,
                    "profile": task.profile,
                    "profiles": sorted(task.spec.profiles),
                    "title": task.spec.title,
                    "version": task.spec.version,
                    "instances": [instance.name for instance in task.spec.instance],
                }
                for task in found
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for heading in ("task", "domain", "track", "deliverable"):
        table.add_column(heading, no_wrap=True)
    table.add_column("title")
    for task in found:
        table.add_row(
            task.name,
            task.spec.domain,
            task.spec.track.value,
            task.spec.deliverable.value,
            task.spec.title,
        )
    console.print(table)
    console.print(f"suites: {', '.join(catalogue(tasks).suite_names())}")


def _list_agents(json: bool) -> None:
    from surpass.agent import about_agents

    found = about_agents()
    if json:
        emit_json([{"name": name, "about": about} for name, about in found.items()])
        return
    from rich.table import Table

    table = Table("agent", "what it does", box=None, header_style="bold")
    for name, about in found.items():
        table.add_row(name, about)
    console.print(table)
    console.print("or the import path of your own: module:Class")
