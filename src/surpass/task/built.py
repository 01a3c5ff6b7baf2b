"""Suites whose packages are built from shared parts: a ladder's records serve as start here and as reference there.

Such a suite's folder holds `suite.py` with `build(out: Path)`, which writes one package folder a task. What it wrote
lies in the user's cache, under the hash of everything it was made from, so that it is made once and never stale. Only
suites that ship with surpass are built: their `suite.py` is as trusted as the rest of it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from surpass.task.digest import digest_of
from surpass.task.errors import TaskError

__all__ = ["BUILDER", "built", "user_suites"]

BUILDER = "suite.py"


def built(folder: Path) -> Path:
    """The folder of built packages of the suite in `folder`; built now when it is not there yet.

    Raises:
        TaskError: the cache cannot be written, or the suite cannot be built.
    """
    target = _cache() / "suites" / f"{folder.name}-{digest_of(folder)[:16]}"
    if target.is_dir():
        return target
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        _builder(folder / BUILDER)(part)
        _publish(part, target)
    except OSError as error:
        raise TaskError(
            f"{error.filename or target}: suite '{folder.name}' cannot be built there ({error.strerror}); "
            "set XDG_CACHE_HOME to a folder that can be written"
        ) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return target


def user_suites() -> Path:
    """Where suites lie that the user has imported."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "surpass" / "suites"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "surpass"


def _builder(path: Path) -> Callable[[Path], None]:
    spec = importlib.util.spec_from_file_location(f"surpass_suite_{path.parent.name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    build: Callable[[Path], None] = module.build
    return build


def _publish(part: Path, target: Path) -> None:
    try:
        part.rename(target)
    except OSError:
        if not target.is_dir():  # else another process was first, and equal parts make equal packages
            raise
