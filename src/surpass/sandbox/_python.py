"""Which parts of this Python installation a sandbox sees, and what in it is hidden."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PythonView", "interpreter", "python_view"]

# What an installation consists of. A prefix with anything else in it (a virtual environment made right in a
# project's directory) is not shown whole.
_PARTS = ("bin", "lib", "lib32", "lib64", "libexec", "include", "pyvenv.cfg")
_HARMLESS = frozenset({*_PARTS, "share", "man", "doc", "conda-meta", "ssl", ".gitignore", ".lock", "CACHEDIR.TAG"})
# `surpass` itself: the package, its metadata, and what an editable installation leaves (`_editable_impl_...`).
_OURS = re.compile(r"(^|[_.\-])surpass($|[_.\-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PythonView:
    """Host paths shown at the same path inside, links made inside, and paths covered by nothing."""

    binds: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """Pairs of link and target."""
    masked_dirs: tuple[str, ...]
    masked_files: tuple[str, ...]


def interpreter() -> str:
    """The Python of the harness's own environment, by the path that selects that environment."""
    in_environment = Path(sys.prefix) / "bin" / "python"
    return str(in_environment) if in_environment.exists() else sys.executable


def python_view() -> PythonView:
    """What to show of the installation that runs the harness."""
    roots: list[Path] = []
    for prefix in (sys.base_prefix, sys.base_exec_prefix, sys.prefix):
        for root in (Path(prefix), Path(prefix).resolve()):
            if not _inside(root, [Path("/usr"), *roots]):
                roots.append(root)
    binds: list[str] = []
    links: list[tuple[str, str]] = []
    for root in roots:
        if {entry.name for entry in root.iterdir()} <= _HARMLESS:
            binds.append(str(root))
            continue
        for part in filter(os.path.lexists, (root / name for name in _PARTS)):
            if part.is_symlink():
                links.append((str(part), str(part.readlink())))
            else:
                binds.append(str(part))
    for hop in _interpreter_links():
        if not _inside(hop, [Path("/usr"), *roots]):
            links.append((str(hop), str(hop.readlink())))
    masks = set(_masks([Path("/usr"), Path("/usr/local"), *roots]))
    dirs = sorted(str(path) for path in masks if path.is_dir())
    files = sorted(str(path) for path in masks if not path.is_dir())
    return PythonView(tuple(binds), tuple(links), tuple(dirs), tuple(files))


def _inside(path: Path, roots: list[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _interpreter_links() -> Iterator[Path]:
    """Every link between the environment's interpreter and the real one."""
    current = Path(interpreter())
    for _ in range(40):  # the kernel gives up after as many
        if not current.is_symlink():
            return
        yield current
        current = Path(os.path.normpath(current.parent / current.readlink()))


def _masks(roots: list[Path]) -> Iterator[Path]:
    """Everything of `surpass` that would otherwise be visible: hidden truth and reference solutions lie in it."""
    for root in roots:
        for kind in ("site-packages", "dist-packages"):
            for site in root.glob(f"lib*/python*/{kind}"):
                yield from (entry for entry in site.resolve().iterdir() if _OURS.search(entry.name))
    package = Path(__file__).resolve().parent.parent
    if _inside(package, [root.resolve() for root in roots]):
        yield package
