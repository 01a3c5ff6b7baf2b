"""The only place that decides: seal, run, evaluate, validate, score."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from surpass.guard.removal import remove_tree
from surpass.sandbox import Sandbox, SandboxError
from surpass.score import Reference, Scorecard, score_instances
from surpass.task import Deliverable, Instance, Spec, Task, Tier
from surpass.verdict.arms import CANDIDATE
from surpass.verdict.data import TierData, prepare
from surpass.verdict.errors import VerdictError
from surpass.verdict.evaluator import Answer, Evaluator
from surpass.verdict.execute import execute
from surpass.verdict.records import Outcome, Rejection, Timings, Verdict
from surpass.verdict.reported import judge_reported
from surpass.verdict.rounds import TrainingResult
from surpass.verdict.seal import Caps, Seal, digest_folder, seal
from surpass.verdict.training import judge_training

__all__ = ["Judge", "reference_of", "scorecard_of"]


class Judge:
    """Judges submissions to one task on the hidden data of one seed.

    `place` holds everything judged, and is what the evaluator may read; `data` holds (or will hold) the tiers, each
    with `inputs` and `truth`. Use it as a context manager, from one thread.
    """

    def __init__(self, task: Task, sandbox: Sandbox, *, place: Path, data: Path, hidden: Mapping[Tier, int]) -> None:
        self.task = task
        self._sandbox = sandbox
        self._data = data
        self._hidden = hidden
        self._place = place
        data.mkdir(parents=True, exist_ok=True)
        place.mkdir(parents=True, exist_ok=True)
        self._evaluator = Evaluator(task, sandbox, visible=place, truth=data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._evaluator.close()

    def data(self, tier: Tier) -> TierData:
        """One tier's data, generated at the first call.

        Raises:
            PreparationError: the task's generator failed.
        """
        return prepare(self.task, tier, self._hidden[tier], self._data, self._sandbox)

    def warm(self) -> None:
        """Start the evaluator before the first submission arrives."""
        self._evaluator.warm()

    def seal(self, source: Path, destination: Path) -> Seal:
        """Freeze what a candidate wrote, as `destination`, a new folder below `place`.

        Raises:
            Rejection: it holds something that no submission may hold.
        """
        return seal(source, destination, Caps(total_bytes=self.task.spec.budget.disk_mb << 20))

    def judge(self, sealed: Path, digest: str, tier: Tier) -> Verdict:
        """Judge a sealed submission. Its program's outputs are kept beside it."""
        verdict = self._blank(tier, digest)
        try:
            return self._scored(verdict, sealed)
        except Rejection as rejection:
            return _refused(verdict, rejection)
        except (VerdictError, SandboxError) as error:
            return replace(verdict, outcome=Outcome.INFRA_ERROR, code="infra", detail=str(error))

    def rejected(self, rejection: Rejection, tier: Tier) -> Verdict:
        """The verdict on what could not even be sealed."""
        return _refused(self._blank(tier, ""), rejection)

    def _blank(self, tier: Tier, digest: str) -> Verdict:
        return Verdict(
            task=self.task.name,
            task_digest=self.task.digest,
            tier=tier,
            submission=digest,
            outcome=Outcome.DONE,
            sandbox=f"{self._sandbox.name}, {self._sandbox.capabilities.tier}",
        )

    def verify(self, sealed: Path, digest: str) -> bool:
        """True when a sealed folder still has the content that was recorded."""
        return sealed.is_dir() and digest_folder(sealed) == digest

    def _scored(self, verdict: Verdict, sealed: Path) -> Verdict:
        self._require_files(sealed)
        data = self.data(verdict.tier)
        if self.task.spec.deliverable is Deliverable.TRAINING:
            return self._trained(verdict, sealed, data)
        outputs, timings = self._outputs(sealed, verdict.tier, data)
        started = time.perf_counter()
        answer = self._evaluator.evaluate(outputs, data.truth)
        timings = replace(timings, evaluate_s=time.perf_counter() - started, evaluate_work_s=answer.work_s)
        verdict = replace(verdict, timings=timings)
        if answer.code:
            return replace(verdict, outcome=Outcome.FAILED, code=answer.code, detail=answer.detail)
        return _validated(verdict, self.task.spec, answer)

    def _trained(self, verdict: Verdict, sealed: Path, data: TierData) -> Verdict:
        """Time and examine a training submission; what it achieved is the task's one instance."""
        place = sealed.parent / f"training-{verdict.tier.value}"
        started = time.perf_counter()
        try:
            result = self._judged(verdict, sealed, data, place)
        finally:
            remove_tree(place)
        on_cpu_clock = self.task.spec.training is not None and self.task.spec.training.clock == "cpu"
        cpu_s = math.fsum(each.seconds[CANDIDATE] for each in result.rounds) if on_cpu_clock else 0.0
        timings = Timings(run_s=time.perf_counter() - started, run_cpu_s=cpu_s)
        (instance,) = self.task.spec.instance
        answer = Answer({instance.name: result.metrics()}, {}, "", "")
        return _validated(replace(verdict, timings=timings), self.task.spec, answer)

    def _judged(self, verdict: Verdict, sealed: Path, data: TierData, place: Path) -> TrainingResult:
        task, tier = self.task, verdict.tier
        if task.times_itself:
            return judge_reported(task, sealed, tier=tier, place=place, sandbox=self._sandbox)
        hidden, digest = self._hidden[tier], verdict.submission
        return judge_training(
            task, sealed, digest, hidden=hidden, tier=tier, data=data, place=place, sandbox=self._sandbox
        )

    def _require_files(self, sealed: Path) -> None:
        for name in self.task.spec.submission.files:
            if not (sealed / name).is_file():
                raise Rejection(Outcome.FAILED, "missing", name)

    def _outputs(self, sealed: Path, tier: Tier, data: TierData) -> tuple[Path, Timings]:
        if self.task.spec.deliverable is Deliverable.OUTPUTS:
            folder = sealed / "outputs"
            folder = folder / tier.value if self.task.spec.submission.per_tier else folder
            if not folder.is_dir():
                raise Rejection(Outcome.FAILED, "missing", folder.relative_to(sealed).as_posix())
            return folder, Timings()
        if self.task.spec.deliverable is Deliverable.PROGRAM:
            return self._produced(sealed, tier, data)
        raise VerdictError(
            f"deliverable '{self.task.spec.deliverable}' comes with its own suite, which is not installed"
        )

    def _produced(self, sealed: Path, tier: Tier, data: TierData) -> tuple[Path, Timings]:
        """Run the program and seal what it wrote: from here on nobody can change it."""
        written = sealed.parent / f"written-{tier.value}"
        outputs = sealed.parent / f"outputs-{tier.value}"
        for folder in (written, outputs):
            remove_tree(folder)
        written.mkdir()
        try:
            done = execute(self.task, sealed, data, written, self._sandbox)
            self.seal(written, outputs)
        finally:
            remove_tree(written)
        return outputs, Timings(run_s=done.wall_s, run_cpu_s=done.cpu_s, run_peak_memory_bytes=done.peak_memory_bytes)


def _refused(verdict: Verdict, rejection: Rejection) -> Verdict:
    return replace(verdict, outcome=rejection.outcome, code=rejection.code, detail=rejection.detail)


def _validated(verdict: Verdict, spec: Spec, answer: Answer) -> Verdict:
    """Score every instance; one that was not answered, or not with a finite value in range, fails, never drops out."""
    card = scorecard_of(spec, answer.metrics)
    failures: dict[str, str] = {}
    details: list[str] = []
    for score in card.instances:
        if score.failure is not None:
            code, detail = answer.failures.get(score.name, (score.failure, _reported(answer, score.name)))
            failures[score.name] = code
            details.append(f"{score.name}: {code}" + (f" ({detail})" if detail else ""))
    metrics = {
        score.name: {name: value for name, value in answer.metrics[score.name].items() if math.isfinite(value)}
        for score in card.instances
        if not score.failed
    }
    verdict = replace(verdict, metrics=metrics, failures=failures, detail="; ".join(details))
    if not card.has_score:
        return replace(verdict, outcome=Outcome.FAILED, code=next(iter(failures.values())))
    return replace(verdict, scorecard=card)


def _reported(answer: Answer, instance: str) -> str:
    values = answer.metrics.get(instance, {})
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def reference_of(instance: Instance) -> Reference:
    """An instance's anchors in the form that scoring takes."""
    return Reference(
        direction=instance.direction,
        baseline=instance.baseline,
        baseline_spread=instance.baseline_spread,
        sota=instance.sota,
        sota_spread=instance.sota_spread,
        scale=instance.scale,
        low=instance.range[0],
        high=instance.range[1],
    )


def scorecard_of(spec: Spec, metrics: Mapping[str, Mapping[str, float]]) -> Scorecard:
    """Score recorded metrics again: pure, so that a number can be recomputed anywhere from what was journalled."""
    return score_instances(
        metrics={instance.name: metrics.get(instance.name) for instance in spec.instance},
        references={instance.name: reference_of(instance) for instance in spec.instance},
        metric_names={instance.name: instance.metric for instance in spec.instance},
    )
