"""The control arms: null is zero, oracle is one, truth is better still, evil is rejected."""

from __future__ import annotations

import shutil

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.dynamic.lab import Lab, Trial, explained
from surpass.score import Scorecard, TaskEstimate, combine
from surpass.task import Deliverable, Tier
from surpass.verdict import Outcome, Verdict

__all__ = ["evaluator_starts", "evil_is_rejected", "null_is_zero", "oracle_is_one", "truth_is_near_perfect"]


def evaluator_starts(lab: Lab) -> Report:
    """D03: the evaluator imports in its sandbox, where only the guard and the requirements are at hand."""
    lab.need_outputs()
    lab.bench().judge.warm()
    yield from ()


def null_is_zero(lab: Lab) -> Report:
    """D04: the unchanged start scores 0 within its interval."""
    trials = [lab.trial("null", seed) for seed in lab.seeds]
    yield from _unscored(trials, "the start")
    if all(trial.verdict.scorecard for trial in trials):
        estimate = _estimate(lab, trials)
        if not _holds(estimate, 0.0, lab.task.spec.claims.tie_band):
            yield Problem(f"the start scores {_text(estimate)}, not 0")
        yield Remark(_text(estimate))


def oracle_is_one(lab: Lab) -> Report:
    """D05: the reference reaches the published number, 1, within its interval, or surpasses it."""
    trials = [lab.trial("oracle", seed) for seed in lab.seeds]
    yield from _unscored(trials, "the oracle")
    if all(trial.verdict.scorecard for trial in trials):
        estimate = _estimate(lab, trials)
        if estimate.recovery < 1 and not _holds(estimate, 1.0, lab.task.spec.claims.tie_band):
            yield Problem(f"the oracle scores {_text(estimate)}, below 1")
        yield Remark(_text(estimate))


def _holds(estimate: TaskEstimate, target: float, tie_band: float) -> bool:
    """In the interval, or as near as the task calls a tie: an exact metric's interval has no width."""
    interval = estimate.interval
    return interval.low <= target <= interval.high or abs(estimate.recovery - target) <= tie_band


def _estimate(lab: Lab, trials: list[Trial]) -> TaskEstimate:
    cards: list[Scorecard | None] = [trial.verdict.scorecard for trial in trials]
    return combine(cards, lab.task.spec.claims.tie_band)


def _text(estimate: TaskEstimate) -> str:
    low, high = estimate.interval.low, estimate.interval.high
    seeds = f"{estimate.trials} seed{'s' if estimate.trials > 1 else ''}"
    return f"recovery {estimate.recovery:.3f} [{low:.3f}, {high:.3f}] over {seeds}"


def _unscored(trials: list[Trial], who: str) -> Report:
    for seed, trial in enumerate(trials):
        if trial.verdict.outcome is not Outcome.DONE:
            yield Problem(f"{who} has no score at seed {seed}: {explained(trial.verdict)}")
        for name, code in trial.verdict.failures.items():
            yield Problem(f"{who} fails '{name}' at seed {seed}: {code}")


def truth_is_near_perfect(lab: Lab) -> Report:
    """D06: the truth handed in as the answer is at least as good as the published SOTA on every instance."""
    lab.need_outputs()
    oracle = lab.oracle()
    bench = lab.bench()
    truth = bench.judge.data(Tier.FINAL).truth
    answers = _answers(lab, oracle)
    if not answers:
        raise Skip("the oracle's outputs hold no files")
    if missing := [name for name in answers if not (truth / name).is_file()]:
        raise Skip(f"the truth has not the layout of the outputs: no {missing[0]} there")
    if lab.task.spec.deliverable is not Deliverable.OUTPUTS:
        raise Skip("the submission is a program; its record is no truth")
    folder = lab.fresh("truth-as-outputs")
    shutil.copytree(oracle.sealed, folder)
    target = folder / "outputs" / (Tier.FINAL.value if lab.task.spec.submission.per_tier else "")
    for name in answers:
        shutil.copyfile(truth / name, target / name)
    verdict = lab.hand_in(folder, bench)
    yield from _below_sota(verdict)
    if verdict.scorecard:
        yield Remark(f"recovery {verdict.scorecard.headline:.3f}")


def _answers(lab: Lab, oracle: Trial) -> list[str]:
    """The names of the oracle's output files at the final tier."""
    folder = lab.outputs_of(oracle)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _below_sota(verdict: Verdict) -> Report:
    if verdict.scorecard is None:
        yield Problem(f"the truth handed in as the answer is rejected: {explained(verdict)}")
        return
    for score in verdict.scorecard.instances:
        if score.failed:
            yield Problem(f"the truth handed in as the answer fails '{score.name}': {verdict.failures[score.name]}")
        elif score.bounded < 1:
            yield Problem(f"the truth handed in as the answer recovers {score.bounded:.3f} of '{score.name}'")


def evil_is_rejected(lab: Lab) -> Report:
    """D10: each evil solution fails with the code that its evil.toml expects."""
    evil_solutions = lab.task.evil_solutions
    if not evil_solutions:
        raise Skip("there are none (S24)")
    for name, evil in evil_solutions.items():
        verdict = lab.evil_trial(name).verdict
        codes = {verdict.code, *verdict.failures.values()} - {""}
        if not codes:
            score = verdict.scorecard.headline if verdict.scorecard else 0.0
            yield Problem(f"{name} was not rejected: it scores {score:.3f}")
        elif evil.expect not in codes:
            yield Problem(f"{name} was rejected with {', '.join(sorted(codes))}, expected {evil.expect}")
    yield Remark(f"{len(evil_solutions)} rejected as expected")
