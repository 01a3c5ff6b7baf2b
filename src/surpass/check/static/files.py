"""Which files a package holds, and of what kind."""

from __future__ import annotations

import stat
from pathlib import Path

from surpass.check._types import Problem, Remark, Report
from surpass.check.static.reading import FORMATS, HINTS, PLACEHOLDER, text_of
from surpass.task import SOLVER, Deliverable, Task, package_files

__all__ = [
    "has_hints",
    "has_no_pickles",
    "has_no_placeholders",
    "has_no_special_files",
    "has_required_files",
    "is_small",
    "oracle_is_complete",
    "start_is_runnable",
]

_FILE_BYTES = 16 << 20
_TOTAL_BYTES = 64 << 20
_PICKLED_SUFFIXES = {".pkl", ".pickle", ".pt", ".pth", ".joblib", ".dill", ".ckpt"}


def has_required_files(task: Task) -> Report:
    """S01: everything that docs/reference/task-package.md calls for."""
    trains = task.spec.deliverable is Deliverable.TRAINING
    needed = ["brief.md", "private/source.toml", *([] if trains else ["private/evaluator.py"])]
    if task.spec.submission.interactive or (trains and not task.times_itself):
        needed.append("private/driver.py")
    for name in needed:
        if not (task.root / name).is_file():
            yield Problem(f"{name} is missing")
    for folder in ("public/start", "solutions/oracle"):
        if not any(package_files(task.root / folder)):
            yield Problem(f"{folder}/ is missing or empty")
    has_data = (task.private / "generate.py").is_file() or (task.private / "truth").is_dir()
    if task.spec.submission.per_tier and not has_data:
        yield Problem("submission.per_tier asks for answers to data, but there is no private/generate.py")


def has_hints(task: Task) -> Report:
    """S08: each hint level adds something."""
    texts: dict[str, str] = {}
    trains = task.spec.deliverable is Deliverable.TRAINING
    if trains and not (task.root / "hints").is_dir():
        yield Remark("no hints: a task to be solved without them")
        return
    wanted = FORMATS if trains else HINTS
    for name in wanted:
        path = task.root / "hints" / f"{name}.md"
        if task.times_itself and not path.is_file():
            continue  # imported: the original has no other formats
        text = text_of(path).strip() if path.is_file() else ""
        if len(text) < 40:
            yield Problem(f"hints/{name}.md is {'too short to help' if text else 'missing or empty'}")
        elif text in texts.values():
            yield Problem(f"hints/{name}.md says the same as another hint")
        texts[name] = text


def has_no_special_files(task: Task) -> Report:
    """S19: regular files and folders only."""
    for path in sorted(task.root.rglob("*")):
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            what = "a symbolic link" if stat.S_ISLNK(mode) else "a special file"
            yield Problem(f"{path.relative_to(task.root).as_posix()} is {what}")


def has_no_pickles(task: Task) -> Report:
    """S20: nothing that runs code when it is read."""
    for path in package_files(task.root):
        if path.suffix in _PICKLED_SUFFIXES or _starts_like_a_pickle(path):
            yield Problem(f"{path.relative_to(task.root).as_posix()} is a pickle")


def _starts_like_a_pickle(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return True
    return head.startswith(b"\x93NUMPY") and b"|O" in head


def is_small(task: Task) -> Report:
    """S21: a package is copied, hashed and mounted for each trial."""
    total = 0
    for path in package_files(task.root):
        size = path.lstat().st_size
        total += size
        if size > _FILE_BYTES:
            yield Problem(f"{path.relative_to(task.root).as_posix()} has {size >> 20} MiB, at most {_FILE_BYTES >> 20}")
    if total > _TOTAL_BYTES:
        yield Problem(f"the package has {total >> 20} MiB, at most {_TOTAL_BYTES >> 20}")
    yield Remark(f"{total / 1024:.0f} KiB")


def has_no_placeholders(task: Task) -> Report:
    """S28: the scaffold's texts are gone."""
    for path in package_files(task.root):
        for number, line in enumerate(text_of(path).splitlines(), 1):
            if PLACEHOLDER in line:
                yield Problem(f"{path.relative_to(task.root).as_posix()}:{number} still says: {line.strip()[:80]}")


def oracle_is_complete(task: Task) -> Report:
    """S11: a reference solution that can be handed in, is not the start, and that no agent can read."""
    folder = task.root / "solutions" / "oracle"
    oracle = {path.relative_to(folder): path for path in package_files(folder)}
    if not oracle:
        yield Problem("solutions/oracle/ is missing or empty")
        return
    yield from _can_be_handed_in(task, folder, "solutions/oracle", task.start)
    start = {path.relative_to(task.start): path.read_bytes() for path in package_files(task.start)}
    if all(start.get(name) == path.read_bytes() for name, path in oracle.items()):
        yield Problem("solutions/oracle/ holds nothing that the start does not")
    public = {path.read_bytes(): path for path in package_files(task.public)}
    for name, path in oracle.items():
        twin = public.get(path.read_bytes())
        if twin is not None and start.get(name) != path.read_bytes():
            where = twin.relative_to(task.root).as_posix()
            yield Problem(f"{where} is the same file as solutions/oracle/{name.as_posix()}, and agents can read it")


def start_is_runnable(task: Task) -> Report:
    """S10: the start is a submission as it stands."""
    if not any(package_files(task.start)):
        yield Problem("public/start/ is missing or empty")
        return
    yield from _can_be_handed_in(task, task.start, "public/start")
    for part in task.spec.submission.command:
        inside = part.removeprefix("/task/")
        if part.startswith("/task/") and not (task.public / inside).is_file():
            yield Problem(f"submission.command uses {part}, but there is no public/{inside}")


def _can_be_handed_in(task: Task, folder: Path, name: str, below: Path | None = None) -> Report:
    """Either the declared files lie there (or in the start beneath), or `solve.py` writes them."""
    writes = task.spec.deliverable is Deliverable.OUTPUTS
    if writes and (folder / SOLVER).is_file():
        return
    for file in task.spec.submission.files:
        if not (folder / file).is_file() and not (below is not None and (below / file).is_file()):
            yield Problem(
                f"{name}/ has no {file}", f"add {file}" + (f" or a {SOLVER} that writes it" if writes else "")
            )
