"""Carry one trial through its states. Every state begins from what is journalled, so it can be begun again."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from surpass.guard.removal import remove_tree
from surpass.hints import build_prompt
from surpass.sandbox import Sandbox, SandboxError
from surpass.task import Task, Tier
from surpass.trial.errors import InfraError
from surpass.trial.experiment import Experiment, copy_folder, write_atomically
from surpass.trial.journal import Attempt, Trial
from surpass.trial.replay import Replay
from surpass.trial.solving import solve
from surpass.trial.states import TERMINAL, State
from surpass.trial.workbench import TrialWorkbench
from surpass.verdict import Judge, Outcome, Rejection, Verdict, VerdictError

__all__ = ["run_trial"]

_OUTCOMES = {
    Outcome.DONE: State.DONE,
    Outcome.FAILED: State.FAILED,
    Outcome.INVALID: State.INVALID,
    Outcome.INFRA_ERROR: State.INFRA_ERROR,
}


def run_trial(experiment: Experiment, trial: str, sandbox: Sandbox) -> State:
    """Bring a trial to its outcome from whatever state it is in.

    Raises:
        StorageError: the journal cannot be written; the trial stays where it is and can be resumed.
        TaskChangedError: the task is not the one that was planned.
    """
    return _Runner(experiment, trial, sandbox).run()


class _Runner:
    def __init__(self, experiment: Experiment, trial: str, sandbox: Sandbox) -> None:
        self._experiment = experiment
        self._journal = experiment.journal
        self._id = trial
        self._sandbox = sandbox
        self._folder = experiment.folder(trial)
        self._task: Task = experiment.task(experiment.plan_of(trial).task)

    def run(self) -> State:
        steps = {
            State.PLANNED: self._begin,
            State.PREPARING: self._prepare,
            State.SOLVING: self._solve,
            State.SEALED: self._start_judging,
            State.JUDGING: self._give_verdict,
        }
        self._revive()
        while (trial := self._journal.trial(self._id)).state not in TERMINAL:
            try:
                steps[trial.state](trial)
            except (InfraError, SandboxError, VerdictError) as error:
                self._journal.move(self._id, trial.state, State.INFRA_ERROR, error=str(error))
        return trial.state

    def _revive(self) -> None:
        """Take an infrastructure failure back to where it happened."""
        trial = self._journal.trial(self._id)
        if trial.state is State.INFRA_ERROR:
            before = self._journal.state_before(self._id)
            self._journal.move(self._id, State.INFRA_ERROR, before, error=None)

    def _begin(self, trial: Trial) -> None:
        self._journal.move(self._id, State.PLANNED, State.PREPARING)

    def _prepare(self, trial: Trial) -> None:
        """A fresh workspace and the tiers' data; half of either is thrown away and made again."""
        workspace = self._folder.workspace
        part = workspace.with_name("workspace.part")
        for folder in (part, workspace):
            remove_tree(folder)
        copy_folder(self._origin(trial), part)
        self._sandbox.adopt(part)
        part.rename(workspace)
        with self._judge(trial) as judge:
            for tier in Tier:
                judge.data(tier)
        self._journal.move(self._id, State.PREPARING, State.SOLVING)

    def _origin(self, trial: Trial) -> Path:
        """Where the work begins: the task's start, or what the same agent made of the task before.

        A predecessor without a score hands on what it had itself begun from: a failure is not built upon.
        """
        before = self._experiment.plan.predecessor(trial.plan)
        if before is None:
            return self._experiment.task(trial.plan.task).start
        predecessor = self._journal.trial(before)
        if predecessor.state is State.DONE and predecessor.chosen is not None:
            return self._experiment.folder(before).submission(predecessor.chosen)
        return self._origin(predecessor)

    def _solve(self, trial: Trial) -> None:
        prompt = build_prompt(self._task, trial.plan.hints)
        write_atomically(self._folder.root / "prompt.md", prompt)
        with self._judge(trial) as judge:
            bench = TrialWorkbench(
                trial=self._id,
                task=self._task,
                prompt=prompt,
                seed=trial.plan.seed,
                sandbox=self._sandbox,
                judge=judge,
                journal=self._journal,
                folder=self._folder,
                origin=self._origin(trial),
                used_seconds=trial.solve_seconds,
                replay=self._replay(trial),
            )
            error = solve(trial.plan.agent, self._task, bench)
            used = bench.used_seconds()
            chosen = _best(self._journal.attempts(self._id))
            if chosen is None:
                self._seal_workspace(judge, used, error)
                return
        values = {"chosen": chosen.number, "submission": chosen.key, "solve_seconds": used, "error": error}
        self._journal.move(self._id, State.SOLVING, State.SEALED, **values)

    def _seal_workspace(self, judge: Judge, used: float, error: str | None) -> None:
        """No attempt scored: what lies in the workspace is the submission."""
        place = self._folder.attempt(0)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        try:
            sealed = judge.seal(self._folder.workspace, place / "submission")
        except Rejection as rejection:
            verdict = judge.rejected(rejection, Tier.FINAL)
            spent = {"solve_seconds": used, "error": error}
            self._journal.finish(self._id, State.SOLVING, _OUTCOMES[verdict.outcome], verdict, **spent)
            self._publish(verdict)
            return
        values = {"chosen": 0, "submission": sealed.digest, "solve_seconds": used, "error": error}
        self._journal.move(self._id, State.SOLVING, State.SEALED, **values)

    def _start_judging(self, trial: Trial) -> None:
        self._journal.move(self._id, State.SEALED, State.JUDGING)

    def _give_verdict(self, trial: Trial) -> None:
        assert trial.chosen is not None and trial.submission is not None
        sealed = self._folder.submission(trial.chosen)
        with self._judge(trial) as judge:
            if not judge.verify(sealed, trial.submission):
                raise InfraError(
                    f"{sealed} is damaged: its content is not what was sealed; "
                    "restore it from a copy and run `surpass resume`"
                )
            replay = self._replay(trial)
            verdict = (
                judge.judge(sealed, trial.submission, Tier.FINAL) if replay is None else replay.final(trial.submission)
            )
        if verdict.outcome is Outcome.INFRA_ERROR:
            raise InfraError(verdict.detail)
        self._journal.finish(self._id, State.JUDGING, _OUTCOMES[verdict.outcome], verdict)
        self._publish(verdict)

    def _replay(self, trial: Trial) -> Replay | None:
        source = self._experiment.plan.replay
        return Replay.of(Path(source), trial.plan) if source else None

    def _publish(self, verdict: Verdict) -> None:
        write_atomically(self._folder.root / "verdict.json", json.dumps(verdict.to_dict(), indent=2) + "\n")

    @contextlib.contextmanager
    def _judge(self, trial: Trial) -> Iterator[Judge]:
        seed = trial.plan.seed
        with Judge(
            self._task,
            self._sandbox,
            place=self._folder.attempts,
            data=self._experiment.data(self._task, seed),
            hidden=self._experiment.hidden(self._task, seed),
        ) as judge:
            yield judge


def _best(attempts: list[Attempt]) -> Attempt | None:
    """The attempt with the highest feedback recovery, the earliest of equals; None when none scored."""
    scored = [attempt for attempt in attempts if attempt.verdict.scorecard is not None]
    return max(scored, key=lambda attempt: (attempt.verdict.scorecard.headline, -attempt.number), default=None)  # type: ignore[union-attr]
