"""Measure a ladder on this machine: each record beside the next, on one core, with fresh seeds.

From it follow what the suite states: times, spreads and pass rates of the records, the saving of every transition with
its standard error, how many repeats a score needs, and the envelope below which a run may still reach the target.
"""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

from surpass.guard.removal import remove_tree
from surpass.measure import Progress, envelope_of
from surpass.sandbox import Sandbox
from surpass.stats import paired_ratio
from surpass.stats.interval import student
from surpass.task import Task, Tier
from surpass.verdict.arms import BASELINE, HUMAN, Arms
from surpass.verdict.candidate import rejection_of
from surpass.verdict.data import TierData, prepare
from surpass.verdict.errors import VerdictError
from surpass.verdict.examine import examine

__all__ = [
    "LadderCalibration",
    "PairRun",
    "RecordFigures",
    "Rules",
    "TransitionFigures",
    "calibrate",
    "source_of",
    "summarise",
]

ENVELOPE_SHARES = (0.25, 0.5, 0.75, 0.9)
SHORT = 0.25
"""A transition whose pair takes less than this share of the longest pair's time is run more often, for no more time;"""
MOST_TIMES = 4
"""at most this many times as often: short runs scatter more and cost little."""
MOST_ROUNDS = 16
"""At most this many times as often as asked for is a transition run that noise leaves undecided."""
ENVELOPE_MARGIN = 0.25
"""Nats above the worst record's training loss: a different schedule may lag behind all records for a while."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What makes a chain of records a ladder."""

    saving: float = 0.06
    """Least share of the time before that every record saves."""
    errors: float = 5.0
    """Least number of standard errors that a saving is above 0."""
    margin: float = 3.0
    """Least number of seed standard deviations that a record's mean loss lies below the target."""


@dataclass(frozen=True, slots=True)
class PairRun:
    """Two neighbouring records, trained side by side once with one seed."""

    task: str
    source: str
    """As `source_of`: runs of another one are not comparable."""
    round: int
    seconds: tuple[float, float]
    steps: tuple[int, int]
    loss: tuple[float, float]
    progress: tuple[Progress, Progress]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> PairRun:
        """From the row that `dataclasses.asdict` made of one.

        Raises:
            KeyError, TypeError, ValueError: it is none.
        """
        curves = [Progress(c["steps"], [(x, y) for x, y in c["points"]], c["spent_s"]) for c in row["progress"]]
        (sa, sb), (na, nb), (la, lb), (ca, cb) = row["seconds"], row["steps"], row["loss"], curves
        return cls(str(row["task"]), str(row["source"]), int(row["round"]), (sa, sb), (na, nb), (la, lb), (ca, cb))


@dataclass(frozen=True, slots=True)
class RecordFigures:
    """One record over all its runs."""

    record: str
    runs: int
    steps: int
    seconds: float
    """Mean, in the suite's clock. It moves with the machine's load; only ratios of paired runs are compared."""
    loss: float
    loss_sd: float
    passed: int
    margin: float
    """Standard deviations that the mean loss lies below the target; infinite without scatter."""
    pass_rate: float
    """Of a normal distribution with this mean and spread: what one faithful run can expect."""
    relative: float
    """Time relative to the first record's, from the product of the paired ratios."""
    holds: bool


@dataclass(frozen=True, slots=True)
class TransitionFigures:
    """One step of the ladder."""

    task: str
    before: str
    after: str
    rounds: int
    saving: float
    """1 - T_after / T_before, from pairs that ran side by side."""
    saving_se: float
    low: float
    high: float
    scatter: float
    """Standard deviation of one pair's difference, relative to the time before."""
    repeats: int
    """Rounds that a score of this task needs for an interval of +-0.05, at the scatter seen here."""
    holds: bool


@dataclass(frozen=True, slots=True)
class LadderCalibration:
    """Everything that one calibration found."""

    suite: str
    profile: str
    target: float
    rules: Rules
    records: tuple[RecordFigures, ...]
    transitions: tuple[TransitionFigures, ...]
    envelope: tuple[tuple[float, float], ...]

    @property
    def holds(self) -> bool:
        """True when every rule of the ladder holds on this machine."""
        return all(record.holds for record in self.records) and all(step.holds for step in self.transitions)


def calibrate(
    tasks: Sequence[Task],
    sandbox: Sandbox,
    place: Path,
    *,
    tier: Tier = Tier.FINAL,
    rounds: int,
    workers: int,
    known: Sequence[PairRun] = (),
    done: Callable[[PairRun], None] = lambda _: None,
) -> list[PairRun]:
    """Run every transition `rounds` times, one pair a core at a time; rounds outermost, so that drift hits all alike.

    Some are then run more often; see `wanted`. `known` are runs of an earlier, interrupted calibration.

    Raises:
        VerdictError: a record does not run here, or its export is refused.
        PreparationError, SandboxError: as `prepare` and the sandbox.
    """
    data = {task.name: prepare(task, tier, 0, place / "data" / _data_key(task), sandbox) for task in tasks}
    sources = {task.name: source_of(task, tier) for task in tasks}
    lock = threading.Lock()
    runs = list(known)

    def work(job: tuple[Task, int]) -> PairRun:
        task, number = job
        run = _pair(task, number, data[task.name], sandbox, place, source=sources[task.name])
        with lock:
            done(run)
        return run

    with ThreadPoolExecutor(workers) as pool:
        while jobs := wanted(tasks, runs, rounds):
            runs += pool.map(work, jobs)
    return runs


def wanted(tasks: Sequence[Task], runs: Sequence[PairRun], rounds: int) -> list[tuple[Task, int]]:
    """The pairs that are to be run next, as task and round; empty when every transition has enough. Pure.

    First `rounds` of each. Then short ones up to four times as often, by their time alone. Then, as a sequential rule,
    those whose saving is large enough but not yet clear of the noise, `rounds` more at a time, up to 16 times as often.
    """
    mine = {task.name: {run.round: run for run in runs if run.task == task.name} for task in tasks}
    if first := [(task, n) for n in range(rounds) for task in tasks if n not in mine[task.name]]:
        return first
    factors = times_as_often(run for run in runs if run.round < rounds)
    counts = {name: rounds * factor for name, factor in factors.items()}
    last = max(counts.values())
    if more := [(t, n) for n in range(last) for t in tasks if n < counts[t.name] and n not in mine[t.name]]:
        return more
    open_ones = [task for task in tasks if _is_open(task, list(mine[task.name].values()), rounds)]
    return [
        (task, n) for n in range(MOST_ROUNDS * rounds) for task in open_ones if _is_next(n, mine[task.name], rounds)
    ]


def _is_next(number: int, mine: Mapping[int, PairRun], rounds: int) -> bool:
    return number not in mine and number < (len(mine) // rounds + 1) * rounds


def _is_open(task: Task, runs: Sequence[PairRun], rounds: int) -> bool:
    """Whether more rounds may still decide: the saving is large enough, its standard error not yet small enough."""
    rules = Rules()
    found = _transition(task, runs, ("", ""), rules)
    return not found.holds and found.saving >= rules.saving and len(runs) < MOST_ROUNDS * rounds


def times_as_often(runs: Iterable[PairRun]) -> dict[str, int]:
    """How many times as often as the longest one each transition is to run, by the mean time of its pairs. Pure."""
    seconds: dict[str, list[float]] = {}
    for run in runs:
        seconds.setdefault(run.task, []).append(sum(run.seconds))
    means = {name: fmean(values) for name, values in seconds.items()}
    longest = max(means.values())
    return {name: max(1, min(MOST_TIMES, int(SHORT * longest / mean))) for name, mean in means.items()}


def _data_key(task: Task) -> str:
    """Tasks of one ladder share their data; see `Spec.fixed_data`."""
    return "shared" if task.spec.fixed_data else task.id


def source_of(task: Task, tier: Tier) -> str:
    """What was run, and on which text: the digest of the task's package, and the tier."""
    return f"{task.digest} {tier}"


def _pair(task: Task, number: int, data: TierData, sandbox: Sandbox, place: Path, *, source: str) -> PairRun:
    folder = place / f"{task.id}-{number}"
    sources = {BASELINE: task.start, HUMAN: task.solution("oracle")}
    try:
        timed = Arms(task, sources, data.inputs, sandbox).run(folder, secrets.randbits(31), number)
        for name, each in timed.items():
            if problem := rejection_of(each.completed):
                raise VerdictError(f"{task.name}: the {name} run failed on this machine: {problem}")
        loss = [examine(task, sources[name], folder / name, data, sandbox).loss for name in (BASELINE, HUMAN)]
    finally:
        remove_tree(folder)
    before, after = timed[BASELINE], timed[HUMAN]
    return PairRun(
        task=task.name,
        source=source,
        round=number,
        seconds=(before.spent_s, after.spent_s),
        steps=(before.progress.steps, after.progress.steps),
        loss=(loss[0], loss[1]),
        progress=(before.progress, after.progress),
    )


def summarise(
    tasks: Sequence[Task], runs: Iterable[PairRun], names: Mapping[str, tuple[str, str]]
) -> LadderCalibration:
    """What the runs say. Pure. `names` gives the two records of each task; `tasks` are in the ladder's order."""
    rules, runs = Rules(), list(runs)
    training = tasks[0].spec.training
    assert training is not None
    steps = [
        _transition(task, [run for run in runs if run.task == task.name], names[task.name], rules) for task in tasks
    ]
    relative = {steps[0].before: 1.0}
    for step in steps:
        relative[step.after] = relative[step.before] * (1 - step.saving)
    records = [_record(n, _runs_of(n, runs, names), training.target, relative[n], rules) for n in relative]
    curves = [progress for run in runs for progress in run.progress]
    return LadderCalibration(
        suite=tasks[0].suite,
        profile=tasks[0].profile or "full",
        target=training.target,
        rules=rules,
        records=tuple(records),
        transitions=tuple(steps),
        envelope=envelope_of(curves, ENVELOPE_SHARES, ENVELOPE_MARGIN) if all(c.points for c in curves) else (),
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """One record's side of a pair."""

    seconds: float
    steps: int
    loss: float


def _runs_of(name: str, runs: Sequence[PairRun], names: Mapping[str, tuple[str, str]]) -> list[_Run]:
    """A record runs as the later one of one pair and as the earlier one of the next."""
    sides = [(run, side) for run in runs for side in (0, 1) if names[run.task][side] == name]
    return [_Run(run.seconds[side], run.steps[side], run.loss[side]) for run, side in sides]


def _transition(task: Task, runs: Sequence[PairRun], names: tuple[str, str], rules: Rules) -> TransitionFigures:
    before = [run.seconds[0] for run in runs]
    saved = [run.seconds[0] - run.seconds[1] for run in runs]
    estimate = paired_ratio(saved, before)
    scatter = se = math.nan
    low, high = estimate.interval.low, estimate.interval.high
    if len(runs) > 1:
        scatter = stdev(s - estimate.mean * b for s, b in zip(saved, before, strict=True)) / fmean(before)
        se = scatter / math.sqrt(len(runs))
    holds = estimate.mean >= rules.saving and estimate.mean >= rules.errors * se
    return TransitionFigures(
        task.name, *names, len(runs), estimate.mean, se, low, high, scatter, _repeats(scatter, estimate.mean), holds
    )


def _repeats(scatter: float, saving: float) -> int:
    """The fewest rounds n with t(n - 1) * scatter / (sqrt(n) * saving) <= 0.05; 0 when that is not known."""
    if not math.isfinite(scatter) or saving <= 0:
        return 0
    for count in range(2, 1000):
        if student(0.95, count - 1) * scatter / (math.sqrt(count) * saving) <= 0.05:
            return count
    return 1000


def _record(name: str, mine: Sequence[_Run], target: float, relative: float, rules: Rules) -> RecordFigures:
    losses = [run.loss for run in mine]
    loss, spread = fmean(losses), stdev(losses) if len(losses) > 1 else math.nan
    margin = (target - loss) / spread if spread > 0 else math.inf if loss <= target else -math.inf
    return RecordFigures(
        record=name,
        runs=len(mine),
        steps=mine[0].steps,
        seconds=fmean(run.seconds for run in mine),
        loss=loss,
        loss_sd=spread,
        passed=sum(value <= target for value in losses),
        margin=margin,
        pass_rate=NormalDist().cdf(margin) if math.isfinite(margin) else float(margin > 0),
        relative=relative,
        holds=margin >= rules.margin,
    )
