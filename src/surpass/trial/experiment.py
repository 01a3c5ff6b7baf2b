"""An experiment's directory: its frozen plan, its journal, its lock, and where everything lies."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from surpass.measure import fingerprint
from surpass.sandbox import Capabilities
from surpass.task import Catalogue, Task, TaskError, Tier, digest_of, load, read_document
from surpass.trial.errors import ExperimentBusyError, ExperimentError, StorageError, TaskChangedError
from surpass.trial.journal import Journal
from surpass.trial.plan import ExperimentPlan, TrialPlan
from surpass.verdict import hidden_seed

__all__ = [
    "Experiment",
    "TrialFolder",
    "copy_folder",
    "create",
    "open_experiment",
    "without_password",
    "write_atomically",
]

_PLAN = "experiment.toml"
_SECRET = "secret"


@dataclass(frozen=True, slots=True)
class TrialFolder:
    """Where one trial's files lie."""

    root: Path

    @property
    def workspace(self) -> Path:
        """What the agent writes. The only folder that candidate code can change."""
        return self.root / "workspace"

    @property
    def attempts(self) -> Path:
        """Sealed submissions and what they produced; what the evaluator may read."""
        return self.root / "attempts"

    def attempt(self, number: int) -> Path:
        """One attempt's folder; 0 is the workspace as it was when the agent ended without an attempt."""
        return self.attempts / f"{number:03d}"

    def submission(self, number: int) -> Path:
        """The sealed submission of one attempt."""
        return self.attempt(number) / "submission"

    @property
    def records(self) -> Path:
        """What the agent's own software wrote about the trial, such as a model's transcript."""
        return self.root / "records"

    @property
    def transcript(self) -> Path:
        """One JSON object a line: what the agent logged."""
        return self.root / "transcript.jsonl"


class Experiment:
    """An opened experiment. Read it from anywhere; change it only while holding `lock()`."""

    def __init__(self, root: Path, plan: ExperimentPlan, journal: Journal) -> None:
        self.root = root
        self.plan = plan
        self.journal = journal

    def folder(self, trial: str) -> TrialFolder:
        """A trial's folder."""
        return TrialFolder(self.root / "trials" / trial)

    def data(self, task: Task, seed: int) -> Path:
        """Where the hidden data of a task and a trial seed lie. Trials with equal data share them."""
        if task.spec.fixed_data:
            settings = json.dumps(task.spec.settings, sort_keys=True)
            made_of = digest_of(task.private, skip=("source.toml", "driver.py", "evaluator.py"))
            return self.root / "data" / f"fixed-{hashlib.sha256(f'{made_of} {settings}'.encode()).hexdigest()[:16]}"
        return self.root / "data" / task.name.replace("/", ".") / str(seed)

    def hidden(self, task: Task, seed: int) -> dict[Tier, int]:
        """The generator's seed for each tier.

        Raises:
            StorageError: the secret is missing or damaged. A published experiment may leave it out: reading needs none.
        """
        with _storage(self.root):
            try:
                secret = bytes.fromhex((self.root / _SECRET).read_text("ascii"))
            except ValueError:
                raise StorageError(
                    f"{self.root / _SECRET} is damaged; restore it from a copy of the experiment"
                ) from None
        return {tier: hidden_seed(secret, task, tier, seed) for tier in Tier}

    def task(self, name: str) -> Task:
        """A planned task, as it was when it was planned.

        Raises:
            TaskChangedError: its files have changed since; results of two versions are never mixed.
        """
        planned = next(task for task in self.plan.task if task.name == name)
        if planned.root.is_dir():
            task = load(planned.root, suite=planned.suite, profile=planned.profile)
        else:  # a suite that is built from parts: its packages lie in a cache, which may be emptied
            full_name = f"{planned.suite}/{planned.root.name}"
            task = Catalogue.installed().task(full_name, profile=planned.profile)
        if task.digest != planned.digest:
            raise TaskChangedError(
                f"task {name} has changed since this experiment was planned ({planned.digest[:12]} then, "
                f"{task.digest[:12]} now); restore it, or start a new experiment with -o"
            )
        return task

    def plan_of(self, trial: str) -> TrialPlan:
        """A trial's plan."""
        return self.journal.trial(trial).plan

    @contextlib.contextmanager
    def lock(self) -> Iterator[int]:
        """Hold the experiment; yields the lock's descriptor, which workers inherit so that it outlives us with them.

        Raises:
            ExperimentBusyError: somebody else holds it.
        """
        with _locked(self.root) as descriptor:
            yield descriptor


def create(
    root: Path,
    plan: ExperimentPlan,
    *,
    capabilities: Capabilities | None = None,
    password_url: str = "",
) -> Experiment:
    """Make the directory and journal every trial as planned. `capabilities` are recorded beside the machine.

    `password_url` is the database URL as the user gave it; only its form without the password is stored.

    Raises:
        ExperimentError: the directory holds something already.
        StorageError: it cannot be written.
    """
    root = root.absolute()
    with _storage(root):
        _refuse_occupied(root)
        root.mkdir(parents=True, exist_ok=True)
    with _locked(root):  # of two that begin at once, the second finds the first one's plan
        _refuse_occupied(root)
        return _write(root, plan, capabilities, password_url)


def _write(root: Path, plan: ExperimentPlan, capabilities: Capabilities | None, password_url: str) -> Experiment:
    sandbox = dataclasses.asdict(capabilities) if capabilities else {}
    environment = dataclasses.asdict(fingerprint()) | {"sandbox": sandbox}
    secret = hashlib.sha256(f"surpass:{plan.seed}".encode()).digest() if plan.reproducible else secrets.token_bytes(32)
    with _storage(root):
        (root / "trials").mkdir(exist_ok=True)
        write_atomically(root / _SECRET, secret.hex() + "\n", mode=0o600)
        write_atomically(root / "environment.json", json.dumps(environment, indent=2) + "\n")
    journal = Journal(password_url or plan.database or _sqlite(root), plan.id)
    journal.add(plan.trial_plans())
    # The plan comes last: a directory with a plan is complete, one without can be thrown away.
    with _storage(root):
        write_atomically(root / _PLAN, _toml(plan))
    return Experiment(root, plan, journal)


def open_experiment(root: Path, *, password_url: str = "", read_only: bool = False) -> Experiment:
    """Open an experiment that exists. `read_only` writes nothing, so that an archive can be read where it lies.

    Raises:
        ExperimentError: there is none at `root`.
        StorageError: its journal cannot be read.
    """
    root = root.absolute()
    if not (root / _PLAN).is_file():
        raise ExperimentError(f"{root} holds no experiment (no {_PLAN}); `surpass run -o {root}` would start one")
    plan = _plan_of(root)
    url = password_url or os.environ.get("SURPASS_DATABASE", "") or plan.database
    if not url and not (root / "surpass.db").is_file():
        raise StorageError(f"{root / 'surpass.db'} is missing; restore it from a copy of the experiment")
    journal = Journal(url or _sqlite(root, read_only), plan.id, read_only=read_only)
    if {trial.id for trial in plan.trial_plans()} != {trial.plan.id for trial in journal.trials()}:
        journal.close()
        raise StorageError(f"{root / _PLAN} and the journal name different trials; restore both from one copy")
    return Experiment(root, plan, journal)


def write_atomically(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Replace a file as a whole: a reader sees the old content or the new one, never half of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def copy_folder(source: Path, target: Path) -> None:
    """Copy a folder's content into `target`, which may exist; caches are left out.

    Raises:
        StorageError: something could not be read or written.
    """
    try:
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    except shutil.Error as error:  # all that went wrong, as (source, target, reason); one reason is enough
        reason = str(error.args[0][0][2]).partition("] ")[2].partition(":")[0] or str(error.args[0][0][2])
        raise StorageError(
            f"{target} cannot be written: {reason.lower()}; free space, then run `surpass resume`"
        ) from None


def without_password(url: str) -> str:
    """A database URL that may be stored in plain text.

    Raises:
        ExperimentError: it is no database URL.
    """
    if not url:
        return ""
    try:
        given = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ExperimentError(
            f"'{url}' is no database URL; write postgresql+psycopg://user@host/name or leave it out"
        ) from None
    bare = sa.URL.create(given.drivername, given.username, None, given.host, given.port, given.database, given.query)
    return bare.render_as_string()


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[int]:
    import fcntl  # not on every system; reading an experiment needs no lock

    with _storage(root):
        descriptor = os.open(root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise ExperimentBusyError(
                f"{root} is in use by process {holder}; wait for it, or stop it and run `surpass resume`"
            ) from None
        with _storage(root):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _refuse_occupied(root: Path) -> None:
    if root.exists() and not root.is_dir():
        raise ExperimentError(f"{root} is a file; choose another directory with -o")
    if (root / _PLAN).is_file():
        held = _plan_of(root)
        raise ExperimentError(
            f"{root} already holds experiment {held.id}; continue it with `surpass resume {root}`, "
            "or choose another directory with -o"
        )
    leftovers = {_SECRET, "environment.json", "trials", "surpass.db", "surpass.db-wal", "surpass.db-shm", ".lock"}
    leftovers.add("surpass.db-journal")
    found = {path.name for path in root.iterdir() if not path.name.endswith(".part")} if root.is_dir() else set()
    if others := sorted(found - leftovers):
        raise ExperimentError(f"{root} is not empty (it holds '{others[0]}'); choose another directory with -o")


def _plan_of(root: Path) -> ExperimentPlan:
    try:
        return read_document(root / _PLAN, ExperimentPlan)
    except TaskError as error:
        raise StorageError(f"{error}; the experiment's plan is damaged, restore it from a copy") from None


def _sqlite(root: Path, read_only: bool = False) -> sa.URL:
    """The journal's file. Built from parts: a directory's name may hold any character."""
    path = str(root.resolve() / "surpass.db")
    if not read_only:
        return sa.URL.create("sqlite", database=path)
    # A finished journal on a read-only medium has no write-ahead log, and no place to make one.
    mode = {"mode": "ro"} if os.access(root, os.W_OK) else {"immutable": "1"}
    return sa.URL.create("sqlite", database=f"file:{quote(path)}", query={**mode, "uri": "true"})


@contextlib.contextmanager
def _storage(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{error.filename or root} cannot be used: {(error.strerror or str(error)).lower()}; "
            "free space or fix its permissions, then try again"
        ) from error


def _toml(plan: ExperimentPlan) -> str:
    """The plan as TOML: scalars and lists of strings first, then one table a task."""
    document = plan.model_dump(mode="json")
    tasks = document.pop("task")
    lines = [f"{key} = {_value(value)}" for key, value in document.items()]
    for task in tasks:
        lines += ["", "[[task]]", *(f"{key} = {_value(value)}" for key, value in task.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """JSON's strings, numbers, booleans and lists of strings are TOML's too."""
    return json.dumps(value, ensure_ascii=False)
