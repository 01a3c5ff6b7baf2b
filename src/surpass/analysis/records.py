"""What a scoreboard holds, as frozen records."""

from __future__ import annotations

from dataclasses import dataclass

from surpass.score import Claim
from surpass.score.reference import Direction, Scale

__all__ = ["InstanceRow", "Overall", "Row", "Scoreboard"]


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """One instance, over the judged trials of one agent."""

    name: str
    metric: str
    unit: str
    """Empty without the task package; metric, direction, scale, baseline and SOTA are unknown then too."""
    direction: Direction | None
    scale: Scale | None
    baseline: float | None
    sota: float | None
    value: float | None
    """Mean over the trials that have one, geometric on a log scale; None when none has."""
    recovery: float
    """Mean bounded recovery, failures at the floor."""
    low: float
    high: float
    g: float | None
    """Mean g, failures at -1; None when the SOTA is 0."""
    trials: int
    """Judged trials."""
    clipped: int
    """Trials whose recovery lay beyond the bounds and was held there."""
    failures: tuple[tuple[str, int], ...]
    """Why trials have no value here, and how many."""


@dataclass(frozen=True, slots=True)
class Row:
    """One agent on one task."""

    task: str
    agent: str
    hints: str
    profile: str
    digest: str
    trials: int
    """Planned; the five counts that follow add up to it."""
    done: int
    failed: int
    invalid: int
    infra_error: int
    """Left out of the estimate: says nothing about the agent."""
    incomplete: int
    """Without an outcome so far, or judged on another version of the task; left out of the estimate."""
    outcome: str
    """`done` when every trial is; else the first of `invalid`, `failed`, `infra_error`, `incomplete` that occurs."""
    recovery: float | None
    """Mean over judged trials, failed and invalid ones at the floor; None before any trial is judged."""
    low: float | None
    high: float | None
    g: float | None
    claim: Claim
    """`inconclusive` before any trial is judged: nothing is known yet, which is not a failure."""
    tie_band: float
    tie_band_known: bool
    """False when the task package is not available and the default band was used."""
    feedback: float | None
    """Mean feedback recovery of the attempts that were chosen for the final tier; None without any."""
    shrinkage: float | None
    """Mean of feedback minus final over the same trials: what selecting on feedback flattered the agent by."""
    attempts: int
    """Over all trials."""
    seconds: float
    """Solve time over all trials."""
    unsafe: bool
    """Candidate code ran without a sandbox."""
    instances: tuple[InstanceRow, ...]
    self_reported: bool = False
    """Loss and time are what the submission's own script printed: no claim is made of them."""
    fsr: float | None = None
    """Training tasks: mean fraction of the reference's speedup that was recovered, failures left out; not bounded."""
    steps_share: float | None = None
    """Training tasks: of the time saved, what came from fewer steps by the script's own account."""
    cost_share: float | None = None
    """Training tasks: what came from cheaper steps; the two add up to 1. None where next to nothing was saved."""

    @property
    def judged(self) -> int:
        """Trials that count in the estimate."""
        return self.done + self.failed + self.invalid


@dataclass(frozen=True, slots=True)
class Overall:
    """One agent over all tasks with equal weights. Intervals: other trials of the same tasks, not other tasks."""

    agent: str
    tasks: int
    """With at least one judged trial."""
    missing: int
    """Without any; left out of the means."""
    mean: float | None
    mean_low: float | None
    """None when a task has fewer than two judged trials: nothing is known about how its trials vary."""
    mean_high: float | None
    median: float | None
    median_low: float | None
    median_high: float | None
    iqm: float | None
    """Interquartile mean over tasks, which single extreme tasks cannot move (Agarwal et al., NeurIPS 2021)."""
    iqm_low: float | None
    iqm_high: float | None
    g: float | None
    """Mean over the tasks that have a g."""
    claims: tuple[tuple[Claim, int], ...]
    """Tasks by claim, best claim first."""


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Every row of an experiment."""

    experiment: str
    rows: tuple[Row, ...]
    """Tasks in the order of planning; within a task the highest recovery first."""
    overall: tuple[Overall, ...]
    """Highest mean first."""
    notes: tuple[str, ...]
    """What a reader must know to read the numbers right, a sentence each."""
    level: float
    """Of every interval."""
