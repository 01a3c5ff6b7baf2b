"""The `surpass` command."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from surpass import __version__
from surpass.cli._exit import explain
from surpass.cli._output import notes, visible
from surpass.cli.calibrate import calibrate
from surpass.cli.check import check
from surpass.cli.doctor import doctor
from surpass.cli.grade import grade
from surpass.cli.import_suite import import_suite
from surpass.cli.list import list_tasks
from surpass.cli.new import new
from surpass.cli.report import report
from surpass.cli.resume import resume
from surpass.cli.run import run
from surpass.cli.show import show
from surpass.cli.simulate import simulate

__all__ = ["app", "main"]

app = typer.Typer(
    name="surpass",
    help="Measure whether coding agents reproduce, match and surpass published state of the art.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("list")(list_tasks)
for verb in (show, check, run, resume, grade, calibrate, report, simulate, doctor):
    app.command()(verb)
app.add_typer(new, name="new")
app.add_typer(import_suite, name="import")


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Options before the verb."""
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point: errors that users can meet become one sentence and a documented exit code."""
    os.umask(0o022)  # what we write is read by the sandbox's users; secrets set their own mode
    try:
        app()
    except Exception as error:
        explained = explain(error)
        if explained is None:
            raise
        message, code = explained
        for line in message.splitlines():
            notes.print(f"surpass: {visible(line)}", markup=False, soft_wrap=True)
        sys.exit(code)


if __name__ == "__main__":
    main()
