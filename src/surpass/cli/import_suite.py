"""`surpass import`: suites and results of other projects, from the user's own checkouts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surpass.cli._options import Json
from surpass.cli._output import console, emit_json, notes

if TYPE_CHECKING:
    from rich.table import Table

    from surpass.interop import Ignored, Imported, Scores
    from surpass.stats import Estimate

__all__ = ["import_suite"]

import_suite = typer.Typer(no_args_is_help=True, help="Import another project's tasks, or re-score its results.")

Checkout = Annotated[Path, typer.Argument(help="The folder of your clone.")]
Gpus = Annotated[int, typer.Option("--gpus", min=1, max=8, help="On how many GPUs the scripts will run.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the suite if it is there already.")]

_CAVEAT = (
    "Times are self-reported by the agents' scripts, and the human times were measured once, on another day and "
    "partly on another machine: ours re-scores the aggregation only, not the measurements."
)


@import_suite.callback()
def root() -> None:
    """Import another project's tasks, or re-score its results."""


@import_suite.command("modded-nanogpt")
def modded_nanogpt(
    checkout: Checkout,
    name: Annotated[str, typer.Option("--name", help="Of the suite.")] = "modded-nanogpt",
    gpus: Gpus = 8,
    script: Annotated[
        list[str] | None,
        typer.Option("--script", metavar="K=PATH", help="The script of record K; repeatable.", show_default=False),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Import the NanoGPT speedrun's records 1 to 21 as tasks, each from one record to the next."""
    from surpass.interop import import_modded_nanogpt

    imported = import_modded_nanogpt(checkout, name=name, gpus=gpus, scripts=_scripts(script or []), force=force)
    if json:
        emit_json(_document(imported))
        return
    console.print(_records(imported))
    console.print(
        "seconds and loss: of the log chosen, the median run; passes: runs of the same script at 3.28 or below"
    )
    _print_end(imported)


@import_suite.command("llm-speedrunner")
def llm_speedrunner(
    checkout: Checkout,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Import nothing; re-score the runs stored in this folder.", show_default=False),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of the suite.")] = "llm-speedrunner",
    gpus: Gpus = 8,
    force: Force = False,
    json: Json = False,
) -> None:
    """Import the Automated LLM Speedrunning Benchmark's tasks and hints, or re-score runs of it."""
    from surpass.interop import baselines, import_llm_speedrunner, read_runs, record_seconds, score_runs

    if results is not None:
        seconds = record_seconds(checkout)
        runs, ignored = read_runs(results, baselines(checkout))
        scores = score_runs(runs, seconds)
        emit_json(_scores_document(scores, ignored)) if json else _print_scores(scores, ignored)
        return
    imported = import_llm_speedrunner(checkout, name=name, gpus=gpus, force=force)
    if json:
        emit_json(_document(imported))
        return
    table = _table("record", "seconds", "loss", "script")
    for record in imported.document["records"]:
        cells = (_fixed(record["seconds"], 1), _fixed(record["val_loss"], 4), record["source"])
        table.add_row(str(record["record"]), *cells)
    console.print(table)
    _print_end(imported)


def _scripts(given: list[str]) -> dict[int, Path]:
    scripts: dict[int, Path] = {}
    for each in given:
        number, _, path = each.partition("=")
        if not re.fullmatch(r"[0-9]{1,3}", number) or not path:
            raise typer.BadParameter(f"'{each}' is not K=PATH, for instance 1=train_gpt2.py", param_hint="--script")
        scripts[int(number)] = Path(path)
    return scripts


def _document(imported: Imported) -> dict[str, Any]:
    return {**imported.document, "folder": str(imported.folder), "tasks": imported.tasks}


def _table(*headings: str) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("folder", "log", "script", "") else "right")
    return table


def _records(imported: Imported) -> Table:
    table = _table("record", "folder", "log", "seconds", "loss", "logs", "mean s", "sd s", "mean loss", "sd", "passes")
    for record in imported.document["records"]:
        logs = record["logs"]
        log = record["log"][:8] if record["log"] else "given" if record["source"] else "no source"
        table.add_row(
            str(record["record"]),
            record["folder"].rpartition("/")[2] or "none",
            log,
            _fixed(record["seconds"], 1),
            _fixed(record["val_loss"], 4),
            str(logs) + (f" (+{record['other_logs']})" if record["other_logs"] else ""),
            _fixed(record["seconds_mean"], 1),
            _fixed(record["seconds_sd"], 2),
            _fixed(record["val_loss_mean"], 4),
            _fixed(record["val_loss_sd"], 4),
            f"{record['reached_target']}/{logs}" if logs else "-",
        )
    return table


def _fixed(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _print_end(imported: Imported) -> None:
    for left in imported.document["left_out"]:
        notes.print(f"left out: {left['why']}", markup=False, soft_wrap=True)
    console.print(f"licence: {imported.document['licence']}", markup=False, soft_wrap=True)
    console.print(f"{imported.tasks} tasks: surpass list -s {imported.name}", markup=False, soft_wrap=True)


def _scores_document(scores: Scores, ignored: list[Ignored]) -> dict[str, Any]:
    intervals = scores.intervals
    return {
        "note": _CAVEAT,
        "tasks": [
            {"task": t.task, "runs": t.runs, "failed": t.failed, "theirs": t.theirs, "ours": t.ours}
            for t in scores.tasks
        ],
        "theirs": {"mean": scores.theirs, "error": scores.theirs_error},
        "ours": {
            name: {"value": value, **(_ends(intervals[name]) if intervals else {"low": None, "high": None})}
            for name, value in scores.ours.items()
        },
        "ignored": [{"run": each.name, "why": each.why} for each in ignored],
    }


def _ends(estimate: Estimate) -> dict[str, float]:
    return {"low": estimate.interval.low, "high": estimate.interval.high}


def _print_scores(scores: Scores, ignored: list[Ignored]) -> None:
    table = _table("task", "runs", "failed", "as released", "ours")
    for task in scores.tasks:
        theirs = "dropped" if task.theirs is None else f"{task.theirs:.3f}"
        table.add_row(f"{task.task} -> {task.task + 1}", str(task.runs), str(task.failed), theirs, f"{task.ours:.3f}")
    console.print(table)
    error = f" +- {scores.theirs_error:.3f}" if scores.theirs_error is not None else ""
    kept = sum(task.theirs is not None for task in scores.tasks)
    console.print(f"as released: mean {_fixed(scores.theirs, 3)}{error} over {kept} tasks, best three runs of each")
    for name, value in scores.ours.items():
        interval = scores.intervals[name].interval if scores.intervals else None
        ends = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        console.print(f"ours: {name} {value:.3f}{ends} over {len(scores.tasks)} tasks, all runs", markup=False)
    if scores.intervals is None:
        console.print("no intervals: a task has a single run, which tells nothing about how runs vary")
    console.print(_CAVEAT)
    for each in ignored:
        notes.print(f"not scored: {each.name}: {each.why}", markup=False, soft_wrap=True)
