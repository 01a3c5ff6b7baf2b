"""What `run` and `resume` share: a safe sandbox, the lock, the engine, the progress bar, the scoreboard."""

from __future__ import annotations

import os
from collections.abc import Callable

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from surpass.analysis import rows_json, scoreboard
from surpass.cli._exit import ExitCode
from surpass.cli._output import emit_json, notes, visible
from surpass.cli._scoreboard import print_scoreboard
from surpass.sandbox import Capabilities, open_sandbox, require_safe
from surpass.trial import Experiment, LocalEngine, State, Trial, execute, pending

__all__ = ["carry_out"]


def carry_out(
    opened: Callable[[Capabilities], Experiment], *, unsafe: bool, concurrency: int, database: str, json: bool
) -> None:
    """Run everything pending, then print the scoreboard.

    The sandbox is probed before `opened` creates anything, so that an unsafe machine leaves no directory behind.

    Raises:
        typer.Exit: with INFRASTRUCTURE when some trial could not be judged.
    """
    sandbox = open_sandbox(unsafe=unsafe)
    if unsafe:
        notes.print(
            "[bold red]no sandbox:[/bold red] untrusted code can read and change this machine; results are marked"
        )
    else:
        require_safe(sandbox)
    experiment = opened(sandbox.capabilities)
    try:
        _finish(experiment, concurrency, database, json)
    finally:
        experiment.journal.close()


def _finish(experiment: Experiment, concurrency: int, database: str, json: bool) -> None:
    with experiment.lock() as lock:
        try:
            _run(experiment, concurrency or _by_cores(experiment), database, lock)
        except KeyboardInterrupt:
            said = f"interrupted; nothing journalled is lost, `surpass resume {experiment.root}` goes on"
            notes.print(said, soft_wrap=True, markup=False)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
    board = scoreboard(experiment)
    if json:
        emit_json(rows_json(board))
    else:
        print_scoreboard(board)
        notes.print(f"experiment: {experiment.root}", soft_wrap=True, markup=False)
    if any(trial.state is State.INFRA_ERROR for trial in experiment.journal.trials()):
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def _run(experiment: Experiment, concurrency: int, database: str, lock: int) -> None:
    waiting = pending(experiment)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with (
        Progress(*columns, console=notes, transient=True) as progress,
        LocalEngine(experiment.root, concurrency=concurrency, database=database, inherit=[lock]) as engine,
    ):
        bar = progress.add_task("trials", total=len(waiting))

        def ended(trial: Trial) -> None:
            progress.advance(bar)
            if trial.state is not State.DONE:
                reason = trial.error or (trial.verdict.code if trial.verdict else "")
                progress.console.print(visible(f"{trial.plan.id}: {trial.state} {reason}"), markup=False)

        execute(experiment, engine, ended)


def _by_cores(experiment: Experiment) -> int:
    """As many trials as fit on the cores when each uses all that its task allows."""
    widest = max(experiment.task(planned.name).spec.budget.cpus for planned in experiment.plan.task)
    return max(1, (os.cpu_count() or 1) // widest)
