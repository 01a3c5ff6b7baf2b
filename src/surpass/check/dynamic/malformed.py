"""Spoil the reference's own files, one at a time: malformed ones may not score, misaligned ones not as well."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.dynamic.lab import Bench, Lab, explained
from surpass.check.dynamic.mutate import Variant, malformed, permuted
from surpass.score import InstanceScore
from surpass.task import Deliverable, Tier
from surpass.verdict import Outcome, Verdict

__all__ = ["malformed_outputs_never_score", "misaligned_outputs_score_worse"]

_FILES = 6
_LEAST = 8
_READ_AT_ALL = "missing"
"""The variant that shows whether the evaluator reads a file."""


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The reference's answers, ready to be spoiled and handed in again."""

    lab: Lab
    bench: Bench
    folder: Path
    """A submission that holds the answers."""
    answers: str
    """Where in it they lie."""
    good: Verdict

    def files(self) -> list[str]:
        """Names of the answers, those that must exist first."""
        root = self.folder / self.answers
        names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
        return sorted(names, key=lambda name: (not self.is_declared(name), name))[:_FILES]

    def is_declared(self, name: str) -> bool:
        """Whether task.toml says that this answer must exist."""
        return f"{self.answers}/{name}" in self.lab.task.spec.submission.files

    def path(self, name: str) -> Path:
        """The good file."""
        return self.folder / self.answers / name

    def judged(self, name: str, variant: Variant) -> Verdict:
        """The verdict when this one file is spoiled."""
        copy = self.lab.fresh("spoiled")
        shutil.copytree(self.folder, copy)
        try:
            variant.apply(copy / self.answers / name)
            return self.lab.hand_in(copy, self.bench)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def changed(self, verdict: Verdict) -> Iterator[tuple[InstanceScore, InstanceScore]]:
        """Each instance that the spoiling touched: as it was, as it is now."""
        if verdict.scorecard is None or self.good.scorecard is None:
            return
        for before, after in zip(self.good.scorecard.instances, verdict.scorecard.instances, strict=True):
            if after.failed != before.failed or after.value != before.value:
                yield before, after


def _sheet(lab: Lab) -> _Sheet:
    if lab.task.spec.submission.interactive:
        raise Skip("the task's driver, not the submission, writes what is evaluated")
    oracle = lab.oracle()
    if lab.task.spec.deliverable is Deliverable.OUTPUTS:
        answers = f"outputs/{Tier.FINAL}" if lab.task.spec.submission.per_tier else "outputs"
        return _Sheet(lab, lab.bench(), oracle.sealed, answers, oracle.verdict)
    folder = lab.fresh("written")
    shutil.copytree(lab.outputs_of(oracle), folder / "outputs")
    bench = lab.outputs_bench()
    good = lab.hand_in(folder, bench)
    if good.outcome is not Outcome.DONE:
        raise Skip(f"what the oracle's program wrote has no score: {explained(good)}")
    return _Sheet(lab, bench, folder, "outputs", good)


def malformed_outputs_never_score(lab: Lab) -> Report:
    """D07: every spoiled file fails the instances that depend on it, with a code."""
    lab.need_outputs()
    sheet = _sheet(lab)
    tried = 0
    for number, name in enumerate(sheet.files()):
        for variant in malformed(sheet.path(name), huge=number == 0):
            verdict = sheet.judged(name, variant)
            touched = verdict.outcome is not Outcome.DONE or any(sheet.changed(verdict))
            if not touched and variant.name == _READ_AT_ALL and not sheet.is_declared(name):
                break  # a by-product that nobody reads
            tried += 1
            yield from _wrongly_scored(sheet, name, variant, verdict, touched)
    if tried < _LEAST:
        yield Problem(
            f"only {tried} malformed variants could be made: the oracle writes no file that is read",
            "let the oracle write the files that the evaluator reads",
        )
    yield Remark(f"{tried} variants")


def _wrongly_scored(sheet: _Sheet, name: str, variant: Variant, verdict: Verdict, touched: bool) -> Report:
    what = f"{name}, {variant.name}"
    if verdict.code.startswith("evaluator-"):
        yield Problem(
            f"{what}: {explained(verdict)} instead of a code of its own",
            "read the file with surpass.guard, which raises Malformed, and validate what it holds",
        )
    if not touched:
        yield Problem(f"{what}: scores as if nothing were wrong")
    for before, after in sheet.changed(verdict):
        worse = after.failed or (variant.may_be_valid and _recovery(after) < _recovery(before))
        if not worse:
            yield Problem(f"{what}: '{after.name}' still scores {_recovery(after):.3f}")


def misaligned_outputs_score_worse(lab: Lab) -> Report:
    """D08: the same answers in another order. They are well-formed, so they may score, but strictly worse."""
    lab.need_outputs()
    sheet = _sheet(lab)
    tried = 0
    for name in sheet.files():
        variant = permuted(sheet.path(name))
        if variant is None:
            continue
        verdict = sheet.judged(name, variant)
        missing = sheet.judged(name, Variant(_READ_AT_ALL, Path.unlink))
        if missing.outcome is Outcome.DONE and not any(sheet.changed(missing)):
            continue  # nobody reads it
        tried += 1
        changed = list(sheet.changed(verdict))
        if verdict.outcome is Outcome.DONE and not changed:
            yield Problem(f"{name}, {variant.name}: scores the same")
        for before, after in changed:
            if not after.failed and _recovery(after) >= _recovery(before):
                yield Problem(f"{name}, {variant.name}: '{after.name}' scores {_recovery(after):.3f}, no worse")
    if not tried:
        raise Skip("no answer has two different rows to exchange")
    yield Remark(f"{tried} files")


def _recovery(score: InstanceScore) -> float:
    return score.bounded if score.recovery is None else score.recovery
