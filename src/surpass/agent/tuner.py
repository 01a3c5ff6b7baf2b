"""The control arm without a language model: an Optuna search over the knobs that the start program declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surpass.agent._types import BudgetExhausted, Feedback, Workbench
from surpass.agent.knobs import Knob, Value, apply, find
from surpass.task import SOLVER, Task

if TYPE_CHECKING:
    import optuna

__all__ = ["TunerAgent"]

_REJECTED = -1.0
"""Below every recovery that counts, so that the sampler keeps away from settings that break the program."""


class TunerAgent:
    """Control: searches the knobs that the start declares, without a model.

    A tree-structured Parzen estimator, the declared defaults first.

    The sampler is seeded by the trial, so that an interrupted search, run again, proposes the same settings; those
    that were journalled are answered from the journal, and the search goes on where it stopped.
    """

    def __init__(self, task: Task, *, trials: int = 0) -> None:
        self.name = "tuner"
        self._trials = trials
        self._programs = {
            path.relative_to(task.start).as_posix(): path.read_text("utf-8")
            for path in sorted(task.start.rglob("*.py"))
        }
        self._runs_solver = SOLVER in self._programs

    async def solve(self, bench: Workbench) -> None:
        """Ask, edit, run, hand in, tell; until the attempts or the time are used up."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        knobs = [knob for source in self._programs.values() for knob in find(source)]
        if not knobs:
            bench.log("the start program declares no knobs; handing it in as it is")
            await self._try(bench, {})
            return
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=bench.seed))
        study.enqueue_trial({knob.name: _coordinate(knob) for knob in knobs})
        proposed = 0
        try:
            while not self._trials or proposed < self._trials:
                proposed += 1
                trial = study.ask()
                values = {knob.name: _suggest(trial, knob) for knob in knobs}
                study.tell(trial, _value(await self._try(bench, values)))
        except BudgetExhausted:
            bench.log(f"stopped after {proposed - 1} settings: the budget is used up")

    async def _try(self, bench: Workbench, values: dict[str, Value]) -> Feedback | None:
        for path, source in self._programs.items():
            await bench.write(path, apply(source, values).encode())
        if self._runs_solver:
            done = await bench.exec(["python", SOLVER])
            if not done.ok:
                bench.log(f"{values}: {SOLVER} ended with {done.reason}, exit status {done.exit_code}")
                return None
        feedback = await bench.attempt(f"tuner {values}")
        bench.log(f"{values}: {feedback.score if feedback.accepted else feedback.code}")
        return feedback


def _coordinate(knob: Knob) -> float | int:
    """The default as the sampler sees it: choices by their place, so that any literal may be one."""
    return knob.choices.index(knob.default) if knob.kind == "choice" else knob.default  # type: ignore[return-value]


def _suggest(trial: optuna.Trial, knob: Knob) -> Value:
    if knob.kind == "choice":
        return knob.choices[trial.suggest_categorical(knob.name, range(len(knob.choices)))]
    if knob.kind == "int":
        return trial.suggest_int(knob.name, int(knob.low), int(knob.high))
    return trial.suggest_float(knob.name, knob.low, knob.high, log=knob.kind == "log")


def _value(feedback: Feedback | None) -> float:
    if feedback is None or feedback.accepted is False:
        return _REJECTED
    return feedback.score if feedback.score is not None else 0.0
