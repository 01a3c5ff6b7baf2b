"""What the template prints, worked out beforehand: the template only lays out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from surpass.analysis import AttemptSeries, InstanceRow, Reading, Row, Scoreboard, attempt_series, score
from surpass.analysis.scoreboard import final_recovery, is_judged
from surpass.score import CEILING, FLOOR
from surpass.task import Task, TaskError
from surpass.trial import Experiment, PlannedTask, Trial, TrialFolder
from surpass.web._plots import COLOURS, attempts_plot

__all__ = ["page"]


@dataclass(frozen=True, slots=True)
class Strip:
    """Where an interval lies in its cell, in percent of the width."""

    low: float
    mean: float
    high: float


@dataclass(frozen=True, slots=True)
class Link:
    """A file of a trial, relative to the page."""

    name: str
    href: str


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One line of the trials table."""

    trial: Trial
    recovery: float | None
    """What counts in the estimate; None when the trial does not count."""
    feedback: float | None
    attempts: int
    code: str
    detail: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class InstanceBlock:
    """One instance, and how each agent did on it."""

    head: InstanceRow
    agents: tuple[tuple[str, InstanceRow], ...]


@dataclass(frozen=True, slots=True)
class TaskSection:
    """All that the page says about one task."""

    anchor: str
    planned: PlannedTask
    task: Task | None
    source: str
    rows: tuple[Row, ...]
    instances: tuple[InstanceBlock, ...]
    plot: str
    series: tuple[AttemptSeries, ...]
    trials: tuple[TrialLine, ...]


@dataclass(frozen=True, slots=True)
class _Subject:
    """What every section draws on."""

    experiment: Experiment
    reading: Reading
    board: Scoreboard
    colours: Mapping[str, int]
    folder: Path
    """Where the page is going to lie."""


def page(experiment: Experiment, reading: Reading, folder: Path) -> dict[str, Any]:
    """Everything that `report.html` needs, when it is going to lie in `folder`."""
    board = score(reading)
    colours = {agent: place % COLOURS for place, agent in enumerate(reading.plan.agents)}
    subject = _Subject(experiment, reading, board, colours, folder)
    return {
        "plan": reading.plan,
        "board": board,
        "colours": colours,
        "sections": [_section(subject, planned, number) for number, planned in enumerate(reading.plan.task, 1)],
        "machine": _machine(experiment.root / "environment.json"),
        "sandboxes": sorted({trial.verdict.sandbox for trial in reading.trials if trial.verdict}),
        "strip": strip,
        "floor": FLOOR,
        "ceiling": CEILING,
        "confidence": f"{board.level:.0%}",
    }


def strip(low: float | None, mean: float | None, high: float | None) -> Strip | None:
    """Place an interval between the lowest and the highest recovery there can be."""
    if low is None or mean is None or high is None:
        return None

    def place(recovery: float) -> float:
        return round(100 * (recovery - FLOOR) / (CEILING - FLOOR), 2)

    return Strip(place(low), place(mean), place(high))


def _section(subject: _Subject, planned: PlannedTask, number: int) -> TaskSection:
    reading = subject.reading
    rows = tuple(row for row in subject.board.rows if row.task == planned.name)
    task = reading.tasks[planned.name]
    order = {row.agent: place for place, row in enumerate(rows)}
    series = sorted(attempt_series(reading, planned.name), key=lambda one: (order[one.agent], one.index))
    trials = sorted(
        (trial for trial in reading.trials if trial.plan.task == planned.name),
        key=lambda trial: (order[trial.plan.agent], trial.plan.index),
    )
    return TaskSection(
        anchor=f"task-{number}",
        planned=planned,
        task=task,
        source=_source(task),
        rows=rows,
        instances=_blocks(rows),
        plot=attempts_plot(series, subject.colours),
        series=tuple(one for one in series if one.points),
        trials=tuple(_line(subject, planned, trial) for trial in trials),
    )


def _blocks(rows: tuple[Row, ...]) -> tuple[InstanceBlock, ...]:
    """Turn instances of agents into agents of instances: on one instance they can be compared."""
    heads = {instance.name: instance for row in rows for instance in row.instances}
    return tuple(
        InstanceBlock(
            head=head,
            agents=tuple((row.agent, one) for row in rows for one in row.instances if one.name == name),
        )
        for name, head in heads.items()
    )


def _line(subject: _Subject, planned: PlannedTask, trial: Trial) -> TrialLine:
    attempts = subject.reading.attempts[trial.plan.id]
    chosen = next((attempt for attempt in attempts if attempt.number == trial.chosen), None)
    card = chosen.verdict.scorecard if chosen else None
    verdict = trial.verdict
    said = [trial.error, verdict.detail if verdict else None]
    return TrialLine(
        trial=trial,
        recovery=final_recovery(trial) if is_judged(trial, planned) else None,
        feedback=card.headline if card else None,
        attempts=len(attempts),
        code=verdict.code if verdict else "",
        detail=_shortened(" · ".join(text for text in said if text)),
        links=_links(subject.experiment.folder(trial.plan.id), subject.folder),
    )


def _links(trial: TrialFolder, folder: Path) -> tuple[Link, ...]:
    """Those of a trial's files that are there; none when the page lies on another drive."""
    files = {
        "verdict": trial.root / "verdict.json",
        "transcript": trial.transcript,
        "attempts": trial.attempts,
        "prompt": trial.root / "prompt.md",
    }
    links: list[Link] = []
    for name, path in files.items():
        if not path.exists():
            continue
        try:
            relative = Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
        except ValueError:
            return ()
        links.append(Link(name, quote(relative) + ("/" if path.is_dir() else "")))
    return tuple(links)


def _source(task: Task | None) -> str:
    if task is None:
        return ""
    try:
        paper = task.source.paper
    except TaskError:
        return ""
    return f"{', '.join(paper.authors)}, {paper.title}, {paper.venue} {paper.year}, doi:{paper.doi}"


def _machine(path: Path) -> str:
    """What `environment.json` says, in one line; whatever cannot be read is left out."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return "not recorded"
    if not isinstance(found, dict):
        return "not recorded"
    memory = found.get("memory_bytes")
    parts = [
        found.get("cpu"),
        f"{found['cores']} cores" if found.get("cores") else "",
        f"{memory / 2**30:.0f} GiB" if isinstance(memory, int | float) and memory else "",
        f"{found.get('system') or ''} {found.get('kernel') or ''}".strip(),
        f"Python {found['python']}" if found.get("python") else "",
    ]
    return ", ".join(str(part) for part in parts if part) or "not recorded"


def _shortened(text: str, length: int = 400) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
