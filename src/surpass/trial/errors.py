"""What can go wrong around trials. Each message says what happened and what to do."""

__all__ = ["ExperimentBusyError", "ExperimentError", "InfraError", "StateError", "StorageError", "TaskChangedError"]


class ExperimentError(Exception):
    """An experiment directory that cannot be created, opened or continued."""


class ExperimentBusyError(ExperimentError):
    """Another process works on this experiment."""


class TaskChangedError(ExperimentError):
    """A task is no longer the one that the experiment was planned with."""


class StorageError(Exception):
    """The journal or the experiment's files cannot be written or read."""


class StateError(Exception):
    """A transition that the trial's state machine does not have."""


class InfraError(Exception):
    """The harness, not the submission, failed; the trial can be resumed."""
