"""Stored runs of llm-speedrunner: folders that hold `v_N/results.json`, one `v_N` a node of the tree."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from surpass.interop.errors import InteropError
from surpass.interop.llm_speedrunner_rules import Node, Run
from surpass.interop.nanogpt_records import TRANSITIONS
from surpass.interop.reading import number, read_json, read_text

__all__ = ["Ignored", "read_node", "read_runs"]

_VERSION = re.compile(r"v_(\d+)")
_RECORD = re.compile(r"record_(\d+)(?!\d)")
_TEMPLATE = re.compile(r"^\s*template_dirname:.*?record_(\d+)(?!\d)", re.MULTILINE)
_CONFIGS = ("config.yaml", "config.yml", "config.json")


@dataclass(frozen=True, slots=True)
class Ignored:
    """A run that is in no score, and why."""

    name: str
    why: str


def read_runs(folder: Path, baselines: Mapping[int, Node]) -> tuple[list[Run], list[Ignored]]:
    """Every run below `folder`, in order of name, and those that belong to no task.

    Args:
        baselines: node 0 by task, for runs that store none.

    Raises:
        InteropError: no such folder, no runs in it, or a file that is damaged.
    """
    if not folder.is_dir():
        raise InteropError(f"{folder}: no such folder; --results takes the folder that holds the runs")
    roots = sorted({path.parent for path in folder.rglob("v_*") if path.is_dir() and _VERSION.fullmatch(path.name)})
    runs: list[Run] = []
    ignored: list[Ignored] = []
    for root in roots:
        name = root.relative_to(folder).as_posix() if root != folder else root.name
        task = _task(root, folder)
        if task is None:
            ignored.append(Ignored(name, "neither its config nor its path names a record"))
        elif task not in TRANSITIONS:
            ignored.append(Ignored(name, f"record {task} is the start of no task"))
        else:
            runs.append(Run(name, task, _nodes(root, baselines[task])))
    if not runs:
        raise InteropError(
            f"{folder}: holds no run of a speedrun task; runs are folders <any>/v_N with results.json, "
            "below a folder named record_K or with a config.yaml that names it"
        )
    return runs, ignored


def _task(root: Path, folder: Path) -> int | None:
    for name in _CONFIGS:
        if (root / name).is_file():
            text = read_text(root / name)
            found = _TEMPLATE.search(text) or _RECORD.search(text)
            if found:
                return int(found[1])
    # The innermost part decides: an experiment's folder may be named after another record.
    for part in reversed((folder.resolve().name, *root.relative_to(folder).parts)):
        if found := _RECORD.search(part):
            return int(found[1])
    return None


def _nodes(root: Path, baseline: Node) -> tuple[Node, ...]:
    versions = {int(found[1]): path for path in root.iterdir() if (found := _VERSION.fullmatch(path.name))}
    nodes = {n: read_node(path / "results.json", n) for n, path in versions.items()}
    # As in the released analysis: the template's result stands for a node 0 that was not stored.
    nodes.setdefault(0, baseline)
    return tuple(nodes[n] for n in sorted(nodes))


def read_node(path: Path, version: int) -> Node:
    """A node's result; a job that never wrote one has failed.

    Raises:
        InteropError: the file is damaged, or holds something else than numbers.
    """
    if not path.exists():
        return Node(version, float("nan"), float("nan"), valid=False)
    metrics = read_json(path).get("metrics")
    if metrics is None:
        metrics = {}
    if not isinstance(metrics, dict):
        raise InteropError(f"{path}: metrics is no JSON object; repair or remove the file")
    valid = metrics.get("is_valid", True)
    if not isinstance(valid, bool):
        raise InteropError(f"{path}: metrics.is_valid is neither true nor false; repair or remove the file")
    return Node(version, number(metrics, "train_time", path) / 1000, number(metrics, "val_loss", path), valid)
