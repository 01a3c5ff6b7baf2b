"""`surpass report`: what an experiment's trials come to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surpass.cli._options import Database, Json
from surpass.cli._output import console, emit_json, notes

__all__ = ["report"]


def report(
    directory: Annotated[Path, typer.Argument(help="The experiment's directory.", show_default=False)],
    json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the page.", show_default="DIRECTORY/report.html"),
    ] = None,
    database: Database = "",
) -> None:
    """Print the scoreboard and write it, with every trial behind it, as one self-contained HTML page."""
    from contextlib import closing

    from surpass.analysis import rows_json, scoreboard
    from surpass.cli._scoreboard import print_scoreboard
    from surpass.trial import open_experiment
    from surpass.web import write_report

    experiment = open_experiment(directory, password_url=database, read_only=True)
    with closing(experiment.journal):
        board = scoreboard(experiment)
        page = write_report(experiment, output / "report.html" if output and output.is_dir() else output)
    if json:
        emit_json(rows_json(board))
    else:
        print_scoreboard(board)
    (notes if json else console).print(f"page: {page}", markup=False, soft_wrap=True)
