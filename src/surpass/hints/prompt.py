"""Put brief, hints and the rules of the workbench together."""

from __future__ import annotations

from surpass.task import Task, UnknownNameError

__all__ = ["LEVELS", "HintError", "build_prompt", "check_level"]

LEVELS: dict[str, tuple[str, ...]] = {"minimal": (), "method": ("method",), "full": ("method", "full")}
"""Each level, and the hint files it adds to the brief."""


class HintError(UnknownNameError):
    """A hint level that does not exist."""


def check_level(level: str) -> None:
    """Fail early on a level that does not exist.

    Raises:
        HintError: it is none of `LEVELS`.
    """
    if level not in LEVELS:
        raise HintError("hint level", level, LEVELS)


def build_prompt(task: Task, level: str) -> str:
    """Everything an agent is told, as Markdown. The same for every agent.

    Raises:
        HintError: no such level.
    """
    check_level(level)
    parts = [task.brief.strip(), _rules(task)]
    for name in LEVELS[level]:
        path = task.root / "hints" / f"{name}.md"
        if path.is_file():
            parts.append(path.read_text("utf-8").strip())
    return "\n\n".join(parts) + "\n"


def _rules(task: Task) -> str:
    budget = task.spec.budget
    detail = {
        "none": "An attempt tells you nothing but that it was taken.",
        "pass": "An attempt tells you whether it was valid.",
        "score": f"An attempt tells you its score, rounded to {task.spec.feedback.decimals} decimals: "
        "0 is the start, 1 the published state of the art, more surpasses it.",
    }[task.spec.feedback.detail]
    return (
        "## Limits\n\n"
        f"- {budget.solve_minutes:g} minutes, {budget.attempts} attempts, "
        f"{budget.cpus} CPU core(s), {budget.memory_mb} MB of memory, {budget.disk_mb} MB of disk, no network.\n"
        f"- One run may take {budget.run_seconds:g} seconds.\n"
        f"- {detail}\n"
        "- The best attempt is scored once more, on data that no attempt has touched. That is the result.\n"
    )
