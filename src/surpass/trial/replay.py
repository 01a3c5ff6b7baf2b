"""Answer from what another experiment measured: the same submission gets the same verdict, at no cost.

A search is a function of its seed and of what was measured. With the measurements fixed, the same seed must give the
same tree; and a new policy can be tried on the nodes that old searches have paid for.
"""

from __future__ import annotations

from pathlib import Path

from surpass.trial.errors import ExperimentError, InfraError
from surpass.trial.experiment import Experiment, open_experiment
from surpass.trial.plan import TrialPlan
from surpass.verdict import Verdict

__all__ = ["Replay", "check_replay"]


class Replay:
    """The verdicts that an experiment holds on one task, by the submission's content hash.

    Where several trials measured the same submission, the trial's own measurement counts, else the first.
    """

    def __init__(self, source: Experiment, wanted: TrialPlan) -> None:
        self._root = source.root
        self._attempts: dict[str, Verdict] = {}
        self._finals: dict[str, Verdict] = {}
        of_task = [trial for trial in source.journal.trials() if trial.plan.task == wanted.task]
        for trial in sorted(of_task, key=lambda trial: trial.plan != wanted):
            for attempt in source.journal.attempts(trial.plan.id):
                self._attempts.setdefault(attempt.key, attempt.verdict)
            if trial.verdict is not None and trial.submission is not None:
                self._finals.setdefault(trial.submission, trial.verdict)

    @classmethod
    def of(cls, root: Path, trial: TrialPlan) -> Replay:
        """Read what an experiment measured on the trial's task.

        Raises:
            ExperimentError, StorageError: it cannot be read.
        """
        source = open_experiment(root, read_only=True)
        try:
            return cls(source, trial)
        finally:
            source.journal.close()

    def attempt(self, key: str) -> Verdict:
        """The feedback verdict on a submission.

        Raises:
            InfraError: it was never handed in there.
        """
        return self._found(self._attempts, key)

    def final(self, key: str) -> Verdict:
        """The final verdict on a submission.

        Raises:
            InfraError: it was not what was chosen there.
        """
        return self._found(self._finals, key)

    def _found(self, verdicts: dict[str, Verdict], key: str) -> Verdict:
        try:
            return verdicts[key]
        except KeyError:
            raise InfraError(
                f"{self._root} holds no measurement of submission {key[:12]}; replay with the same agent, options and "
                "seed, or run without --replay"
            ) from None


def check_replay(root: Path, tasks: dict[str, str]) -> None:
    """Fail early when an experiment cannot answer for tasks, given as name and digest.

    Raises:
        ExperimentError: it does not exist, or it measured other tasks or other versions of them.
        StorageError: it cannot be read.
    """
    source = open_experiment(root, read_only=True)
    source.journal.close()
    held = {task.name: task.digest for task in source.plan.task}
    for name, digest in tasks.items():
        if held.get(name) != digest:
            what = "another version of it" if name in held else "nothing"
            raise ExperimentError(f"{root} measured {what} for task {name}; it cannot be replayed")
