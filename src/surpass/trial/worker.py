"""One trial in a process of its own: `python -m surpass.trial.worker DIRECTORY TRIAL`. Every engine starts this.

Exit status: 0 when the trial reached an outcome, 6 when journal or files cannot be used, 5 when the task has changed,
4 when the sandbox is unavailable. The reason is the last line on stderr.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from surpass.agent import AgentError
from surpass.sandbox import SandboxError, open_sandbox
from surpass.task import TaskError
from surpass.trial.errors import ExperimentError, StorageError
from surpass.trial.experiment import open_experiment
from surpass.trial.runner import run_trial

__all__ = ["DATABASE_VARIABLE", "STORAGE", "main"]

DATABASE_VARIABLE = "SURPASS_DATABASE"
SANDBOX, CHANGED, STORAGE = 4, 5, 6
_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> int:
    """Run the trial; the engine reads the exit status."""
    directory, trial = arguments
    _die_with_parent()
    os.umask(0o022)  # the sandbox's users read what we write
    try:
        experiment = open_experiment(Path(directory))
        run_trial(experiment, trial, open_sandbox(unsafe=experiment.plan.unsafe))
    except SandboxError as error:
        return _failed(SANDBOX, error)
    except (ExperimentError, TaskError, AgentError) as error:
        return _failed(CHANGED, error)
    except (StorageError, OSError) as error:
        return _failed(STORAGE, error)
    return 0


def _failed(status: int, error: Exception) -> int:
    sys.stderr.write(f"{error}\n")
    return status


def _die_with_parent() -> None:
    """A trial must not go on, unseen, after the command that started it was killed."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
