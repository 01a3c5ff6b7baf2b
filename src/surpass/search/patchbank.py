"""A proposer without a model: the ladder's own changes, whole, in part, or damaged.

It lets every search be exercised for real, on real trainings, at no cost in tokens. It knows the references, so its
scores say something about searches and nothing about agents.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from surpass.search.proposer import NoProposal, Proposal, Request
from surpass.search.tree import Kind
from surpass.task import Rung, Task, rung_of

__all__ = ["PatchBank", "PatchError"]

_WHOLE, _PART = 0.35, 0.7
"""Bounds of the draw: below the first the whole change, below the second a part of it, above it a damaged one."""
_RECORDS = 6
"""Most records beyond the start."""


class PatchError(Exception):
    """The task is no rung of a ladder."""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """A stretch of lines that is the same in two neighbouring records, or differs."""

    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class _Standing:
    """Where a version stands: on the way from record `record` to the next, with these hunks applied."""

    record: int
    applied: frozenset[int]


class PatchBank:
    """Applies the changes that lead from each record to the next."""

    def __init__(self, task: Task) -> None:
        self._file, records = _records(task)
        self._steps = [_hunks(old, new) for old, new in pairwise(records)]
        self._evidence = {step.id: step.evidence for step in task.spec.step}

    async def propose(self, request: Request) -> Proposal:
        """The next change to the parent, drawn by the request's seed.

        A repair goes back to the version before the damage and puts the change in whole. A transfer takes over what the
        other node has. A step of the checklist is the hunks in which its evidence shows; each further try takes more
        of the change with it.
        """
        rng = Random(request.seed)
        if request.expansion.kind is Kind.TRANSFER:
            return await self._transferred(request)
        text = await self._parent(request)
        standing = self._standing(text)
        if standing is None:
            raise NoProposal(f"{self._file} is no mixture of two neighbouring records")
        hunks = self._steps[standing.record]
        missing = [n for n, hunk in enumerate(hunks) if hunk.differs and n not in standing.applied]
        if request.expansion.kind is Kind.STEP:
            return self._proposal(standing, self._of_step(request, hunks, missing), None)
        draw = 0.0 if request.expansion.kind is Kind.DEBUG else rng.random()
        if draw < _WHOLE or (draw < _PART and len(missing) < 2):
            chosen, damaged = missing, False
        elif draw < _PART:
            chosen, damaged = sorted(rng.sample(missing, rng.randrange(1, len(missing)))), False
        else:
            chosen, damaged = missing, True
        return self._proposal(standing, chosen, rng if damaged else None)

    def _of_step(self, request: Request, hunks: Sequence[_Hunk], missing: Sequence[int]) -> list[int]:
        step, siblings = request.expansion.step, request.tree.children(request.expansion.parent)
        evidence = self._evidence.get(step, "")
        shown = [n for n in missing if evidence and re.search(evidence, "".join(hunks[n].new), re.MULTILINE)]
        if not shown:
            raise NoProposal(f"the change has no part that shows '{step}'")
        tried = sum(request.tree.nodes[child].step == step for child in siblings)
        return shown if tried == 0 else [n for n in missing if tried > 1 or n <= shown[-1]]

    def _proposal(self, standing: _Standing, chosen: Sequence[int], damage: Random | None) -> Proposal:
        hunks = self._steps[standing.record]
        lines = _mixture(hunks, standing.applied | set(chosen))
        all_of_it = len(standing.applied) + len(chosen) == sum(hunk.differs for hunk in hunks)
        what = f"all of record {standing.record + 1}" if all_of_it else f"hunks {', '.join(map(str, chosen))}"
        change = f"{what} beyond the start's record {standing.record}"
        if damage is not None:
            lines, lost = _damaged(lines, damage)
            change += f", line {lost} lost"
        return Proposal({self._file: "".join(lines)}, change, "a change of the ladder's own")

    async def _parent(self, request: Request) -> str:
        """The parent's text; of a version that did not score, the nearest one above it that did."""
        if request.expansion.kind is not Kind.DEBUG:
            return (await request.bench.read(self._file)).decode()
        line = request.tree.lineage(request.expansion.parent)
        scored = next(node for node in reversed(line) if node.score is not None)
        await request.bench.restore(scored.attempt)
        return (await request.bench.read(self._file)).decode()

    async def _transferred(self, request: Request) -> Proposal:
        assert request.expansion.borrow is not None
        borrowed = request.tree.nodes[request.expansion.borrow]
        await request.bench.restore(borrowed.attempt)
        text = (await request.bench.read(self._file)).decode()
        return Proposal({self._file: text}, f"as node {borrowed.id}: {borrowed.change}")

    def _standing(self, text: str) -> _Standing | None:
        """Find the two records that a text mixes, the latest that fit."""
        lines = tuple(text.splitlines(keepends=True))
        for record in reversed(range(len(self._steps))):
            applied = _applied(self._steps[record], lines)
            if applied is not None and len(applied) < sum(hunk.differs for hunk in self._steps[record]):
                return _Standing(record, applied)
        return None


def _records(task: Task) -> tuple[str, list[str]]:
    """The file that the ladder changes, and its text in the task's record and those after it."""
    rung = rung_of(task.id)
    if rung is None or task.spec.training is None:
        raise PatchError(f"the patchbank knows only ladders of trainings; {task.name} is no rung of one")
    file = task.spec.training.script
    texts = [(task.start / file).read_text("utf-8"), (task.solution("oracle") / file).read_text("utf-8")]
    while len(texts) <= _RECORDS:
        record = Rung(rung.number + len(texts) - 1, rung.variant)
        folder = next((each for each in sorted(task.root.parent.iterdir()) if rung_of(each.name) == record), None)
        if folder is None:
            break
        texts.append((folder / "solutions" / "oracle" / file).read_text("utf-8"))
    return file, texts


def _hunks(old: str, new: str) -> list[_Hunk]:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    return [_Hunk(tuple(before[a:b]), tuple(after[c:d])) for _, a, b, c, d in matcher.get_opcodes()]


def _mixture(hunks: Sequence[_Hunk], applied: frozenset[int] | set[int]) -> list[str]:
    return [line for number, hunk in enumerate(hunks) for line in (hunk.new if number in applied else hunk.old)]


def _applied(hunks: Sequence[_Hunk], lines: tuple[str, ...]) -> frozenset[int] | None:
    """Which hunks a text has in their new form; None when it is no mixture."""
    places: dict[int, frozenset[int]] = {0: frozenset()}
    for number, hunk in enumerate(hunks):
        after: dict[int, frozenset[int]] = {}
        for place, chosen in places.items():
            for form, with_it in ((hunk.old, chosen), (hunk.new, chosen | {number} if hunk.differs else chosen)):
                if lines[place : place + len(form)] == form:
                    after.setdefault(place + len(form), with_it)
        places = after
    return places.get(len(lines))


def _damaged(lines: list[str], rng: Random) -> tuple[list[str], int]:
    """Without one of its indented lines of code."""
    code = [n for n, line in enumerate(lines) if line.startswith("    ") and line.strip() and "#" not in line]
    lost = rng.choice(code)
    return lines[:lost] + lines[lost + 1 :], lost + 1
