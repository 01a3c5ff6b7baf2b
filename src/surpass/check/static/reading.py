"""Read parts of a package for the static checks; what another check reports as missing is a skip here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from surpass.check._types import Skip
from surpass.task import Task, TaskError, package_files
from surpass.task.source import Source

__all__ = [
    "FORMATS",
    "PLACEHOLDER",
    "brief_of",
    "hint_files",
    "is_placeholder",
    "name_patterns",
    "numbers_in",
    "parse",
    "python_files",
    "shown_files",
    "source_of",
    "text_of",
    "words_of",
]

PLACEHOLDER = "REPLACE-ME"
"""What a scaffolded package holds where its author has to write."""

HINTS = ("method", "full")
FORMATS = ("pseudocode", "text", "paper")
"""What a training task offers instead."""
"""The files that the levels `method` and `full` add to the brief (docs/reference/task-package.md)."""


def brief_of(task: Task) -> str:
    """The brief; a skip when S01 reports it missing."""
    path = task.root / "brief.md"
    if not path.is_file():
        raise Skip("there is no brief.md (S01)")
    return text_of(path)


def source_of(task: Task) -> Source:
    """`source.toml`; a skip when S06 reports it broken."""
    try:
        return task.source
    except TaskError:
        raise Skip("source.toml cannot be read (S06)") from None


def parse(path: Path) -> ast.Module:
    """The syntax tree of a script; a skip when it is missing (S01) or does not parse (S12)."""
    if not path.is_file():
        raise Skip(f"there is no {path.name} (S01)")
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        raise Skip(f"{path.name} does not parse (S12)") from None


def python_files(root: Path, *folders: str) -> Iterator[Path]:
    """The scripts below some folders of the package, those of evil solutions left out: they may be anything."""
    for folder in folders:
        for path in package_files(root / folder):
            if path.suffix == ".py" and not any(part.startswith("evil-") for part in path.relative_to(root).parts):
                yield path


def hint_files(task: Task) -> list[Path]:
    """The hint files that exist."""
    return sorted((task.root / "hints").glob("*.md"))


def shown_files(task: Task) -> Iterator[tuple[str, str]]:
    """Name and text of all that an agent sees at the lowest hint level: title, brief, public files and their names."""
    yield "title", task.spec.title
    if (task.root / "brief.md").is_file():
        yield "brief.md", text_of(task.root / "brief.md")
    for path in package_files(task.public):
        name = path.relative_to(task.root).as_posix()
        yield name, f"{name}\n{text_of(path)}"


def text_of(path: Path) -> str:
    """A file as text; bytes that are not UTF-8 are kept as replacement characters, so that words still show."""
    return path.read_bytes().decode("utf-8", "replace")


def is_placeholder(text: str) -> bool:
    """Whether an author has still to replace it; S28 reports it, and nobody searches for it."""
    return PLACEHOLDER in text or not text.strip()


def words_of(text: str) -> list[str]:
    """Lower-case words, punctuation and line ends gone."""
    return re.findall(r"[a-z0-9]+", text.lower())


def name_patterns(tree: ast.AST) -> list[re.Pattern[str]]:
    """Every string that a script holds; an f-string matches whatever its fields might become."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    patterns = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+" for p in node.values]
            # A pattern of fields alone would match any name.
            if any(isinstance(p, ast.Constant) and str(p.value).strip("./_- ") for p in node.values):
                patterns.append("".join(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            patterns.append(re.escape(node.value))
    return [re.compile(pattern, re.DOTALL) for pattern in patterns]


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_SHARED = re.compile(
    r"\(?\s*(?P<value>\d+\.?\d*)\s*(?:\+-|\+/-|±)\s*\d+\.?\d*\s*\)?\s*(?:e|E|[x×]\s*10\^?)(?P<power>[-+]?\d+)"  # noqa: RUF001
)


def numbers_in(text: str) -> list[float]:
    """Every number in a text, the exponent that a value shares with its spread (`2.40 +- 0.53e-3`) applied."""
    shared = [float(match["value"]) * 10.0 ** int(match["power"]) for match in _SHARED.finditer(text)]
    return shared + [float(match) for match in _NUMBER.findall(text.replace("−", "-"))]  # noqa: RUF001
