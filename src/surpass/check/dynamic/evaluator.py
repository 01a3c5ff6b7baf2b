"""Does the evaluator behave: repeatable, in time, and silent about its inside?"""

from __future__ import annotations

import re
import shutil

from surpass.check._types import Problem, Remark, Report
from surpass.check.dynamic.lab import Lab

__all__ = ["agents_are_told_codes", "evaluator_is_repeatable", "evaluator_is_within_budget"]

_CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SHARE = 0.5
"""Of evaluate_seconds: a busier machine must not turn a good submission into a timeout."""


def evaluator_is_repeatable(lab: Lab) -> Report:
    """D11: the same outputs twice give the same metrics, to the last bit."""
    lab.need_outputs()
    oracle = lab.oracle()
    folder = lab.fresh("answers")
    shutil.copytree(lab.outputs_of(oracle), folder / "outputs")
    bench = lab.outputs_bench()
    first, second = (lab.hand_in(folder, bench) for _ in range(2))
    if (first.metrics, first.failures) != (second.metrics, second.failures):
        for name in sorted(first.metrics.keys() | second.metrics.keys()):
            if first.metrics.get(name) != second.metrics.get(name):
                yield Problem(f"'{name}': {first.metrics.get(name)} and then {second.metrics.get(name)}")
    yield Remark(f"{sum(map(len, first.metrics.values()))} metrics")


def evaluator_is_within_budget(lab: Lab) -> Report:
    """D12: an evaluation takes at most half of evaluate_seconds, and the memory that trusted code may have."""
    lab.need_outputs()
    verdict = lab.oracle().verdict
    allowed = lab.task.spec.budget.evaluate_seconds
    spent = verdict.timings.evaluate_work_s
    if spent > _SHARE * allowed:
        yield Problem(f"evaluating the oracle took {spent:.1f} s of the {allowed:g} s in evaluate_seconds")
    for stopped in {v.code for v in lab.verdicts if v.code in ("evaluator-memory", "evaluator-timeout")}:
        yield Problem(f"an evaluation was stopped: {stopped}")
    yield Remark(f"{spent * 1000:.0f} ms")


def agents_are_told_codes(lab: Lab) -> Report:
    """D13: of every failure seen above, an agent learns a code and nothing of paths, tracebacks or values."""
    if not any(verdict.code or verdict.failures for verdict in lab.verdicts):
        _hand_in_nothing(lab)
    codes = {code for verdict in lab.verdicts for code in (verdict.code, *verdict.failures.values()) if code}
    for code in sorted(codes):
        if not _CODE.fullmatch(code) or len(code) > 64:
            yield Problem(f"an agent would be told '{code[:80]}'")
    yield Remark(", ".join(sorted(codes)))


def _hand_in_nothing(lab: Lab) -> None:
    folder = lab.fresh("nothing")
    folder.mkdir(parents=True)
    lab.hand_in(folder, lab.bench())
