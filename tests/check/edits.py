"""One change to a finished package each, made by a small function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Edit = Callable[[Path], None]


def swap(name: str, old: str, new: str) -> Edit:
    def edit(root: Path) -> None:
        text = (root / name).read_text("utf-8")
        assert old in text, f"{name} has changed: no {old!r}"
        (root / name).write_text(text.replace(old, new), "utf-8")

    return edit


def append(name: str, text: str) -> Edit:
    def edit(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((path.read_text("utf-8") if path.exists() else "") + text, "utf-8")

    return edit


def write(name: str, content: str | bytes) -> Edit:
    def edit(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return edit


def remove(name: str) -> Edit:
    def edit(root: Path) -> None:
        path = root / name
        if path.is_dir():
            for child in sorted(path.rglob("*"), reverse=True):
                child.rmdir() if child.is_dir() else child.unlink()
            path.rmdir()
        else:
            path.unlink()

    return edit


def together(*edits: Edit) -> Edit:
    def edit(root: Path) -> None:
        for one in edits:
            one(root)

    return edit
