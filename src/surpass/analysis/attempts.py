"""How each trial's best attempt rose with solve time."""

from __future__ import annotations

from dataclasses import dataclass

from surpass.analysis.reading import Reading
from surpass.trial import Trial

__all__ = ["AttemptPoint", "AttemptSeries", "attempt_series"]


@dataclass(frozen=True, slots=True)
class AttemptPoint:
    """One attempt, judged at the feedback tier."""

    number: int
    minutes: float
    """Solve time when it was handed in."""
    recovery: float | None
    """None when it has no score."""
    best: float | None
    """Highest recovery so far, this attempt included; None before any has a score."""
    code: str
    """Why it has no score."""
    note: str
    """The agent's own words."""


@dataclass(frozen=True, slots=True)
class AttemptSeries:
    """One trial's attempts, oldest first."""

    trial: str
    task: str
    agent: str
    index: int
    minutes: float
    """Solve time of the whole trial so far: the best attempt stands until then."""
    points: tuple[AttemptPoint, ...]


def attempt_series(reading: Reading, task: str) -> tuple[AttemptSeries, ...]:
    """The attempts of every trial of one task, trials without any included."""
    return tuple(_series(reading, trial) for trial in reading.trials if trial.plan.task == task)


def _series(reading: Reading, trial: Trial) -> AttemptSeries:
    best: float | None = None
    points: list[AttemptPoint] = []
    for attempt in reading.attempts[trial.plan.id]:
        card = attempt.verdict.scorecard
        recovery = card.headline if card else None
        if recovery is not None:
            best = recovery if best is None else max(best, recovery)
        minutes = attempt.at_seconds / 60
        points.append(AttemptPoint(attempt.number, minutes, recovery, best, attempt.verdict.code, attempt.note))
    last = points[-1].minutes if points else 0.0
    return AttemptSeries(
        trial=trial.plan.id,
        task=trial.plan.task,
        agent=trial.plan.agent,
        index=trial.plan.index,
        minutes=max(trial.solve_seconds / 60, last),
        points=tuple(points),
    )
