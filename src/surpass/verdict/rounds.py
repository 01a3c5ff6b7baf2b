"""The rounds of one training judgement, and the score that follows from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, fmean, stdev

from surpass.stats import Estimate, Repeats, paired_ratio
from surpass.task import Task, Tier
from surpass.verdict.arms import BASELINE, CANDIDATE, HUMAN
from surpass.verdict.errors import VerdictError
from surpass.verdict.examine import Examination

__all__ = ["REPEATS", "Round", "TrainingResult", "fsr_of"]

REPEATS = {
    Tier.DEV: Repeats(1, 1),
    Tier.FEEDBACK: Repeats(1, 1),
    Tier.FINAL: Repeats(3, 4),
}
"""How often a round is repeated. Feedback is cheap and rough; what is printed comes from the final tier."""


@dataclass(frozen=True, slots=True)
class Round:
    """One arm's time each, in the task's clock, and what the candidate's model achieved."""

    seconds: Mapping[str, float]
    steps: Mapping[str, int]
    """By each run's own account; 0 when it does not say."""
    loss: float
    excluded: Mapping[str, float] = field(default_factory=dict)
    """Where scripts time themselves: each arm's wall seconds beyond those that it reports."""


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """All rounds of one judgement."""

    rounds: tuple[Round, ...]
    fsr: Estimate
    examination: Examination | None = None
    """Of the last round's model; None when nobody but the script itself has looked at it."""

    def metrics(self) -> dict[str, float]:
        """What the verdict records: FSR with its standard error, and everything it was computed from."""
        total = math.fsum(math.fsum(each.seconds.values()) for each in self.rounds)
        values = {
            "fsr": self.fsr.mean,
            "loss": fmean(each.loss for each in self.rounds),
            "rounds": float(len(self.rounds)),
        }
        if self.examination is not None:
            values |= {"evaluation_ratio": self.examination.ratio, "tokens": float(self.examination.tokens)}
        if len(self.rounds) > 1:
            # Where noise hides the reference's own saving, every FSR is possible; the widest range says so.
            low, high = max(self.fsr.interval.low, -_WIDEST), min(self.fsr.interval.high, _WIDEST)
            values |= {"fsr_low": low, "fsr_high": high, "fsr_se": (high - low) / 2 / NormalDist().inv_cdf(0.975)}
            values["loss_sd"] = stdev(each.loss for each in self.rounds)
        for arm in (BASELINE, CANDIDATE, HUMAN):
            if any(each.excluded for each in self.rounds):
                values |= {"self_reported": 1.0}
                values[f"{arm}_excluded_seconds"] = fmean(each.excluded[arm] for each in self.rounds)
            values[f"{arm}_seconds"] = fmean(each.seconds[arm] for each in self.rounds)
            values[f"{arm}_steps"] = fmean(each.steps[arm] for each in self.rounds)
        values["cost"] = total / values[f"{BASELINE}_seconds"]
        return values | (_shares(values) if self._saves_or_loses(values) else {})

    def _saves_or_loses(self, values: Mapping[str, float]) -> bool:
        """True when there is a difference to the baseline that can be split; noise over noise says nothing."""
        if len(self.rounds) > 1:
            return not values["fsr_low"] <= 0 <= values["fsr_high"]
        return abs(1 - values[f"{CANDIDATE}_seconds"] / values[f"{BASELINE}_seconds"]) >= _LEAST_SPLIT


def _shares(values: Mapping[str, float]) -> dict[str, float]:
    """The saving split into fewer steps and cheaper steps, which add up to 1.

    T = steps * cost, so that ln(T_b / T_c) = ln(steps_b / steps_c) + ln(cost_b / cost_c); each share is a term over the
    sum (the logarithmic mean Divisia split, B. W. Ang, Energy Policy 32, 2004). Without step counts there is nothing
    to split.
    """
    steps = values[f"{BASELINE}_steps"], values[f"{CANDIDATE}_steps"]
    times = values[f"{BASELINE}_seconds"], values[f"{CANDIDATE}_seconds"]
    if min(*steps, *times) <= 0:
        return {}
    share = math.log(steps[0] / steps[1]) / math.log(times[0] / times[1])
    return {"steps_share": share, "cost_share": 1 - share}


_WIDEST = 100.0
_LEAST_SPLIT = 0.02
"""A single round's saving below 2 % is not split."""


def fsr_of(task: Task, rounds: Sequence[Round], repeats: Repeats) -> Estimate:
    """FSR over the rounds so far, with Fieller's interval.

    Raises:
        VerdictError: the reference has not been faster than the baseline, so there is nothing to divide by.
    """
    numerators = [each.seconds[BASELINE] - each.seconds[CANDIDATE] for each in rounds]
    denominators = [each.seconds[BASELINE] - each.seconds[HUMAN] for each in rounds]
    if math.fsum(denominators) <= 0:
        raise VerdictError(f"{task.name}: the reference is not faster than the baseline on this machine")
    return paired_ratio(numerators, denominators, level=repeats.nominal)
