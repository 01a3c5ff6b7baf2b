"""From journalled trials to the rows that a report prints."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from surpass.analysis.instances import instance_rows
from surpass.analysis.overall import overall
from surpass.analysis.reading import Reading, read
from surpass.analysis.records import Row, Scoreboard
from surpass.score import FLOOR, Claim, combine
from surpass.task.spec import Claims
from surpass.trial import Experiment, PlannedTask, State, Trial
from surpass.verdict import Verdict

__all__ = ["LEVEL", "final_recovery", "is_judged", "rows_json", "score", "scoreboard"]

LEVEL = 0.95
_JUDGED = (State.DONE, State.FAILED, State.INVALID)
_WORST_FIRST = ("invalid", "failed", "infra_error", "incomplete")


def scoreboard(experiment: Experiment) -> Scoreboard:
    """Every (task, agent) of an experiment, finished or not.

    Raises:
        StorageError: the journal cannot be read.
    """
    return score(read(experiment))


def score(reading: Reading) -> Scoreboard:
    """The scoreboard of what was read."""
    plan = reading.plan
    rows = [_row(reading, task, agent) for task in plan.task for agent in plan.agents]
    places = {task.name: place for place, task in enumerate(plan.task)}
    rows.sort(key=lambda row: (places[row.task], row.recovery is None, -(row.recovery or 0.0)))
    headlines = {
        (row.task, row.agent): [final_recovery(trial) for trial in _judged(reading, row.task, row.agent)]
        for row in rows
    }
    return Scoreboard(
        experiment=plan.id,
        rows=tuple(rows),
        overall=overall(plan.agents, rows, headlines, level=LEVEL),
        notes=(*reading.notes, *_notes(reading, rows)),
        level=LEVEL,
    )


def rows_json(board: Scoreboard) -> list[dict[str, Any]]:
    """The rows as plain values for strict JSON: numbers are finite or null."""
    rows = []
    for row in board.rows:
        instances = [asdict(instance) | {"failures": dict(instance.failures)} for instance in row.instances]
        document = asdict(row) | {"claim": row.claim.value, "instances": instances}
        rows.append({"experiment": board.experiment} | document)
    return rows


def is_judged(trial: Trial, planned: PlannedTask) -> bool:
    """True when the trial counts in the estimate: it has an outcome that says something about the submission."""
    if trial.state not in _JUDGED:
        return False
    return trial.verdict is None or trial.verdict.task_digest == planned.digest


def final_recovery(trial: Trial) -> float:
    """A judged trial's headline; the floor without a score."""
    card = trial.verdict.scorecard if trial.verdict else None
    return FLOOR if card is None else card.headline


def _judged(reading: Reading, task: str, agent: str) -> list[Trial]:
    planned = next(planned for planned in reading.plan.task if planned.name == task)
    return [trial for trial in reading.of(task, agent) if is_judged(trial, planned)]


def _row(reading: Reading, planned: PlannedTask, agent: str) -> Row:
    trials = reading.of(planned.name, agent)
    judged = _judged(reading, planned.name, agent)
    counts = Counter(trial.state.value for trial in judged)
    infra = sum(trial.state is State.INFRA_ERROR for trial in trials)
    counted = {
        "done": counts["done"],
        "failed": counts["failed"],
        "invalid": counts["invalid"],
        "infra_error": infra,
        "incomplete": len(trials) - len(judged) - infra,
    }
    task = reading.tasks[planned.name]
    band = task.spec.claims.tie_band if task else Claims().tie_band
    verdicts = [trial.verdict for trial in judged]
    estimate = combine([v.scorecard if v else None for v in verdicts], band, level=LEVEL) if judged else None
    feedback, shrinkage = _selection(reading, judged)
    self_reported = bool(_mean_metric(verdicts, "self_reported"))
    return Row(
        task=planned.name,
        agent=agent,
        hints=reading.plan.hints,
        profile=planned.profile,
        digest=planned.digest,
        trials=len(trials),
        **counted,
        outcome=next((word for word in _WORST_FIRST if counted[word]), "done"),
        recovery=estimate.recovery if estimate else None,
        low=estimate.interval.low if estimate else None,
        high=estimate.interval.high if estimate else None,
        g=estimate.g if estimate else None,
        claim=estimate.claim if estimate and not self_reported else Claim.INCONCLUSIVE,
        self_reported=self_reported,
        tie_band=band,
        tie_band_known=task is not None,
        feedback=feedback,
        shrinkage=shrinkage,
        attempts=sum(len(reading.attempts[trial.plan.id]) for trial in trials),
        seconds=math.fsum(trial.solve_seconds for trial in trials),
        unsafe=reading.plan.unsafe,
        instances=instance_rows(verdicts, task.spec if task else None, level=LEVEL),
        fsr=_mean_metric(verdicts, "fsr"),
        steps_share=_mean_metric(verdicts, "steps_share"),
        cost_share=_mean_metric(verdicts, "cost_share"),
    )


def _mean_metric(verdicts: Sequence[Verdict | None], name: str) -> float | None:
    """Mean over the verdicts that have this number."""
    reported = [metrics[name] for v in verdicts if v for metrics in v.metrics.values() if name in metrics]
    return fmean(reported) if reported else None


def _selection(reading: Reading, judged: Sequence[Trial]) -> tuple[float | None, float | None]:
    """Mean feedback recovery of the chosen attempts, and by how much the final tier came out lower."""
    pairs = [
        (attempt.verdict.scorecard.headline, final_recovery(trial))
        for trial in judged
        for attempt in reading.attempts[trial.plan.id]
        if attempt.number == trial.chosen and attempt.verdict.scorecard is not None
    ]
    if not pairs:
        return None, None
    return fmean(best for best, _ in pairs), fmean(best - final for best, final in pairs)


def _notes(reading: Reading, rows: Sequence[Row]) -> list[str]:
    notes: list[str] = []
    if reading.plan.reproducible:
        notes.append("The hidden data follow from --seed: anyone can repeat this run, and know its data beforehand.")
    if reading.plan.replay:
        notes.append(f"Nothing was measured for this: every verdict is taken from {reading.plan.replay} (--replay).")
    digests = {planned.name: planned.digest for planned in reading.plan.task}
    foreign = [t.plan.id for t in reading.trials if t.verdict and t.verdict.task_digest != digests[t.plan.task]]
    if foreign:
        notes.append(f"Judged on another version of the task and left out of every estimate: {', '.join(foreign)}.")
    if infra := sum(row.infra_error for row in rows):
        notes.append(
            f"{_trials(infra)} ended in an infrastructure error and {_are(infra)} left out of every estimate; "
            "`surpass resume` tries again."
        )
    if waiting := sum(row.incomplete for row in rows) - len(foreign):
        notes.append(f"{_trials(waiting)} {'has' if waiting == 1 else 'have'} no outcome yet.")
    if any(row.judged == 1 for row in rows):
        notes.append("The interval of a row with a single judged trial covers its measurement, not other trials.")
    return notes


def _trials(count: int) -> str:
    return f"{count} trial{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
