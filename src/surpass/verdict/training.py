"""Judge a training submission: train it beside the baseline and the reference, then ask the exported model.

One round trains all three arms from scratch, side by side on one core, with a seed drawn after sealing. From the rounds
follows FSR = mean(T_baseline - T_candidate) / mean(T_baseline - T_human) with Fieller's interval; no stored time
enters. A run that fails, is stopped early or misses the target ends the judgement: it cannot be repeated into a pass.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from surpass.guard import Malformed
from surpass.guard.removal import remove_tree
from surpass.guard.source import check_source
from surpass.measure import Timed
from surpass.sandbox import Sandbox
from surpass.task import Task, Tier, Training
from surpass.verdict.arms import BASELINE, CANDIDATE, HUMAN, Arms
from surpass.verdict.candidate import rejection_of
from surpass.verdict.data import TierData
from surpass.verdict.errors import VerdictError
from surpass.verdict.examine import Examination, examine
from surpass.verdict.records import Outcome, Rejection
from surpass.verdict.rounds import REPEATS, Round, TrainingResult, fsr_of

__all__ = ["judge_training"]


def judge_training(
    task: Task, sealed: Path, digest: str, *, hidden: int, tier: Tier, data: TierData, place: Path, sandbox: Sandbox
) -> TrainingResult:
    """Train and examine a sealed submission beside baseline and reference. `place` is a folder for passing files.

    Raises:
        Rejection: it broke a rule, failed, was stopped early, or missed the target.
        VerdictError: the baseline or the reference does not run on this machine.
    """
    training = task.spec.training
    assert training is not None  # the spec has it when the deliverable is a training
    try:
        check_source(sealed, training.source_kb << 10)
    except Malformed as refused:
        raise Rejection(Outcome.INVALID, refused.code, refused.detail) from None
    return _Judgement(task, training, sealed, digest, hidden, tier, data, place, sandbox).run()


@dataclass(slots=True)
class _Judgement:
    task: Task
    training: Training
    sealed: Path
    digest: str
    hidden: int
    tier: Tier
    data: TierData
    place: Path
    sandbox: Sandbox
    rounds: list[Round] = field(default_factory=list)
    examination: Examination | None = None

    def run(self) -> TrainingResult:
        repeats = REPEATS[self.tier]
        sources = {BASELINE: self.task.start, CANDIDATE: self.sealed, HUMAN: self.task.solution("oracle")}
        arms = Arms(self.task, sources, self.data.inputs, self.sandbox)
        estimate = None
        while estimate is None or not repeats.enough(len(self.rounds), estimate.interval):
            self.rounds.append(self._round(arms))
            estimate = fsr_of(self.task, self.rounds, repeats)
        return TrainingResult(tuple(self.rounds), estimate, self.examination)

    def _round(self, arms: Arms) -> Round:
        number = len(self.rounds)
        folder = self.place / f"round-{number}"
        remove_tree(folder)
        try:
            timed = arms.run(folder, self._seed(number), number)
            self._require_success(timed)
            loss = self._examined(folder, number)
        finally:
            remove_tree(folder)
        return Round(
            seconds={name: each.spent_s for name, each in timed.items()},
            steps={name: each.progress.steps for name, each in timed.items()},
            loss=loss,
        )

    def _seed(self, number: int) -> int:
        """Known to nobody before the submission is sealed: it follows from a hidden seed and the content's hash."""
        message = f"{self.hidden}|{self.digest}|{self.tier.value}|{number}".encode()
        return int.from_bytes(hashlib.sha256(message).digest()[:4], "big") >> 1

    def _require_success(self, timed: Mapping[str, Timed]) -> None:
        for name in (BASELINE, HUMAN):
            done = timed[name].completed
            if not done.ok and not timed[name].stopped:
                problem = rejection_of(done)
                raise VerdictError(f"{self.task.name}: the {name} run failed on this machine: {problem}")
        candidate = timed[CANDIDATE]
        if candidate.stopped:
            raise Rejection(Outcome.FAILED, candidate.stopped, _account(candidate, timed.get(BASELINE)))
        if rejection := rejection_of(candidate.completed):
            raise rejection
        if not candidate.handed_over:
            raise VerdictError(f"{self.task.name}: a run ended before it was started")

    def _examined(self, folder: Path, number: int) -> float:
        """The hidden loss of this round's export; the first round also finds out what answering may cost."""
        if number == 0:
            reference = examine(self.task, self.task.start, folder / BASELINE, self.data, self.sandbox)
            allowed = reference.cpu_s * self.training.evaluation_ratio
        else:
            assert self.examination is not None
            allowed = self.examination.allowed_cpu_s
        found = examine(self.task, self.sealed, folder / CANDIDATE, self.data, self.sandbox, allowed_cpu_s=allowed)
        if found.loss > self.training.target:
            raise Rejection(
                Outcome.FAILED,
                "target-missed",
                f"loss {found.loss:.4f} in round {number + 1}, target {self.training.target}",
            )
        self.examination = found
        return found.loss


def _account(candidate: Timed, baseline: Timed | None) -> str:
    """What was known when a run was stopped, for the operator."""
    progress = candidate.progress
    said = f"after {candidate.spent_s:.1f} s at {progress.share:.0%} of its steps, training loss {progress.loss:.3f}"
    ended = baseline is not None and not baseline.stopped
    return said + (f"; the baseline took {baseline.spent_s:.1f} s" if ended and baseline is not None else "")
