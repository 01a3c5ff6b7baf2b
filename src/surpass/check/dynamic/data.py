"""Does the generator keep its promise?"""

from __future__ import annotations

from pathlib import Path

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.dynamic.lab import Lab
from surpass.task import Tier

__all__ = ["generates_the_same_twice", "tiers_and_seeds_differ"]


def generates_the_same_twice(lab: Lab) -> Report:
    """D01: equal arguments give equal bytes, so that a verdict can be repeated elsewhere."""
    _need_generator(lab)
    first, second = (_content(lab.generate(Tier.FINAL, 1)) for _ in range(2))
    if not first:
        yield Problem("generate() writes no files")
    for name in sorted(first.keys() | second.keys()):
        if first.get(name) != second.get(name):
            yield Problem(f"{name} differs between two runs with the same tier, seed and settings")
    yield Remark(f"{len(first)} files, byte for byte")


def tiers_and_seeds_differ(lab: Lab) -> Report:
    """D02: another tier or seed gives other data, so that knowing one tells nothing of the other."""
    _need_generator(lab)
    final = _content(lab.generate(Tier.FINAL, 1))
    others = [(f"the {tier} tier", tier, 1) for tier in (Tier.DEV, Tier.FEEDBACK)] + [("another seed", Tier.FINAL, 2)]
    if lab.task.spec.fixed_data:
        yield from _fixed_data_differs(lab, final)
        return
    for label, tier, seed in others:
        other = _content(lab.generate(tier, seed))
        if other.keys() != final.keys():
            yield Problem(f"the files of {label} have other names", "write the same file names in every tier")
        elif other == final:
            yield Problem(f"{label} has the same data")
        elif same := _alike(final, other, "inputs/") or _alike(final, other, "truth/"):
            yield Problem(f"{label} has the same {same}")


def _fixed_data_differs(lab: Lab, final: dict[str, bytes]) -> Report:
    """Where the seed is said to change nothing: it does not, and the two hidden tiers are different data."""
    if _content(lab.generate(Tier.FINAL, 2)) != final:
        yield Problem("another seed gives other data, though fixed_data says that it does not")
    feedback = _content(lab.generate(Tier.FEEDBACK, 1))
    if _alike(final, feedback, "truth/"):
        yield Problem("the feedback tier has the same truth/")
    yield Remark("the same for every seed, as fixed_data says")


def _alike(one: dict[str, bytes], other: dict[str, bytes], prefix: str) -> str:
    """The prefix when all its files agree; settings that every tier shares may, so one difference suffices."""
    names = [name for name in one if name.startswith(prefix)]
    return prefix if names and all(one[name] == other[name] for name in names) else ""


def _need_generator(lab: Lab) -> None:
    if not (lab.task.private / "generate.py").is_file():
        raise Skip("the task generates no data")


def _content(folders: list[Path]) -> dict[str, bytes]:
    return {
        f"{folder.name}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
