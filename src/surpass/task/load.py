"""Read a task package from disk."""

from __future__ import annotations

import importlib.metadata
import os
import tomllib
import types
import typing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from surpass.task.digest import digest_of
from surpass.task.errors import TaskError, UnknownNameError, nearest
from surpass.task.locate import line_of
from surpass.task.source import Source
from surpass.task.spec import Instance, Spec

__all__ = ["DATA_VARIABLE", "SOLVER", "EvilSolution", "Task", "load", "read_document"]

DATA_VARIABLE = "SURPASS_TRAINING_DATA"
"""Names the folder of tokens on the host, for scripts that time themselves."""
SOLVER = "solve.py"
"""A script that a start or a solution may hold; running it in the workspace writes `outputs/`."""


Document = TypeVar("Document", bound=BaseModel)


class EvilSolution(BaseModel):
    """`evil.toml`: why a submission is rejected, and with which code."""

    model_config = {"extra": "forbid", "frozen": True}

    why: str
    expect: str


@dataclass(frozen=True)
class Task:
    """One task package at one profile."""

    root: Path
    suite: str
    spec: Spec
    """As the profile changes it."""
    profile: str = ""

    @property
    def id(self) -> str:
        """The task's id, unique within its suite."""
        return self.spec.id

    @property
    def name(self) -> str:
        """`suite/id`, with `@profile` when it is not the full task."""
        return f"{self.suite}/{self.id}" + (f"@{self.profile}" if self.profile else "")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the package. Results with different digests or profiles are never compared."""
        return digest_of(self.root)

    @property
    def brief(self) -> str:
        """The text of `brief.md`."""
        return (self.root / "brief.md").read_text("utf-8")

    @property
    def public(self) -> Path:
        """What the agent may read."""
        return self.root / "public"

    @property
    def start(self) -> Path:
        """The null solution: the workspace before the agent touches it."""
        return self.public / "start"

    @property
    def private(self) -> Path:
        """What no candidate code ever sees."""
        return self.root / "private"

    @cached_property
    def source(self) -> Source:
        """The published numbers and where they come from."""
        return read_document(self.private / "source.toml", Source)

    def instance(self, name: str) -> Instance:
        """The instance of this name.

        Raises:
            UnknownNameError: there is none.
        """
        for instance in self.spec.instance:
            if instance.name == name:
                return instance
        raise UnknownNameError("instance", name, (i.name for i in self.spec.instance))

    def solution(self, name: str) -> Path:
        """The folder of a shipped solution; `null` is the start itself.

        Raises:
            UnknownNameError: the package does not ship it.
        """
        if name == "null":
            return self.start
        folder = self.root / "solutions" / name
        if not folder.is_dir():
            known = [p.name for p in (self.root / "solutions").glob("*") if p.is_dir()]
            raise UnknownNameError("solution", name, ["null", *known])
        return folder

    def require_complete(self) -> None:
        """Fail early when what every run needs is missing.

        Raises:
            TaskError: naming the file.
        """
        for path in (self.root / "brief.md", *self._asking_script()):
            try:
                path.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise TaskError(
                    f"{path}: cannot be read ({error}); `surpass check` lists all that is missing"
                ) from None
        self._require_installed()
        if self.spec.training is not None and self.spec.training.reported and self.spec.training.reported.data:
            self.training_data()
        if not self.start.is_dir():
            raise TaskError(f"{self.start}: the start is missing; `surpass check` lists all that is missing")

    @property
    def times_itself(self) -> bool:
        """True when the submission's own script says what it achieved: nobody asks its model or holds its clock."""
        return self.spec.training is not None and self.spec.training.clock == "reported"

    def training_data(self) -> Path:
        """The folder of tokens that scripts which time themselves read, as the user's environment names it.

        Raises:
            TaskError: it names no folder.
        """
        folder = os.environ.get(DATA_VARIABLE, "")
        if not folder or not Path(folder).is_dir():
            raise TaskError(f"{self.name} needs its tokens: set {DATA_VARIABLE} to the folder that holds them")
        return Path(folder).resolve()

    def _asking_script(self) -> list[Path]:
        """What looks at a submission; scripts that report for themselves are looked at by nobody."""
        if self.spec.training is None:
            return [self.private / "evaluator.py"]
        return [] if self.times_itself else [self.private / "driver.py"]

    def _require_installed(self) -> None:
        for name in self.spec.environment.distributions:
            try:
                importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                install = self.spec.environment.install
                raise TaskError(f"{self.name} needs '{name}', which is not installed; {install}") from None

    @property
    def evil_solutions(self) -> dict[str, EvilSolution]:
        """The submissions that must be rejected, by folder name."""
        folders = sorted((self.root / "solutions").glob("evil-*"))
        return {folder.name: read_document(folder / "evil.toml", EvilSolution) for folder in folders}


def load(root: Path, *, suite: str = "local", profile: str = "") -> Task:
    """Read and validate the package at `root`.

    Raises:
        TaskError: something is missing or wrong; the message names file, line and key.
        UnknownNameError: the task has no such profile.
    """
    if not root.is_dir():
        raise TaskError(f"{root}: no such folder; a task is a folder with a task.toml")
    spec = read_document(root / "task.toml", Spec)
    if spec.id != root.resolve().name:
        raise TaskError(f"{root / 'task.toml'}: id is '{spec.id}' but the folder is '{root.name}'; make them equal")
    if profile:
        if profile not in spec.profiles:
            raise UnknownNameError("profile", profile, spec.profiles)
        spec = spec.with_profile(profile)
    return Task(root=root.resolve(), suite=suite, spec=spec, profile=profile)


def read_document(path: Path, model: type[Document]) -> Document:
    """A TOML file validated against a model.

    Raises:
        TaskError: with one line per problem, each with file, line and key.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise TaskError(f"{path}: the file is missing; create it (docs/reference/task-package.md)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: cannot be read ({error})") from None
    try:
        return model.model_validate(tomllib.loads(text))
    except ValidationError as error:
        details = error.errors()
        # An invalid entry does not count towards a list's length, so a lone one would be reported as absent too.
        details = [detail for detail in details if detail["type"] != "too_short"] or details
        problems = [_explained(path, text, model, detail) for detail in details]
        raise TaskError("\n".join(problems)) from None
    except (ValueError, RecursionError) as error:  # bad TOML; a number too long; brackets too deep
        raise TaskError(f"{path}: not valid TOML: {error}") from None


def _explained(path: Path, text: str, model: type[BaseModel], detail: ErrorDetails) -> str:
    location = detail["loc"]
    line = line_of(text, location)
    where = f"{path}:{line}" if line else str(path)
    key = ".".join(str(part) for part in location) or "the file"
    if detail["type"] == "extra_forbidden":
        known = _keys_at(model, location[:-1])
        return f"{where}: unknown key '{key}'{nearest(str(location[-1]), known)}"
    if detail["type"] == "missing":
        return f"{where}: key '{key}' is missing; add it (docs/reference/task-package.md)"
    message = detail["msg"].removeprefix("Value error, ")
    return f"{where}: {key}: {message[0].lower()}{message[1:]}"


def _keys_at(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """The keys that the document knows at a location, found by walking the models' annotations."""
    current: Any = model
    for part in location:
        if isinstance(part, str) and isinstance(current, type) and issubclass(current, BaseModel):
            fields = {field.alias or name: field for name, field in current.model_fields.items()}
            current = _model_in(fields[part].annotation) if part in fields else None
        if current is None:
            return []
    return [field.alias or name for name, field in current.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The document model inside an annotation such as `tuple[Instance, ...]` or `dict[str, Profile]`."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((found for part in typing.get_args(annotation) if (found := _model_in(part))), None)
