"""Import the templates and hints of the Automated LLM Speedrunning Benchmark.

Its licence forbids commercial use, so everything stays in the user's data folder, and every package says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surpass.interop.errors import InteropError
from surpass.interop.llm_speedrunner_rules import Node
from surpass.interop.llm_speedrunner_runs import read_node
from surpass.interop.modded_nanogpt import Imported
from surpass.interop.nanogpt_records import RECORDS, TARGET, TRANSITIONS
from surpass.interop.packages import VARIANTS, Transition, write_suite
from surpass.interop.reading import read_script, read_text
from surpass.task.built import user_suites

__all__ = ["baselines", "import_llm_speedrunner", "record_seconds"]

LICENCE = "CC BY-NC 4.0 (Meta Platforms, llm-speedrunner); scripts after modded-nanogpt, MIT (Keller Jordan)"
_HINTS = {"pseudocode": "level_1_pseudo*", "text": "level_2_description*", "paper": "level_3_paper*"}
_RECORD = re.compile(r"record_(\d+)")


def import_llm_speedrunner(
    checkout: Path, *, name: str = "llm-speedrunner", gpus: int = 8, force: bool = False
) -> Imported:
    """Write the benchmark's 19 tasks as a suite of the user's.

    Raises:
        InteropError: the checkout is none or is incomplete, or the suite is there already.
    """
    templates = _templates(checkout)
    hints = _hint_folders(checkout)
    nodes = {number: _result(folder) for number, folder in templates.items()}
    sources = {number: read_script(folder / "train_gpt2.py") for number, folder in templates.items()}
    where = {
        number: (folder / "train_gpt2.py").relative_to(checkout).as_posix() for number, folder in templates.items()
    }
    transitions = [
        Transition(
            number,
            sources[number],
            sources[number + 1],
            RECORDS[number + 1].change,
            f"1 by definition; start from {where[number]}, reference from {where[number + 1]}",
            _hints(number, hints),
        )
        for number in TRANSITIONS
    ]
    document: dict[str, Any] = {
        "suite": name,
        "from": "llm-speedrunner",
        "licence": LICENCE,
        "target": TARGET,
        "gpus": gpus,
        "records": [
            {"record": number, "source": where[number], "seconds": node.seconds, "val_loss": _finite(node.loss)}
            for number, node in nodes.items()
        ],
        "transitions": list(TRANSITIONS),
        "hints": {str(transition.number): sorted(transition.hints) for transition in transitions},
        "left_out": [],
    }
    target = user_suites() / name
    write_suite(name, "llmsr", transitions, document, licence=LICENCE, gpus=gpus, target=target, force=force)
    return Imported(name, target, len(transitions) * len(VARIANTS), document)


def record_seconds(checkout: Path) -> dict[int, float]:
    """The stored training time of each human record, by number.

    Raises:
        InteropError: the checkout is none, a time is missing, or a task's target is not faster than its start.
    """
    seconds = {number: node.seconds for number, node in _results(checkout).items()}
    for number in TRANSITIONS:
        if not seconds[number + 1] < seconds[number]:
            raise InteropError(
                f"{checkout}: the results of record {number + 1} are not faster than those of record {number}; "
                "check out the templates again"
            )
    return seconds


def baselines(checkout: Path) -> dict[int, Node]:
    """Node 0 of each task: the result stored with the record that it starts from.

    Raises:
        InteropError: the checkout is none, or a time is missing.
    """
    return {number: node for number, node in _results(checkout).items() if number in TRANSITIONS}


def _results(checkout: Path) -> dict[int, Node]:
    return {number: _result(folder) for number, folder in _templates(checkout).items()}


def _result(folder: Path) -> Node:
    path = folder / "results.json"
    if not path.is_file():
        raise InteropError(f"{path}: is missing; check out the repository again")
    node = read_node(path, 0)
    if not node.seconds > 0:
        raise InteropError(f"{path}: holds no metrics.train_time above 0; check out the repository again")
    return node


def _templates(checkout: Path) -> dict[int, Path]:
    """The folder of each record, wherever the templates lie."""
    pattern = "workspace_templates/*/record_*/train_gpt2.py"
    found = {int(match[1]): path.parent for path in sorted(checkout.rglob(pattern)) if (match := _number(path.parent))}
    if not found:
        raise InteropError(
            f"{checkout}: is no checkout of llm-speedrunner, for it lacks {pattern}; "
            "clone the repository and give the clone's folder"
        )
    if missing := sorted(set(RECORDS) - set(found)):
        raise InteropError(
            f"{checkout}: the template of record {missing[0]} is missing (record_{missing[0]}/train_gpt2.py); "
            "check out the repository again"
        )
    return {number: found[number] for number in RECORDS}


def _number(folder: Path) -> re.Match[str] | None:
    return _RECORD.fullmatch(folder.name)


def _hint_folders(checkout: Path) -> dict[int, Path]:
    """The folder of hints of each task."""
    files = sorted(checkout.rglob(f"record_*/{_HINTS['pseudocode']}"))
    found = {int(match[1]): path.parent for path in files if (match := _number(path.parent))}
    if not found:
        raise InteropError(
            f"{checkout}: holds no hints (record_K/{_HINTS['pseudocode']}); check out the repository again"
        )
    return found


def _hints(number: int, folders: Mapping[int, Path]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, pattern in _HINTS.items():
        paths = sorted(folders[number].glob(pattern)) if number in folders else []
        if not paths:
            raise InteropError(f"the hint record_{number}/{pattern} is missing; check out the repository again")
        texts[name] = read_text(paths[0])
    return texts


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
