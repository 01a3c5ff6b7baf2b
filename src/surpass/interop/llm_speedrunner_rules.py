"""Two ways to aggregate the runs of the Automated LLM Speedrunning Benchmark: as released, and ours. Pure functions.

Both start from the same self-reported times and the same stored times of the human records, so only what is made of
them differs. FSR of task k is (t_k - t') / (t_k - t_(k+1)), with t' the time of the run's best node.

As released (its analysis code, not its paper): the human baseline is node 0 and counts; a loss below 3.29 passes; FSR
outside [0, 3] and a run without any result become 0; task 20 has no gap and drops out; of each task the best three runs
count, and with fewer the last of them is repeated.

Ours: only what the agent made counts; the target is 3.28 and a node marked invalid is invalid; FSR is bounded as every
recovery here; a run without a valid node has the floor; every run of every task counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from surpass.score import FLOOR, bounded
from surpass.stats import Estimate, TooFewTrials, iqm, stratified_bootstrap, weighted_mean, weighted_median
from surpass.stats.bootstrap import Statistic

__all__ = ["Node", "Run", "Scores", "TaskScore", "our_fsr", "score_runs", "their_fsr", "their_top"]

_THEIR_LOSS = 3.29
_OUR_LOSS = 3.28
_THEIR_RANGE = (0.0, 3.0)
_THEIR_LAST = 19
_TOP = 3
_SEED = 0


@dataclass(frozen=True, slots=True)
class Node:
    """One version of the script in a run's tree. NaN where the run stored nothing."""

    number: int
    """0 is the human baseline."""
    seconds: float
    loss: float
    """In nats a token."""
    valid: bool = True
    """The stored flag; true where none is stored."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an agent."""

    name: str
    task: int
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TaskScore:
    """All runs of one task."""

    task: int
    runs: int
    failed: int
    """Runs without any node that is valid by our rule."""
    theirs: float | None
    """Mean of the three runs that count; None where the released analysis drops the task."""
    ours: float


@dataclass(frozen=True, slots=True)
class Scores:
    """Both aggregates, by task and over all."""

    tasks: tuple[TaskScore, ...]
    theirs: float | None
    """Mean over tasks; None when no task is left."""
    theirs_error: float | None
    """Their error bar: standard deviation of the means of first, second and third runs, over the root of tasks."""
    ours: Mapping[str, float]
    """`mean`, `median` and `iqm` over tasks of equal weight."""
    intervals: Mapping[str, Estimate] | None
    """The same with a 95 % bootstrap interval over runs; None when some task has a single run."""


def their_fsr(nodes: Iterable[Node], start: float, target: float) -> float:
    """FSR of a run as the released analysis has it; times in seconds."""
    times = [node.seconds for node in nodes if not node.loss >= _THEIR_LOSS and not math.isnan(node.seconds)]
    if not times or start == target:
        return 0.0
    value = (start - min(times)) / (start - target)
    low, high = _THEIR_RANGE
    return value if low <= value <= high else 0.0


def our_fsr(nodes: Iterable[Node], start: float, target: float) -> float | None:
    """FSR of a run over valid nodes of the agent's own, bounded; None when there is none. Times in seconds.

    Raises:
        ValueError: the next record is not faster than the start, so that there is nothing to recover.
    """
    if not target < start:
        raise ValueError(f"need target < start, got {target} s and {start} s")
    times = [node.seconds for node in nodes if _counts(node)]
    return bounded((start - min(times)) / (start - target)) if times else None


def _counts(node: Node) -> bool:
    # Comparisons with NaN are false, so a node without a time or a loss never counts.
    return node.number > 0 and node.valid and node.seconds > 0 and node.loss <= _OUR_LOSS


def their_top(values: Sequence[float]) -> tuple[float, ...]:
    """The three best runs, best first; where there are fewer, the last is repeated.

    Raises:
        ValueError: there are no runs.
    """
    if not values:
        raise ValueError("a task without runs has no best runs")
    best = sorted(values, reverse=True)[:_TOP]
    return tuple(best + best[-1:] * (_TOP - len(best)))


def score_runs(runs: Iterable[Run], seconds: Mapping[int, float]) -> Scores:
    """Both aggregates of the same runs; a task without runs is in neither.

    Args:
        seconds: the human time of each record, by number.

    Raises:
        ValueError: there are no runs, or a record is not faster than the one before.
        KeyError: the time of a record is missing.
    """
    by_task: dict[int, list[Run]] = {}
    for run in runs:
        by_task.setdefault(run.task, []).append(run)
    if not by_task:
        raise ValueError("there are no runs")
    top: dict[int, tuple[float, ...]] = {}
    ours: dict[int, list[float | None]] = {}
    for task, group in sorted(by_task.items()):
        times = seconds[task], seconds[task + 1]
        ours[task] = [our_fsr(run.nodes, *times) for run in group]
        if task <= _THEIR_LAST:
            top[task] = their_top([their_fsr(run.nodes, *times) for run in group])
    filled = {task: [FLOOR if value is None else value for value in values] for task, values in ours.items()}
    tasks = tuple(
        TaskScore(task, len(values), values.count(None), fmean(top[task]) if task in top else None, fmean(filled[task]))
        for task, values in ours.items()
    )
    point, intervals = _ours(list(filled.values()))
    columns = [fmean(column) for column in zip(*top.values(), strict=True)]
    error = pstdev(columns) / math.sqrt(len(top)) if top else None
    return Scores(tasks, fmean(columns) if columns else None, error, point, intervals)


def _ours(groups: list[list[float]]) -> tuple[dict[str, float], dict[str, Estimate] | None]:
    """Every run of every task counts, and every task weighs the same, as in a report of our own."""
    values = [value for group in groups for value in group]
    weights = [1 / len(group) for group in groups for _ in group]
    statistics: dict[str, Statistic] = {"mean": weighted_mean, "median": weighted_median, "iqm": iqm}
    point = {name: statistic(values, weights) for name, statistic in statistics.items()}
    try:
        return point, {name: stratified_bootstrap(groups, each, _SEED) for name, each in statistics.items()}
    except TooFewTrials:
        return point, None
