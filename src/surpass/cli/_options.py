"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from surpass.task import Catalogue

__all__ = ["Database", "Json", "Profile", "Suite", "TaskFolders", "Unsafe", "catalogue"]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Suite = Annotated[str, typer.Option("--suite", "-s", help="All tasks of a suite.", show_default=False)]
Profile = Annotated[str, typer.Option("--profile", help="A smaller setting of the tasks.", show_default=False)]
TaskFolders = Annotated[
    list[Path] | None,
    typer.Option("--tasks", help="Your own task folder, or a folder of them; repeatable.", show_default=False),
]
Database = Annotated[
    str,
    typer.Option(
        "--database",
        envvar="SURPASS_DATABASE",
        help="Journal in this database, e.g. postgresql+psycopg://user@host/name; SQLite in the directory otherwise.",
        show_default=False,
    ),
]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe-no-sandbox", help="Run untrusted code without a sandbox. Marks every result as unsafe."),
]


def catalogue(folders: list[Path] | None) -> Catalogue:
    """Installed tasks and the user's own."""
    from surpass.task import Catalogue

    return Catalogue.installed(folders or [])
