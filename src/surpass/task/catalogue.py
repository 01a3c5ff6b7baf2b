"""Find tasks: the suites installed with the package, and folders that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from surpass.task.built import BUILDER, built, user_suites
from surpass.task.errors import TaskError, UnknownNameError
from surpass.task.load import Task, load, read_document

__all__ = ["Catalogue", "Selection"]


class Selection(BaseModel):
    """`<name>.toml` in the suites folder: a suite made of other suites' tasks at one profile."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    tasks: tuple[str, ...]
    profile: str = ""


@dataclass(frozen=True)
class Catalogue:
    """The tasks that can be named.

    `suites` holds one folder a suite, of packages or of parts that they are built from; `imported` holds suites that
    the user has imported; `extra` are task folders, or folders of tasks, outside both.
    """

    suites: Path
    extra: tuple[Path, ...] = ()
    imported: Path | None = None

    @classmethod
    def installed(cls, extra: Iterable[Path] = ()) -> Catalogue:
        """The suites that ship with the package, and the user's own folders."""
        return cls(Path(__file__).resolve().parent.parent / "suites", tuple(extra), user_suites())

    def suite_names(self) -> list[str]:
        """Every suite and selection, sorted."""
        return sorted({*self._suite_folders(), *self._own(), *(path.stem for path in self.suites.glob("*.toml"))})

    def suite(self, name: str, *, profile: str = "") -> list[Task]:
        """The tasks of a suite in a fixed order.

        Raises:
            UnknownNameError: no such suite or profile.
            TaskError: one of its packages is broken.
        """
        if (path := self.suites / f"{name}.toml").is_file():
            selection = read_document(path, Selection)
            return [self.task(task, profile=profile or selection.profile) for task in selection.tasks]
        if name not in self.suite_names():
            raise UnknownNameError("suite", name, self.suite_names())
        return [load(folder, suite=name, profile=profile) for folder in self._packages(name)]

    def task(self, name: str, *, profile: str = "") -> Task:
        """One task by `id`, `suite/id`, either with `@profile`, or the path of its folder.

        Raises:
            UnknownNameError: no such task.
            TaskError: the package is broken, or the name fits more than one.
        """
        name, _, named_profile = name.partition("@")
        profile = named_profile or profile
        found = [
            (suite, folder) for suite, folder in self._folders() if name in (folder.name, f"{suite}/{folder.name}")
        ]
        if len(found) > 1:
            places = ", ".join(f"{suite}/{folder.name}" for suite, folder in found)
            raise TaskError(f"'{name}' is ambiguous; write one of {places}")
        if found:
            return load(found[0][1], suite=found[0][0], profile=profile)
        if "/" in name and (Path(name) / "task.toml").is_file():
            return load(Path(name), profile=profile)
        raise UnknownNameError("task", name, (folder.name for _, folder in self._folders()))

    def select(self, *, suite: str = "", tasks: Sequence[str] = (), profile: str = "") -> list[Task]:
        """The tasks that a command line names: those of a suite, those listed, or everything there is."""
        if tasks:
            return [self.task(name, profile=profile) for name in tasks]
        if suite:
            return self.suite(suite, profile=profile)
        return [load(folder, suite=name, profile=profile) for name, folder in self._folders()]

    def _folders(self) -> list[tuple[str, Path]]:
        installed = [(name, package) for name in self._suite_folders() for package in self._packages(name)]
        own: list[tuple[str, Path]] = []
        for path in self.extra:
            if (path / "task.toml").is_file():
                own.append(("local", path.resolve()))
                continue
            found = sorted(path.glob("*/task.toml"))
            if not found:
                raise TaskError(f"{path}: holds no task; --tasks takes a task folder or a folder of task folders")
            own += [(path.resolve().name, child.parent.resolve()) for child in found]
        return installed + own

    def _suite_folders(self) -> dict[str, Path]:
        """Folder of each suite by name. A suite that ships with surpass hides an imported one of its name."""
        found: dict[str, Path] = {}
        for root in (self.suites, self.imported):
            for path in sorted(root.iterdir()) if root is not None and root.is_dir() else ():
                is_suite = any(path.glob("*/task.toml")) or (root == self.suites and (path / BUILDER).is_file())
                if is_suite:
                    found.setdefault(path.name, path)
        return dict(sorted(found.items()))

    def _packages(self, suite: str) -> list[Path]:
        folder = (self._own() | self._suite_folders())[suite]
        if (folder / BUILDER).is_file() and folder.parent == self.suites:
            folder = built(folder)
        return sorted(path.parent for path in folder.glob("*/task.toml"))

    def _own(self) -> dict[str, Path]:
        """The folders of packages that the user names, as suites of their names."""
        folders = (path.resolve() for path in self.extra if not (path / "task.toml").is_file())
        return {folder.name: folder for folder in folders if any(folder.glob("*/task.toml"))}
