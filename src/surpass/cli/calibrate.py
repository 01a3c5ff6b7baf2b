"""`surpass calibrate`: a ladder measured on this machine."""

from __future__ import annotations

import dataclasses
import json as json_module
import math
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surpass.cli._exit import ExitCode
from surpass.cli._options import Json, Profile, TaskFolders, Unsafe, catalogue
from surpass.cli._output import console, emit_json, notes

if TYPE_CHECKING:
    from surpass.sandbox import Sandbox
    from surpass.task import Task, Tier
    from surpass.verdict import LadderCalibration, PairRun

__all__ = ["FILE", "calibrate", "print_calibration"]

FILE, RUNS = "calibration.json", "runs.jsonl"
"""What is written into the output folder."""


def calibrate(
    suite: Annotated[str, typer.Argument(help="A suite that is a ladder of records, for example speedrun.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for calibration.json and progression.svg.")],
    profile: Profile = "",
    tier: Annotated[str, typer.Option("--tier", help="final, or feedback to size records by.")] = "final",
    rounds: Annotated[
        int,
        typer.Option(
            "--rounds", min=2, help="Paired runs, with fresh seeds, of each step; short ones up to 4 times as many."
        ),
    ] = 3,
    tasks: TaskFolders = None,
    workers: Annotated[int, typer.Option("--concurrency", "-n", min=0, help="Pairs at once; 0: one a core.")] = 0,
    unsafe: Unsafe = False,
    json: Json = False,
) -> None:
    """Measure every record beside the next one: times, spreads, pass rates, and whether the ladder's rules hold.

    An interrupted calibration goes on where it was when it is called again with the same folder.
    """
    from surpass.sandbox import open_sandbox, require_safe
    from surpass.task import Tier, UnknownNameError
    from surpass.verdict import source_of, summarise
    from surpass.web import progression_svg

    if tier not in (Tier.FEEDBACK, Tier.FINAL):
        raise UnknownNameError("tier", tier, [Tier.FEEDBACK, Tier.FINAL])
    ladder = _transitions(catalogue(tasks).suite(suite, profile=profile))
    sandbox = open_sandbox(unsafe=unsafe)
    if not unsafe:
        require_safe(sandbox)
    ladder[0].require_complete()
    output.mkdir(parents=True, exist_ok=True)
    notes.print(
        f"{len(ladder) * rounds} pairs of training runs, then more where runs are short or noise hides the saving"
    )
    known = _known(output / RUNS, {task.name: source_of(task, Tier(tier)) for task in ladder})
    if known:
        notes.print(f"{len(known)} of them are there already")
    runs = _run(ladder, known, sandbox, output, Tier(tier), rounds, workers or os.cpu_count() or 1)
    found = summarise(ladder, runs, {task.name: _records(task) for task in ladder})
    document = _document(found, tier, rounds)
    (output / FILE).write_text(json_module.dumps(document, indent=2) + "\n", encoding="utf-8")
    (output / "progression.svg").write_text(progression_svg(document), encoding="utf-8")
    emit_json(document) if json else print_calibration(document)
    notes.print(f"written: {output / FILE} and progression.svg", soft_wrap=True, markup=False)
    if not found.holds:
        raise typer.Exit(ExitCode.NOT_PASSED)


def _known(path: Path, sources: dict[str, str]) -> list[PairRun]:
    """What an interrupted calibration of the same ladder left; a last line that was cut off is ignored."""
    from surpass.task import TaskError
    from surpass.verdict import PairRun

    known: list[PairRun] = []
    for line in path.read_text("utf-8").splitlines() if path.is_file() else []:
        try:
            known.append(PairRun.of(json_module.loads(line)))
        except (KeyError, TypeError, ValueError):
            continue
    if any(sources.get(run.task) != run.source for run in known):
        raise TaskError(f"{path} holds runs of other scripts or of another tier; choose another folder")
    whole = path.with_suffix(".new")  # without the line that was cut off, or the next one would continue it
    whole.write_text("".join(map(_row, known)), encoding="utf-8")
    whole.replace(path)
    return known


def _row(run: PairRun) -> str:
    return json_module.dumps(dataclasses.asdict(run)) + "\n"


def _run(
    ladder: list[Task], known: list[PairRun], sandbox: Sandbox, output: Path, tier: Tier, rounds: int, workers: int
) -> list[PairRun]:
    """All pairs; each is told and appended to runs.jsonl as it ends."""
    from surpass.verdict import calibrate_ladder

    def told(run: PairRun) -> None:
        with (output / RUNS).open("a", encoding="utf-8") as file:
            file.write(_row(run))
        spent = f"{run.seconds[0]:.1f} -> {run.seconds[1]:.1f} s, loss {run.loss[0]:.4f} -> {run.loss[1]:.4f}"
        notes.print(f"{run.task} round {run.round + 1}: {spent}", markup=False, soft_wrap=True)

    with tempfile.TemporaryDirectory(dir=output, prefix=".work-") as place:
        return calibrate_ladder(
            ladder, sandbox, Path(place), tier=tier, rounds=rounds, workers=workers, known=known, done=told
        )


def _transitions(tasks: list[Task]) -> list[Task]:
    """One task a rung; variants share start and reference."""
    from surpass.task import TaskError, rung_of

    rungs: dict[int, Task] = {}
    for task in tasks:
        rung = rung_of(task.id)
        if task.spec.training is not None and not task.times_itself and rung is not None:
            rungs.setdefault(rung.number, task)
    if not rungs:
        raise TaskError(
            f"'{tasks[0].suite if tasks else ''}' is no ladder: it has no trainings named rNN that surpass clocks"
        )
    return [rungs[number] for number in sorted(rungs)]


def _records(task: Task) -> tuple[str, str]:
    """Names of the two records of a rung."""
    from surpass.task import rung_of

    rung = rung_of(task.id)
    assert rung is not None  # _transitions has chosen it by that
    return f"r{rung.number:02d}", f"r{rung.number + 1:02d}"


def _document(found: LadderCalibration, tier: str, rounds: int) -> dict[str, Any]:
    from surpass.measure import fingerprint

    plain = dataclasses.asdict(found)
    return {
        "suite": found.suite,
        "profile": found.profile,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": dataclasses.asdict(fingerprint()),
        "tier": tier,
        "rounds": rounds,
        "holds": found.holds,
        **{key: _finite(value) for key, value in plain.items() if key not in ("suite", "profile")},
    }


def _finite(value: Any) -> Any:
    """The same with None in place of what strict JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def print_calibration(document: dict[str, Any]) -> None:
    """The table of records, each with the step that leads to it."""
    from rich.table import Table

    title = f"{document['suite']}, profile {document['profile']}, target {document['target']:g} nats a token"
    console.print(f"[bold]{title}[/bold], {document['date']}, {document['rounds']} rounds")
    columns = ("record", "steps", "loss", "sd", "pass", "rate", "s", "rel.", "saved", "+-", "n", "")
    table = Table(*columns, box=None, header_style="bold", padding=(0, 1, 0, 0))
    for column in table.columns:
        column.no_wrap = True
    steps = {step["after"]: step for step in document["transitions"]}
    for record in document["records"]:
        step = steps.get(record["record"])
        table.add_row(
            record["record"],
            str(record["steps"]),
            f"{record['loss']:.4f}",
            _number(record["loss_sd"], ".4f"),
            f"{record['passed']}/{record['runs']}",
            f"{record['pass_rate']:.3f}",
            f"{record['seconds']:.2f}",
            f"{record['relative']:.3f}",
            f"{step['saving']:.1%}" if step else "",
            _number(step["saving_se"], ".1%") if step else "",
            str(step["repeats"]) if step else "",
            "" if record["holds"] and (not step or step["holds"]) else "fails",
        )
    console.print(table)
    notes.print(
        "pass, rate: runs that reached the target, and the share expected; s: mean time under load; rel.: from paired "
        "ratios; saved, +-: against the record before, standard error; n: rounds that a score needs for +-0.05",
        soft_wrap=True,
    )


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
