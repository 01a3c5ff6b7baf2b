"""Where dynamic checks work: one temporary folder, a judge per seed, and each solution judged once."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from surpass.check._types import Skip
from surpass.sandbox import Sandbox
from surpass.task import Deliverable, Task, Tier, load
from surpass.verdict import Judge, Outcome, Rejection, Verdict, VerdictError, judge_solution
from surpass.verdict.data import prepare

__all__ = ["Bench", "Lab", "Trial", "explained"]

_SEED_STEP = 1009
"""Between the seeds of two labs' tiers; any number above the count of tiers."""
_LEAST_SECONDS = 3.0
_SLOWDOWN = 4.0


@dataclass(frozen=True, slots=True)
class Bench:
    """A judge and the folder that its evaluator may read, below which everything judged must lie."""

    judge: Judge
    place: Path


@dataclass(frozen=True, slots=True)
class Trial:
    """A solution that was staged, sealed and judged at the final tier."""

    verdict: Verdict
    sealed: Path
    """Exists unless staging or sealing was refused."""


@dataclass
class Lab:
    """Everything that the dynamic checks of one task share. Use it from one thread, and close it."""

    task: Task
    sandbox: Sandbox
    root: Path
    verdicts: list[Verdict] = field(default_factory=list)
    """Every verdict given here, for the check of what agents are told."""
    _benches: dict[str, Bench] = field(default_factory=dict)
    _trials: dict[tuple[str, int], Trial] = field(default_factory=dict)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _hurried: Bench | None = None
    _count: int = 0

    def close(self) -> None:
        """Stop every evaluator."""
        self._stack.close()

    @property
    def seeds(self) -> range:
        """Trials of a control arm: three, or one where every trial sees the same data."""
        return range(3 if (self.task.private / "generate.py").is_file() else 1)

    def bench(self, seed: int = 0) -> Bench:
        """The task as it is, on one seed's hidden data."""
        return self._open("judged", self.task, seed)

    def outputs_bench(self) -> Bench:
        """Takes files in `outputs/` as what a program has written, on seed 0's data.

        Evaluator and data are the task's own; only the run of the program falls away.
        """
        plain = {"files": (), "command": (), "per_tier": False, "interactive": False}
        submission = self.task.spec.submission.model_copy(update=plain)
        spec = self.task.spec.model_copy(update={"deliverable": Deliverable.OUTPUTS, "submission": submission})
        return self._open("as-outputs", replace(self.task, spec=spec), 0)

    def hurried_bench(self) -> Bench:
        """The shortest profile, with a few times what the oracle takes there: a program that hangs costs little.

        Raises:
            Skip: the oracle has no score.
        """
        shortest = min(
            (self.task, *(load(self.task.root, suite=self.task.suite, profile=p) for p in self.task.spec.profiles)),
            key=lambda task: task.spec.budget.run_seconds,
        )
        oracle = self._judged("oracle", self._open("shortest", shortest, 0)).verdict
        if oracle.outcome is not Outcome.DONE:
            raise Skip(f"the oracle has no score: {explained(oracle)} (D05)")
        seconds = max(_LEAST_SECONDS, _SLOWDOWN * oracle.timings.run_s)
        budget = shortest.spec.budget
        budget = budget.model_copy(update={"run_seconds": min(budget.run_seconds, seconds)})
        spec = shortest.spec.model_copy(update={"budget": budget})
        return self._open("hurried", replace(shortest, spec=spec), 0)

    def _open(self, name: str, task: Task, seed: int) -> Bench:
        folder = self.root / f"seed-{seed}"
        place = folder / name
        if str(place) not in self._benches:
            hidden = {tier: _SEED_STEP * (seed + 1) + number for number, tier in enumerate(Tier)}
            data = folder / f"data-{task.profile or 'full'}"
            judge = Judge(task, self.sandbox, place=place, data=data, hidden=hidden)
            self._benches[str(place)] = Bench(self._stack.enter_context(judge), place)
        return self._benches[str(place)]

    def generate(self, tier: Tier, seed: int) -> list[Path]:
        """A tier's inputs and truth folders, generated afresh.

        Raises:
            PreparationError: the generator failed.
        """
        data = prepare(self.task, tier, seed, self.fresh("generated"), self.sandbox)
        return [data.inputs, data.truth]

    def fresh(self, name: str, below: Path | None = None) -> Path:
        """A path that does not exist yet."""
        self._count += 1
        return (below or self.root) / f"{name}-{self._count}"

    def trial(self, solution: str, seed: int = 0) -> Trial:
        """A shipped solution at one seed, from memory when it was judged before.

        Raises:
            Skip: there is no start.
            TaskError: the package does not ship the solution.
            VerdictError: the harness could not judge it.
        """
        if not self.task.start.is_dir():
            raise Skip("there is no public/start/ (S01)")
        if (solution, seed) not in self._trials:
            self._trials[solution, seed] = self._judged(solution, self.bench(seed))
        return self._trials[solution, seed]

    def evil_trial(self, solution: str) -> Trial:
        """A solution that must be rejected; as a program it gets no more time than it takes to see that it hangs."""
        hurried = self.task.spec.deliverable is Deliverable.PROGRAM and self.trial("oracle").verdict.scorecard
        if not hurried:
            return self._judged(solution, self.bench())
        self._hurried = self._hurried or self.hurried_bench()
        return self._judged(solution, self._hurried)

    def _judged(self, solution: str, bench: Bench) -> Trial:
        place = self.fresh(solution, bench.place)
        verdict = self._told(judge_solution(bench.judge, self.task.solution(solution), place, self.sandbox))
        return Trial(verdict, place / "submission")

    def oracle(self) -> Trial:
        """The reference at seed 0.

        Raises:
            Skip: it has no score.
        """
        trial = self.trial("oracle")
        if trial.verdict.outcome is not Outcome.DONE:
            raise Skip(f"the oracle has no score: {explained(trial.verdict)} (D05)")
        return trial

    def need_outputs(self) -> None:
        """Go on only where a submission's outputs are files that an evaluator reads.

        Raises:
            Skip: it is trained instead, and its model asked.
        """
        if self.task.spec.deliverable is Deliverable.TRAINING:
            raise Skip("a training has no output files; its model is asked, and cheats are evil solutions (D10)")

    def outputs_of(self, trial: Trial) -> Path:
        """What the evaluator read of a trial: what was handed in, or what its program wrote."""
        if self.task.spec.deliverable is not Deliverable.OUTPUTS:
            return trial.sealed.with_name(f"outputs-{Tier.FINAL.value}")
        folder = trial.sealed / "outputs"
        return folder / Tier.FINAL.value if self.task.spec.submission.per_tier else folder

    def hand_in(self, folder: Path, bench: Bench, tier: Tier = Tier.FINAL) -> Verdict:
        """Seal and judge a folder as it is.

        Raises:
            VerdictError: the harness could not judge it.
        """
        sealed = self.fresh("submission", bench.place)
        try:
            seal = bench.judge.seal(folder, sealed)
        except Rejection as rejection:
            return self._told(bench.judge.rejected(rejection, tier))
        try:
            return self._told(bench.judge.judge(seal.path, seal.digest, tier))
        finally:
            shutil.rmtree(sealed, ignore_errors=True)

    def _told(self, verdict: Verdict) -> Verdict:
        if verdict.outcome is Outcome.INFRA_ERROR:
            raise VerdictError(verdict.detail)
        self.verdicts.append(verdict)
        return verdict


def explained(verdict: Verdict) -> str:
    """A verdict without a score in a few words, for the author: the last line of what the operator sees."""
    lines = verdict.detail.strip().splitlines()
    return f"{verdict.code} ({lines[-1][:200]})" if lines else verdict.code or verdict.outcome.value
