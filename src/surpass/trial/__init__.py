"""Trials: planned, journalled, run by an engine, resumable at any instant."""

from surpass.trial.errors import (
    ExperimentBusyError,
    ExperimentError,
    InfraError,
    StateError,
    StorageError,
    TaskChangedError,
)
from surpass.trial.execute import execute, pending
from surpass.trial.experiment import Experiment, TrialFolder, create, open_experiment, without_password
from surpass.trial.journal import Attempt, Journal, Transition, Trial
from surpass.trial.local import Ended, Engine, LocalEngine
from surpass.trial.plan import ExperimentPlan, PlannedTask, TrialPlan, make_plan
from surpass.trial.replay import check_replay
from surpass.trial.runner import run_trial
from surpass.trial.states import TERMINAL, State

__all__ = [
    "TERMINAL",
    "Attempt",
    "Ended",
    "Engine",
    "Experiment",
    "ExperimentBusyError",
    "ExperimentError",
    "ExperimentPlan",
    "InfraError",
    "Journal",
    "LocalEngine",
    "PlannedTask",
    "State",
    "StateError",
    "StorageError",
    "TaskChangedError",
    "Transition",
    "Trial",
    "TrialFolder",
    "TrialPlan",
    "check_replay",
    "create",
    "execute",
    "make_plan",
    "open_experiment",
    "pending",
    "run_trial",
    "without_password",
]
