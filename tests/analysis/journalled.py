"""Experiments written straight into the journal: what reports read, without running anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from surpass.agent import Feedback
from surpass.task import Task, Tier, load
from surpass.trial import Attempt, Experiment, State, create, make_plan
from surpass.verdict import Outcome, Verdict, scorecard_of

SECOND = """
[[instance]]
name = "spread"
metric = "error"
direction = "lower"
unit = "m"
baseline = 1.0
sota = 0.01
range = [1e-6, 1e6]
scale = "log"
"""


class Book:
    """An experiment and a hand that writes in its journal.

    Errors of the small task: 1.0 is the baseline, hence recovery 0; 0.1 the SOTA of `mean`, 0.01 that of `spread`.
    """

    def __init__(self, root: Path, tasks: Sequence[Task], agents: Sequence[str], **options) -> None:
        self.tasks = {task.name: task for task in tasks}
        self.experiment: Experiment = create(root, make_plan(list(tasks), list(agents), reproducible=True, **options))
        self.journal = self.experiment.journal

    def ids(self, agent: str, task: str | None = None) -> list[str]:
        return [
            t.plan.id for t in self.journal.trials() if t.plan.agent == agent and (task is None or t.plan.task == task)
        ]

    def verdict(self, trial: str, tier: Tier, errors: dict[str, float] | None, **fields) -> Verdict:
        task = self.tasks[self.experiment.plan_of(trial).task]
        fields = {"sandbox": "bubblewrap", "outcome": Outcome.DONE, "task_digest": task.digest} | fields
        verdict = {"task": task.name, "tier": tier, "submission": "s"} | fields
        if errors is None:
            return Verdict(**verdict)
        metrics = {name: {"error": value} for name, value in errors.items()}
        card = scorecard_of(task.spec, metrics)
        failures = {score.name: "wrong-shape" for score in card.instances if score.failed}
        return Verdict(**verdict, metrics=metrics, failures=failures, scorecard=card)

    def start(self, trial: str) -> None:
        folder = self.experiment.folder(trial)
        folder.attempts.mkdir(parents=True, exist_ok=True)
        (folder.root / "prompt.md").write_text("the brief\n")
        folder.transcript.write_text("{}\n")
        self.journal.move(trial, State.PLANNED, State.PREPARING)
        self.journal.move(trial, State.PREPARING, State.SOLVING)

    def attempt(self, trial: str, number: int, seconds: float, error: float | None, note: str = "") -> None:
        errors = None if error is None else dict.fromkeys(self._instances(trial), error)
        rejected = {"outcome": Outcome.FAILED, "code": "timeout"} if error is None else {}
        verdict = self.verdict(trial, Tier.FEEDBACK, errors, **rejected)
        feedback = Feedback(number, error is not None, None, verdict.code)
        self.journal.add_attempt(trial, Attempt(number, f"key{number}", note, seconds, feedback, verdict))

    def done(self, trial: str, error: float | dict[str, float], *, chosen: int = 0, seconds: float = 60.0) -> None:
        errors = error if isinstance(error, dict) else dict.fromkeys(self._instances(trial), error)
        self.finish(trial, State.DONE, self.verdict(trial, Tier.FINAL, errors), chosen=chosen, seconds=seconds)

    def rejected(self, trial: str, outcome: Outcome, code: str, detail: str = "") -> None:
        verdict = self.verdict(trial, Tier.FINAL, None, outcome=outcome, code=code, detail=detail)
        self.finish(trial, State(outcome.value), verdict)

    def finish(self, trial: str, state: State, verdict: Verdict, *, chosen: int = 0, seconds: float = 60.0) -> None:
        values = {"chosen": chosen, "submission": "s", "solve_seconds": seconds}
        self.journal.move(trial, State.SOLVING, State.SEALED, **values)
        self.journal.move(trial, State.SEALED, State.JUDGING)
        self.journal.finish(trial, State.JUDGING, state, verdict)
        (self.experiment.folder(trial).root / "verdict.json").write_text(json.dumps(verdict.to_dict()))

    def infra(self, trial: str, error: str = "the disk was full") -> None:
        self.journal.move(trial, State.SOLVING, State.INFRA_ERROR, error=error)

    def _instances(self, trial: str) -> list[str]:
        return [instance.name for instance in self.tasks[self.experiment.plan_of(trial).task].spec.instance]


def with_second_instance(make_task: Callable[..., Task], name: str) -> Task:
    """The small task with an instance on a log scale."""
    root = make_task(name=name).root
    path = root / "task.toml"
    path.write_text(path.read_text() + SECOND)
    return load(root)
