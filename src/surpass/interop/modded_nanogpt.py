"""Import the records of modded-nanogpt, which hold their scripts in their logs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from surpass.interop.errors import InteropError
from surpass.interop.nanogpt_records import LICENCE, RECORDS, TARGET, TRANSITIONS, Record
from surpass.interop.packages import VARIANTS, Transition, write_suite
from surpass.interop.reading import is_python, read_script, read_text
from surpass.interop.training_log import LoggedScript, TrainingLog, read_log, read_source
from surpass.task.built import user_suites

__all__ = ["Found", "Imported", "import_modded_nanogpt"]

_NO_SOURCE = frozenset({1, 2, 3})
"""The repository holds no script of these: two logs are older than the habit, and the third record has no folder."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the checkout, or the user, has of one record."""

    record: Record
    folder: str = ""
    """Relative to the checkout; empty when there is none."""
    source: str = ""
    """The script; empty when there is none."""
    origin: str = ""
    """Where the script comes from."""
    chosen: TrainingLog | None = None
    """The run of median time."""
    runs: tuple[TrainingLog, ...] = ()
    """All runs of the same script."""
    other_logs: int = 0
    """Logs of other scripts in the folder: ablations, and logs of other records for comparison."""

    @property
    def document(self) -> dict[str, Any]:
        """For `import.json`. Times in seconds, losses in nats a token; sd is None for fewer than two runs."""
        seconds = [run.seconds for run in self.runs]
        losses = [run.loss for run in self.runs]
        return {
            "record": self.record.number,
            "date": self.record.date,
            "published_minutes": self.record.minutes,
            "folder": self.folder,
            "source": self.origin,
            "log": self.chosen.script.path.name if self.chosen else None,
            "log_sha256": self.chosen.script.sha256 if self.chosen else None,
            "seconds": self.chosen.seconds if self.chosen else None,
            "val_loss": self.chosen.loss if self.chosen else None,
            "steps": self.chosen.steps if self.chosen else None,
            "logs": len(self.runs),
            "other_logs": self.other_logs,
            "seconds_mean": fmean(seconds) if seconds else None,
            "seconds_sd": stdev(seconds) if len(seconds) > 1 else None,
            "val_loss_mean": fmean(losses) if losses else None,
            "val_loss_sd": stdev(losses) if len(losses) > 1 else None,
            "reached_target": sum(loss <= TARGET for loss in losses),
        }


@dataclass(frozen=True, slots=True)
class Imported:
    """A suite that was written."""

    name: str
    folder: Path
    tasks: int
    document: Mapping[str, Any]
    """What `import.json` says."""


def import_modded_nanogpt(
    checkout: Path,
    *,
    name: str = "modded-nanogpt",
    gpus: int = 8,
    scripts: Mapping[int, Path] | None = None,
    force: bool = False,
) -> Imported:
    """Write the transitions of the published benchmark as a suite of the user's.

    Args:
        checkout: a clone of the repository.
        gpus: on how many GPUs the user will run the scripts.
        scripts: the script of a record, by its number, instead of what the checkout has.

    Raises:
        InteropError: the checkout is none, a log is damaged, or the suite is there already.
    """
    given = dict(scripts or {})
    if unknown := sorted(set(given) - set(RECORDS)):
        raise InteropError(f"there is no record {unknown[0]} in the benchmark; --script takes 1 to {max(RECORDS)}")
    folders = _folders(checkout)
    found = {number: _find(record, checkout, folders, given.get(number)) for number, record in RECORDS.items()}
    transitions, left_out = _transitions(checkout, found)
    document = {
        "suite": name,
        "from": "modded-nanogpt",
        "licence": LICENCE,
        "target": TARGET,
        "gpus": gpus,
        "chosen": "of all runs of a record's script, the one of median train_time (the faster of two in the middle)",
        "records": [each.document for each in found.values()],
        "transitions": [transition.number for transition in transitions],
        "left_out": left_out,
    }
    target = user_suites() / name
    write_suite(name, "nanogpt", transitions, document, licence=LICENCE, gpus=gpus, target=target, force=force)
    return Imported(name, target, len(transitions) * len(VARIANTS), document)


def _folders(checkout: Path) -> list[Path]:
    """The folders of all records."""
    root = checkout / "records"
    # Until tracks were told apart, records lay directly in `records`.
    for parent in (root / "track_1_short", root):
        folders = sorted(path for path in parent.glob("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]_*") if path.is_dir())
        if folders:
            return folders
    raise InteropError(
        f"{checkout}: is no checkout of modded-nanogpt, for it lacks records/track_1_short/<date>_<Name>; "
        "clone the repository and give the clone's folder"
    )


def _find(record: Record, checkout: Path, folders: list[Path], given: Path | None) -> Found:
    folder = _folder(record, folders)
    if folder is None:
        if given is None and record.number not in _NO_SOURCE:
            raise InteropError(
                f"{checkout}: the folder <date>_{record.folder} of record {record.number} is missing; "
                f"update the clone, or give the script with --script {record.number}=PATH"
            )
        return _from_user(record, "", given)
    where = folder.relative_to(checkout).as_posix()
    if given is not None:
        return _from_user(record, where, given)
    logs = [read_source(path) for path in sorted(folder.rglob("*")) if path.suffix in (".txt", ".log")]
    with_source = [log for log in logs if log.source]
    if with_source:
        return _from_logs(record, where, with_source)
    return _from_script(record, folder, where)


def _from_user(record: Record, where: str, given: Path | None) -> Found:
    if given is None:
        return Found(record)
    source = read_script(given)
    return Found(record, where, source, f"given by the user, SHA-256 {hashlib.sha256(source.encode()).hexdigest()}")


def _folder(record: Record, folders: list[Path]) -> Path | None:
    """The folder whose name ends in the record's keyword; of several the one closest in date."""
    named = [path for path in folders if record.folder and path.name.partition("_")[2] == record.folder]
    return min(named, key=lambda path: _days_apart(path.name[:10], record.date), default=None)


def _days_apart(one: str, other: str) -> int:
    try:
        return abs((date.fromisoformat(one) - date.fromisoformat(other)).days)
    except ValueError:  # a folder's date need not exist
        return 1 << 30


def _from_logs(record: Record, where: str, logs: list[LoggedScript]) -> Found:
    """Folders also hold ablations, so only logs of one and the same script are runs of the record."""
    groups: dict[str, list[LoggedScript]] = {}
    for log in logs:
        groups.setdefault(log.source, []).append(log)
    linked = [log for log in logs if record.log and log.path.name.startswith(record.log)]
    of_record = groups[linked[0].source] if linked else max(groups.values(), key=len)
    runs = sorted(map(read_log, of_record), key=lambda run: (run.seconds, run.script.path.name))
    chosen = runs[(len(runs) - 1) // 2]
    origin = f"{where}/{chosen.script.path.name}"
    return Found(record, where, chosen.script.source, origin, chosen, tuple(runs), len(logs) - len(runs))


def _from_script(record: Record, folder: Path, where: str) -> Found:
    scripts = [path for path in sorted(folder.glob("train*.py")) if is_python(read_text(path))]
    if scripts:
        return Found(record, where, read_script(scripts[0]), f"{where}/{scripts[0].name}")
    if record.number not in _NO_SOURCE:
        raise InteropError(
            f"{folder}: no log holds the source of record {record.number}; update the clone, "
            f"or give the script with --script {record.number}=PATH"
        )
    return Found(record, where)


def _transitions(checkout: Path, found: Mapping[int, Found]) -> tuple[list[Transition], list[dict[str, Any]]]:
    made: list[Transition] = []
    left_out: list[dict[str, Any]] = []
    for number in TRANSITIONS:
        before, after = found[number], found[number + 1]
        missing = [each.record.number for each in (before, after) if not each.source]
        if missing:
            left_out.append({"transition": number, "why": _why(number, missing)})
            continue
        origin = f"1 by definition; start from {before.origin}, reference from {after.origin}"
        hints = _hints(checkout, after)
        made.append(Transition(number, before.source, after.source, after.record.change, origin, hints))
    return made, left_out


def _why(number: int, missing: list[int]) -> str:
    records = " and ".join(map(str, missing))
    options = " ".join(f"--script {record}=PATH" for record in missing)
    word, them = ("record", "it") if len(missing) == 1 else ("records", "them")
    return f"{number} -> {number + 1}: the checkout holds no script of {word} {records}; give {them} with {options}"


def _hints(checkout: Path, after: Found) -> dict[str, str]:
    """The headline in our words, and what the record's authors wrote, where they did."""
    hints = {"text": f"The next record is known for this: {after.record.change}.\n"}
    readme = checkout / after.folder / "README.md"
    if after.folder and readme.is_file():
        hints["paper"] = read_text(readme)
    return hints
