"""Run all trials of an experiment that have no outcome yet."""

from __future__ import annotations

from collections.abc import Callable

from surpass.sandbox import SandboxUnavailable
from surpass.trial.errors import StorageError, TaskChangedError
from surpass.trial.experiment import Experiment
from surpass.trial.journal import Trial
from surpass.trial.local import Ended, Engine
from surpass.trial.states import TERMINAL, State
from surpass.trial.worker import CHANGED, SANDBOX, STORAGE

__all__ = ["execute", "pending"]


def pending(experiment: Experiment) -> list[Trial]:
    """The trials still to be run: all without an outcome, and those that an infrastructure failure ended."""
    return [t for t in experiment.journal.trials() if t.state not in TERMINAL or t.state is State.INFRA_ERROR]


def execute(experiment: Experiment, engine: Engine, on_end: Callable[[Trial], None]) -> None:
    """Submit everything pending and wait for it. Call it while holding the experiment's lock.

    Raises:
        StorageError, SandboxUnavailable, TaskChangedError: nothing can go on; what was in flight can be resumed.
    """
    for planned in experiment.plan.task:
        experiment.task(planned.name)
    waiting = {trial.plan.id: experiment.plan.predecessor(trial.plan) for trial in pending(experiment)}
    for trial, before in waiting.items():
        if before not in waiting:  # it has none, or that one has its outcome
            engine.submit(trial)
    while engine.busy:
        ended = engine.next_ended(timeout_s=1.0)
        if ended is not None:
            settled = _settled(experiment, ended)
            on_end(settled)
            if settled.state is not State.INFRA_ERROR:  # else its successors wait for `surpass resume`
                waiting.pop(ended.trial)
                for trial in [trial for trial, before in waiting.items() if before == ended.trial]:
                    engine.submit(trial)


def _settled(experiment: Experiment, ended: Ended) -> Trial:
    """The trial's outcome; a worker that ended without one leaves an infra_error, or stops the experiment."""
    fatal = {STORAGE: StorageError, SANDBOX: SandboxUnavailable, CHANGED: TaskChangedError}
    if ended.exit_status in fatal:
        raise fatal[ended.exit_status](ended.message)
    trial = experiment.journal.trial(ended.trial)
    if trial.state not in TERMINAL:
        cause = f"the worker was killed by signal {-ended.exit_status}" if ended.exit_status < 0 else ended.message
        experiment.journal.move(ended.trial, trial.state, State.INFRA_ERROR, error=cause or "the worker vanished")
        trial = experiment.journal.trial(ended.trial)
    return trial
