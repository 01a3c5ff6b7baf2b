"""Write an imported ladder of records as a suite: per transition one task with hints and one without.

The reported clock means that the scripts time themselves on the user's GPUs; see docs/how-to/import-speedrun.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from surpass.interop.errors import InteropError
from surpass.interop.nanogpt_records import LOSS_SD, TARGET
from surpass.interop.package_texts import BRIEF, SOURCE, TASK
from surpass.task import Catalogue, TaskError, load

__all__ = ["VARIANTS", "Transition", "write_suite"]

VARIANTS = {"reproduce": "implement", "optimise": "optimise"}
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_GPUS = range(1, 9)
"""The records were made on 8; some scripts accept fewer."""
_SECONDS_ON_EIGHT = 3600
"""The benchmark's limit for one run on 8 GPUs."""


@dataclass(frozen=True, slots=True)
class Transition:
    """From record k to k + 1."""

    number: int
    start: str
    """Source of record k."""
    oracle: str
    """Source of record k + 1."""
    change: str
    """What the later record is known for; in the title of the variant with hints only."""
    origin: str
    """Where both sources come from, for `source.toml`."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """Text by the name of its format."""


def write_suite(
    name: str,
    prefix: str,
    transitions: Iterable[Transition],
    document: Mapping[str, Any],
    *,
    licence: str,
    gpus: int,
    target: Path,
    force: bool,
) -> None:
    """Write the packages and `import.json` (`document`) as the suite `name` in `target`, all or nothing.

    Task ids are `PREFIX-rKK-VARIANT`, so that they differ from those of the suites that ship with surpass.

    Raises:
        InteropError: a bad name or number of GPUs, a suite that is there already (without `force`), or packages that
            cannot be written or do not load.
    """
    _check(name, gpus, target, force)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for transition in transitions:
            for variant in VARIANTS:
                _package(part / f"{prefix}-r{transition.number:02d}-{variant}", transition, variant, licence, gpus)
        _write(part / "import.json", json.dumps(document, indent=2, allow_nan=False) + "\n")
        for folder in sorted(part.glob("*/task.toml")):
            _ = load(folder.parent).source
        _replace(part, target)
    except TaskError as error:
        raise InteropError(f"an imported package does not load; please report this: {error}") from None
    except OSError as error:
        raise InteropError(
            f"{error.filename or target}: the suite cannot be written there ({error.strerror}); "
            "set XDG_DATA_HOME to a folder that can be written"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _check(name: str, gpus: int, target: Path, force: bool) -> None:
    if not _NAME.fullmatch(name) or len(name) > 64:
        raise InteropError(f"'{name}' cannot name a suite; use lower-case words and digits, joined by hyphens")
    shipped = Catalogue.installed().suites
    if (shipped / name).exists() or (shipped / f"{name}.toml").exists():
        raise InteropError(f"'{name}' is a suite that ships with surpass and would hide yours; choose another --name")
    if gpus not in _GPUS:
        raise InteropError(f"{gpus} GPUs cannot be used; choose --gpus between {_GPUS[0]} and {_GPUS[-1]}")
    if target.exists() and not force:
        raise InteropError(f"{target}: the suite is there already; give --force to replace it, or another --name")


def _replace(part: Path, target: Path) -> None:
    """Put the finished suite in place; an old one goes away only after the new one is complete."""
    old = target.with_name(f".{target.name}.{os.getpid()}.old")
    if target.exists():
        target.rename(old)
    try:
        part.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _package(root: Path, transition: Transition, variant: str, licence: str, gpus: int) -> None:
    number = transition.number
    _write(root / "public" / "start" / "train_gpt2.py", transition.start)
    _write(root / "solutions" / "oracle" / "train_gpt2.py", transition.oracle)
    _write(root / "brief.md", Template(BRIEF).substitute(gpus=gpus, target=f"{TARGET:g}"))
    for name, text in transition.hints.items() if variant == "reproduce" else ():
        _write(root / "hints" / f"{name}.md", text)
    values = {"licence": licence, "origin": transition.origin}
    _write(root / "private" / "source.toml", _filled(SOURCE, **values))
    title = f"Record {number} -> {number + 1}: {transition.change}"
    if variant != "reproduce":
        title = f"From record {number}"
    numbers: dict[str, float] = {
        "gpus": gpus,
        "cpus": 8 * gpus,
        "run_seconds": _SECONDS_ON_EIGHT * 8 // gpus,
        "target": TARGET,
        "loss_sd": LOSS_SD,
    }
    names = {"id": root.name, "title": title[:120], "track": VARIANTS[variant]}
    _write(root / "task.toml", _filled(TASK, **names, requirements=_requirements(transition), **numbers))


def _requirements(transition: Transition) -> list[str]:
    """What the scripts import besides the standard library; the first record alone reads text."""
    return [name for name in ("numpy", "tiktoken", "torch") if name != "tiktoken" or name in transition.start]


def _filled(template: str, **values: str | float | list[str]) -> str:
    """The template with every value as TOML writes it, which for these is as JSON does."""
    return Template(template).substitute({key: json.dumps(value) for key, value in values.items()})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
