"""`surpass resume`: go on with an experiment that was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surpass.cli._options import Database, Json

__all__ = ["resume"]


def resume(
    directory: Annotated[Path, typer.Argument(help="The experiment's directory.")],
    concurrency: Annotated[int, typer.Option("--concurrency", "-n", min=0, help="Trials at once; 0: by cores.")] = 0,
    database: Database = "",
    json: Json = False,
) -> None:
    """Run what has no outcome yet, and what an infrastructure error ended. What is journalled is not run again."""
    from surpass.cli._session import carry_out
    from surpass.trial import open_experiment

    experiment = open_experiment(directory, password_url=database)
    carry_out(
        lambda capabilities: experiment,
        unsafe=experiment.plan.unsafe,
        concurrency=concurrency,
        database=database,
        json=json,
    )
