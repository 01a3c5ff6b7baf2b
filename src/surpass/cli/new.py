"""`surpass new`: begin something of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surpass.cli._output import console

__all__ = ["new"]

new = typer.Typer(no_args_is_help=True, help="Start a task package of your own.")


@new.callback()
def root() -> None:
    """Start a task package of your own."""


@new.command()
def task(
    id: Annotated[str, typer.Argument(help="Its id: lower-case words with hyphens. Also the folder's name.")],
    into: Annotated[Path, typer.Option("--into", help="The folder to put it in.")] = Path(),
) -> None:
    """Write a small task package that works: replace its problem and its texts, one at a time."""
    from surpass.task.scaffold import scaffold

    written = scaffold(id, into)
    here = Path.cwd()
    where = f"./{written.root.relative_to(here)}" if written.root.is_relative_to(here) else str(written.root)
    console.print(
        f"{where} is a complete task. Replace its problem step by step, and after each step run", markup=False
    )
    console.print(f"\n    surpass check {where}\n", markup=False, soft_wrap=True)
    console.print(
        "It tells what is still a placeholder, and whether start, oracle and evil solutions do what they must."
    )
