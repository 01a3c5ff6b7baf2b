"""Write a new task package: a small, complete, working one, whose texts its author replaces."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from surpass.task.digest import package_files
from surpass.task.errors import TaskError
from surpass.task.load import Task, load

__all__ = ["scaffold"]

_TEMPLATE = Path(__file__).resolve().parent / "template"
"""Itself a valid package, with the id `template`."""
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def scaffold(task_id: str, into: Path) -> Task:
    """Write `into / task_id` and return the task that it holds.

    Raises:
        TaskError: the id is no id, or something of that name exists already.
    """
    if not _ID.fullmatch(task_id) or len(task_id) > 64:
        raise TaskError(f"'{task_id}' is no task id; use up to 64 lower-case letters, digits and single hyphens")
    folder = into / task_id
    if folder.exists() or folder.is_symlink():
        raise TaskError(f"{folder} exists already; choose another id or another --into")
    # Made beside its place and renamed, so that an interruption leaves no half package that looks whole.
    part = into / f".{task_id}.part"
    shutil.rmtree(part, ignore_errors=True)
    for source in package_files(_TEMPLATE):
        target = part / source.relative_to(_TEMPLATE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    description = part / "task.toml"
    text = description.read_text("utf-8").replace('id = "template"', f'id = "{task_id}"', 1)
    description.write_text(text, "utf-8")
    part.rename(folder)
    return load(folder)
