"""What an experiment is going to do, frozen before it begins."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from surpass import __version__
from surpass.task import Rung, Task, rung_of

__all__ = ["ExperimentPlan", "PlannedTask", "TrialPlan", "make_plan"]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedTask(_Document):
    """A task as it was when the experiment was planned."""

    name: str
    suite: str
    root: Path
    profile: str = ""
    digest: str


class ExperimentPlan(_Document):
    """`experiment.toml`."""

    id: str
    created: str
    surpass: str
    hints: str
    trials: int
    seed: int
    agents: tuple[str, ...]
    database: str = ""
    """URL of the journal without its password; empty for `surpass.db` in the directory."""
    unsafe: bool = False
    """True when candidate code ran without a sandbox; printed beside every number."""
    reproducible: bool = False
    """True when the hidden data follow from the seed, so that whoever knows the generator can know them."""
    cumulative: bool = False
    """True when each task starts from what the same agent made of the task before it."""
    replay: str = ""
    """Directory of the experiment whose measurements are used instead of new ones; empty for none."""
    task: tuple[PlannedTask, ...]

    def predecessor(self, trial: TrialPlan) -> str | None:
        """The trial that a cumulative one starts from: same agent and index, the rung below of the same variant."""
        rung = rung_of(trial.task)
        if not self.cumulative or rung is None:
            return None
        below = [task.name for task in self.task if rung_of(task.name) == Rung(rung.number - 1, rung.variant)]
        wanted = [(name, trial.agent, trial.index) for name in below]
        found = (plan.id for plan in self.trial_plans() if (plan.task, plan.agent, plan.index) in wanted)
        return next(found, None)

    def trial_plans(self) -> list[TrialPlan]:
        """Every trial in a fixed order: repetitions outermost, so that a partial run covers every task and agent."""
        slugs = _slugs([task.name for task in self.task]) | _slugs(list(self.agents))
        return [
            TrialPlan(
                id=f"{slugs[task.name]}.{slugs[agent]}.{index}",
                task=task.name,
                agent=agent,
                index=index,
                seed=self.seed + index,
                hints=self.hints,
            )
            for index in range(self.trials)
            for task in self.task
            for agent in self.agents
        ]


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One agent on one task at one hint level with one seed.

    Trials of different agents with the same index share their seed, hence their hidden data: comparisons are paired.
    """

    id: str
    task: str
    agent: str
    index: int
    seed: int
    hints: str


def make_plan(
    tasks: list[Task],
    agents: list[str],
    *,
    trials: int = 1,
    seed: int = 0,
    hints: str = "minimal",
    database: str = "",
    unsafe: bool = False,
    reproducible: bool = False,
    cumulative: bool = False,
    replay: str = "",
) -> ExperimentPlan:
    """Freeze a configuration. Agents and tasks that are named twice count once."""
    now = datetime.now(UTC)
    unique = {task.name: task for task in tasks}
    return ExperimentPlan(
        id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}",
        created=now.isoformat(timespec="seconds"),
        surpass=__version__,
        hints=hints,
        trials=trials,
        seed=seed,
        agents=tuple(dict.fromkeys(agents)),
        database=database,
        unsafe=unsafe,
        reproducible=reproducible,
        cumulative=cumulative,
        replay=replay,
        task=tuple(
            PlannedTask(name=name, suite=task.suite, root=task.root, profile=task.profile, digest=task.digest)
            for name, task in unique.items()
        ),
    )


def _slugs(names: list[str]) -> dict[str, str]:
    """A file name for each; names that would share one are told apart by a hash."""
    plain = {name: re.sub(r"[^A-Za-z0-9@=_-]+", "-", name).strip("-")[:100] for name in names}
    shared = {slug for slug, count in Counter(plain.values()).items() if count > 1}
    return {
        name: f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:8]}" if slug in shared else slug
        for name, slug in plain.items()
    }
