"""One look at an experiment, from which everything in a report is derived, so that its parts agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from surpass.task import Task, TaskError
from surpass.trial import Attempt, Experiment, ExperimentError, ExperimentPlan, Trial

__all__ = ["Reading", "read"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was planned and what has been journalled so far."""

    plan: ExperimentPlan
    trials: tuple[Trial, ...]
    attempts: Mapping[str, tuple[Attempt, ...]]
    """By trial id, oldest first."""
    tasks: Mapping[str, Task | None]
    """By name; None when the package is gone, unreadable, or not the one that was planned."""
    notes: tuple[str, ...]
    """One sentence for each package that is not available."""

    def of(self, task: str, agent: str) -> tuple[Trial, ...]:
        """The trials of one row, in the order of planning."""
        return tuple(trial for trial in self.trials if (trial.plan.task, trial.plan.agent) == (task, agent))


def read(experiment: Experiment) -> Reading:
    """Read the journal, and of the task packages those that are still here.

    A report must be possible on any machine and long after the tasks have moved on, so a missing or changed package
    is a note and no error.

    Raises:
        StorageError: the journal cannot be read.
    """
    tasks: dict[str, Task | None] = {}
    notes: list[str] = []
    for planned in experiment.plan.task:
        try:
            tasks[planned.name] = experiment.task(planned.name)
        except (TaskError, ExperimentError, OSError) as error:
            tasks[planned.name] = None
            why = "has changed since" if isinstance(error, ExperimentError) else "is not on this machine"
            notes.append(
                f"The package of {planned.name} {why}: baselines, SOTA and units are not shown, "
                "and its claims use the default tie band."
            )
    trials = tuple(experiment.journal.trials())
    attempts = {trial.plan.id: tuple(experiment.journal.attempts(trial.plan.id)) for trial in trials}
    return Reading(experiment.plan, trials, attempts, tasks, tuple(notes))
