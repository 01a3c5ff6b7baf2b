"""Put brief, hints and the rules of the workbench together."""

from __future__ import annotations

from surpass.task import Task, UnknownNameError

__all__ = ["FORMATS", "LEVELS", "HintError", "build_prompt", "check_level"]

LEVELS: dict[str, tuple[str, ...]] = {"minimal": (), "method": ("method",), "full": ("method", "full")}
"""Each level, and the hint files it adds to the brief. On tasks with formats, any of them means no hint."""
FORMATS = ("pseudocode", "text", "paper")
"""What a training task may offer; any of them may be combined, joined by commas. `none` is the brief alone."""


class HintError(UnknownNameError):
    """A hint level that does not exist."""


def check_level(level: str) -> None:
    """Fail early on a level that does not exist.

    Raises:
        HintError: it is none of `LEVELS`, nor a combination of `FORMATS`.
    """
    if level in LEVELS or level == "none":
        return
    for part in level.split(","):
        if part not in FORMATS:
            raise HintError("hint level", part, [*LEVELS, "none", *FORMATS])


def build_prompt(task: Task, level: str) -> str:
    """Everything an agent is told, as Markdown. The same for every agent.

    Raises:
        HintError: no such level.
    """
    check_level(level)
    parts = [task.brief.strip(), _rules(task)]
    for name in _files(level):
        path = task.root / "hints" / f"{name}.md"
        if path.is_file():
            parts.append(path.read_text("utf-8").strip())
    return "\n\n".join(parts) + "\n"


def _files(level: str) -> tuple[str, ...]:
    """Hint files in a fixed order, whatever the order in which formats are named."""
    if level in LEVELS:
        return LEVELS[level]
    return tuple(name for name in FORMATS if name in level.split(","))


def _rules(task: Task) -> str:
    budget = task.spec.budget
    detail = {
        "none": "An attempt tells you nothing but that it was taken.",
        "pass": "An attempt tells you whether it was valid.",
        "score": f"An attempt tells you its score, rounded to {task.spec.feedback.decimals} decimals: "
        "0 is the start, 1 the published state of the art, more surpasses it.",
    }[task.spec.feedback.detail]
    training = task.spec.training
    target = f"- Target: a mean loss of at most {training.target:g} nats a token.\n" if training else ""
    final = "with new seeds and on text" if training else "on data"
    return (
        f"## Limits\n\n{target}"
        f"- {budget.solve_minutes:g} minutes, {budget.attempts} attempts, "
        f"{budget.cpus} CPU core(s), {budget.memory_mb} MB of memory, {budget.disk_mb} MB of disk, no network.\n"
        f"- One run may take {budget.run_seconds:g} seconds.\n"
        f"- {detail}\n"
        f"- The best attempt is scored once more, {final} that no attempt has touched. That is the result.\n"
    )
