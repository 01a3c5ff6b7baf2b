"""Spoil the reference's program: none of the results may score."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from surpass.check._types import Problem, Remark, Report, Skip
from surpass.check.dynamic.lab import Lab
from surpass.task import Deliverable
from surpass.verdict import Outcome

__all__ = ["broken_programs_never_score"]

Change = Callable[[Path], None]


def broken_programs_never_score(lab: Lab) -> Report:
    """D09: a program that is missing, broken, silent, endless or answers in the wrong type has no score."""
    if lab.task.spec.deliverable is not Deliverable.PROGRAM:
        raise Skip("the submission is no program")
    oracle = lab.oracle()
    bench = lab.hurried_bench()
    tried = 0
    for name in lab.task.spec.submission.files:
        for what, change in _changes(oracle.sealed / name):
            copy = lab.fresh("broken")
            shutil.copytree(oracle.sealed, copy)
            change(copy / name)
            verdict = lab.hand_in(copy, bench)
            shutil.rmtree(copy, ignore_errors=True)
            tried += 1
            if verdict.outcome is Outcome.DONE:
                score = verdict.scorecard.headline if verdict.scorecard else 0.0
                yield Problem(f"{name}, {what}: scores {score:.3f}")
            elif verdict.code.startswith("evaluator-"):
                yield Problem(f"{name}, {what}: stops the evaluator instead of failing by itself ({verdict.code})")
    if not tried:
        yield Problem(
            "submission.files names no file, so that nothing says what a program consists of",
            "list the program's files in submission.files",
        )
    yield Remark(f"{tried} variants")


def _changes(path: Path) -> Iterator[tuple[str, Change]]:
    yield "missing", Path.unlink
    yield "empty", lambda p: _write(p, "")
    if path.suffix != ".py":
        yield "garbage", lambda p: _write(p, "\x01\x02 not a program\n")
        return
    source = path.read_text("utf-8")
    yield "a syntax error", lambda p: _write(p, source + "\ndef (:\n")
    yield "exits at once", lambda p: _write(p, "import os\nos._exit(0)\n")
    yield "raises at once", lambda p: _write(p, "raise RuntimeError('broken')\n")
    yield "prints without end", lambda p: _write(p, "while True:\n    print('x' * 4096, flush=True)\n")
    yield "loops without end", lambda p: _write(p, "while True:\n    pass\n")
    for what, value in (("text", "'text'"), ("None", "None"), ("NaN", "float('nan')")):
        spoiled = _returning(source, value)
        yield f"returns {what}", lambda p, spoiled=spoiled: _write(p, spoiled)  # type: ignore[misc]


def _returning(source: str, value: str) -> str:
    """The source with every `return x` changed to return one wrong value."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Return):
            node.value = ast.parse(value, mode="eval").body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")
