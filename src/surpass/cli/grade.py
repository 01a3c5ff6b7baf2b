"""`surpass grade`: one folder, judged without a trial."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surpass.cli._exit import ExitCode
from surpass.cli._options import Json, Profile, TaskFolders, Unsafe, catalogue
from surpass.cli._output import console, emit_json, notes, visible

if TYPE_CHECKING:
    from surpass.task import Task, Tier
    from surpass.verdict import Verdict

__all__ = ["grade"]

_RECORDS = ("verdict.json", "feedback.json")


def grade(
    task: Annotated[str, typer.Argument(help="A task's id, suite/id, or folder.")],
    directory: Annotated[Path, typer.Argument(help="A submission, or a sealed trial or attempt of an experiment.")],
    tier: Annotated[str, typer.Option("--tier", help="dev, feedback or final.")] = "final",
    seed: Annotated[int | None, typer.Option("--seed", help="Repeat a grading exactly.", show_default="random")] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Score a sealed folder's recorded metrics instead; runs nothing.")
    ] = False,
    profile: Profile = "",
    tasks: TaskFolders = None,
    unsafe: Unsafe = False,
    json: Json = False,
) -> None:
    """Judge a folder on fresh hidden data. Of a sealed trial or attempt, the submission is run again."""
    from surpass.task import UnknownNameError

    found = catalogue(tasks).task(task, profile=profile)
    if not directory.is_dir():
        raise UnknownNameError("folder", str(directory), [])
    directory = directory.resolve()
    if recorded:
        verdict = _rescored(found, directory)
    else:
        found.require_complete()
        verdict = _judged(found, _submission_of(directory), _tier(tier), seed, unsafe)
    document = _document(found, verdict) | {"recorded": recorded}
    if json:
        emit_json(document)
    else:
        _print(document)
    if verdict.scorecard is None:
        raise typer.Exit(ExitCode.INFRASTRUCTURE if verdict.outcome == "infra_error" else ExitCode.NOT_PASSED)


def _tier(name: str) -> Tier:
    from surpass.task import Tier, UnknownNameError

    if name not in list(Tier):
        raise UnknownNameError("tier", name, list(Tier))
    return Tier(name)


def _judged(task: Task, directory: Path, tier: Tier, seed: int | None, unsafe: bool) -> Verdict:
    """Judge in a scratch directory, which goes away."""
    import hashlib
    import secrets
    import tempfile

    from surpass.guard.removal import remove_tree
    from surpass.sandbox import open_sandbox, require_safe
    from surpass.task import Tier
    from surpass.verdict import Judge, hidden_seed, judge_solution

    sandbox = open_sandbox(unsafe=unsafe)
    if not unsafe:
        require_safe(sandbox)
    secret = secrets.token_bytes(32) if seed is None else hashlib.sha256(f"surpass:{seed}".encode()).digest()
    hidden = {each: hidden_seed(secret, task, each, seed or 0) for each in Tier}
    place = Path(tempfile.mkdtemp(prefix="surpass-grade-"))
    try:
        with Judge(task, sandbox, place=place / "judged", data=place / "data", hidden=hidden) as judge:
            return judge_solution(judge, directory, place / "judged" / "1", sandbox, tier)
    finally:
        remove_tree(place)


def _submission_of(directory: Path) -> Path:
    """The sealed submission that a trial's or attempt's record speaks of; any other folder is a submission itself.

    The record only says which folder it is: whatever it claims beyond that is not believed, the folder is run.
    """
    import json as json_module

    for record in (directory / name for name in _RECORDS):
        if record.is_file():
            try:
                digest = json_module.loads(record.read_text("utf-8"))["submission"]
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            return _sealed_with(directory, digest) or directory
    return directory


def _sealed_with(directory: Path, digest: str) -> Path | None:
    from surpass.verdict import digest_folder

    folders = [directory / "submission", *sorted(directory.glob("attempts/*/submission"))]
    return next((folder for folder in folders if folder.is_dir() and digest_folder(folder) == digest), None)


def _rescored(task: Task, directory: Path) -> Verdict:
    """Score recorded metrics again, after checking that the sealed submission is the one they belong to."""
    import json as json_module
    from dataclasses import replace

    from surpass.trial import ExperimentError, StorageError
    from surpass.verdict import Verdict, scorecard_of

    record = next((directory / name for name in _RECORDS if (directory / name).is_file()), None)
    if record is None:
        raise ExperimentError(f"{directory} is no sealed trial or attempt; leave --recorded out to judge it")
    try:
        verdict = Verdict.from_dict(json_module.loads(record.read_text("utf-8")))
        card = scorecard_of(task.spec, verdict.metrics) if verdict.scorecard else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise StorageError(f"{record} is damaged; restore it from a copy of the experiment") from None
    if (verdict.task, verdict.task_digest) != (task.name, task.digest):
        raise ExperimentError(
            f"{record} belongs to {verdict.task} ({verdict.task_digest[:12]}), not to {task.name} "
            f"({task.digest[:12]}); name that task and profile"
        )
    if _sealed_with(directory, verdict.submission) is None:
        raise StorageError(f"{directory} holds no submission with the recorded hash; it was changed after sealing")
    return replace(verdict, scorecard=card)


def _document(task: Task, verdict: Verdict) -> dict[str, Any]:
    from surpass.score import combine

    card = verdict.scorecard
    estimate = combine([card], task.spec.claims.tie_band)
    return {
        "task": task.name,
        "tier": verdict.tier.value,
        "outcome": verdict.outcome.value,
        "code": verdict.code,
        "detail": verdict.detail,
        "recovery": estimate.recovery if card else None,
        "low": estimate.interval.low if card else None,
        "high": estimate.interval.high if card else None,
        "g": card.g if card else None,
        "claim": estimate.claim.value,
        "instances": [
            {
                "name": score.name,
                "value": score.value,
                "recovery": score.recovery,
                "g": score.g,
                "code": verdict.failures.get(score.name, ""),
            }
            for score in (card.instances if card else ())
        ],
        "failures": verdict.failures,
        "submission": verdict.submission,
        "seconds": verdict.timings.run_s,
        "sandbox": verdict.sandbox,
    }


def _print(document: dict[str, Any]) -> None:
    from rich.table import Table

    if document["recorded"]:
        notes.print("recorded numbers, not run again")
    if document["recovery"] is None:
        console.print(f"{document['task']}: {document['outcome']}, {document['code']}", markup=False)
        console.print(visible(document["detail"]), markup=False)
        return
    console.print(
        f"{document['task']} ({document['tier']}): recovery {document['recovery']:.3f} "
        f"in {document['low']:.3f} to {document['high']:.3f}, {document['claim']}"
    )
    table = Table("instance", "value", "recovery", "g", "", box=None, header_style="bold")
    for row in document["instances"]:
        cells = (f"{row[key]:.6g}" if row[key] is not None else "-" for key in ("value", "recovery", "g"))
        table.add_row(row["name"], *cells, row["code"])
    console.print(table)
