"""Budget and licence."""

from __future__ import annotations

import re

from surpass.check._types import Problem, Remark, Report
from surpass.check.static.reading import brief_of, source_of
from surpass.task import Task
from surpass.task.spec import Budget

__all__ = ["brief_repeats_no_variable_limit", "budget_is_sane", "has_licence"]

_MOST = {
    "solve_minutes": 24 * 60,
    "attempts": 1000,
    "run_seconds": 24 * 3600,
    "evaluate_seconds": 600,
    "memory_mb": 1 << 20,
    "cpus": 256,
    "gpus": 16,
    "disk_mb": 1 << 20,
    "pids": 4096,
}


def budget_is_sane(task: Task) -> Report:
    """S27: limits that an agent can work with and a machine can give."""
    budgets = {"[budget]": task.spec.budget}
    budgets |= {f"profile '{name}'": task.spec.with_profile(name).budget for name in task.spec.profiles}
    for name, budget in budgets.items():
        for key, most in _MOST.items():
            if getattr(budget, key) > most:
                yield Problem(f"{name}: {key} is {getattr(budget, key):g}, at most {most:g} makes sense")
        if budget.run_seconds > budget.solve_minutes * 60:
            yield Problem(f"{name}: one run may take {budget.run_seconds:g} s, more than the whole solve time")
    yield Remark(_summary(task.spec.budget))


def _summary(budget: Budget) -> str:
    return f"{budget.solve_minutes:g} min, {budget.attempts} attempts, {budget.run_seconds:g} s a run"


def brief_repeats_no_variable_limit(task: Task) -> Report:
    """S32: the prompt states the limits in force; a brief that states them too is wrong under a profile."""
    brief = brief_of(task)
    for name, profile in task.spec.profiles.items():
        for key, unit in (("solve_minutes", "minutes"), ("attempts", "attempts")):
            value = profile.budget.get(key)
            stated = {float(number) for number in re.findall(rf"(\d+(?:\.\d+)?) {unit}\b", brief)}
            if value is not None and stated - {float(value)}:
                yield Problem(f"brief.md speaks of {min(stated):g} {unit}, but profile '{name}' gives {value:g}")


def has_licence(task: Task) -> Report:
    """S33: under which terms the facts of this package may be used."""
    licence = source_of(task).licence.strip()
    if len(licence) < 3:
        yield Problem("source.toml states no licence")
    yield Remark(licence[:80])
