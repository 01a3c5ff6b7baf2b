"""The journal: what has happened, in SQL, written before it is reported. SQLite by default, PostgreSQL by URL."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from surpass.agent import Feedback
from surpass.trial.errors import StateError, StorageError
from surpass.trial.plan import TrialPlan
from surpass.trial.states import State, is_allowed
from surpass.verdict import Verdict

__all__ = ["Attempt", "Journal", "Transition", "Trial"]

_METADATA = sa.MetaData()

_TRIALS = sa.Table(
    "trials",
    _METADATA,
    sa.Column("experiment", sa.String, primary_key=True),
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("task", sa.String, nullable=False),
    sa.Column("agent", sa.String, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("hints", sa.String, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("solve_seconds", sa.Float, nullable=False, default=0.0),
    sa.Column("chosen", sa.Integer),
    sa.Column("submission", sa.String),
    sa.Column("verdict", sa.Text),
    sa.Column("error", sa.Text),
)

_ATTEMPTS = sa.Table(
    "attempts",
    _METADATA,
    sa.Column("experiment", sa.String, primary_key=True),
    sa.Column("trial", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("at_seconds", sa.Float, nullable=False),
    sa.Column("feedback", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
)

_MEMORY = sa.Table(
    "memory",
    _METADATA,
    sa.Column("experiment", sa.String, primary_key=True),
    sa.Column("trial", sa.String, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("entry", sa.Text, nullable=False),
)

_TRANSITIONS = sa.Table(
    "transitions",
    _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("experiment", sa.String, nullable=False, index=True),
    sa.Column("trial", sa.String, nullable=False),
    sa.Column("old", sa.String, nullable=False),
    sa.Column("new", sa.String, nullable=False),
    sa.Column("at", sa.String, nullable=False),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One journalled attempt."""

    number: int
    key: str
    """Content hash of the sealed submission, or what kept it from being sealed."""
    note: str
    at_seconds: float
    """Solve time when it was handed in."""
    feedback: Feedback
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial as journalled."""

    plan: TrialPlan
    state: State
    solve_seconds: float
    chosen: int | None
    """The attempt whose submission is judged at the final tier; 0 for the workspace itself."""
    submission: str | None
    verdict: Verdict | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of state."""

    trial: str
    old: State
    new: State
    at: str


class Journal:
    """One experiment's part of the journal. Several processes may use it at once.

    Every method raises StorageError when the database cannot be reached, is full, or is damaged.
    """

    def __init__(self, url: str | sa.URL, experiment: str, *, read_only: bool = False) -> None:
        self._experiment = experiment
        with _storage():
            self._engine = sa.create_engine(url)
            if read_only:
                return
            if self._engine.dialect.name == "sqlite":
                sa.event.listen(self._engine, "connect", _configure_sqlite)
            _METADATA.create_all(self._engine)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()

    def add(self, plans: Sequence[TrialPlan]) -> None:
        """Journal trials as planned, all or none."""
        rows = [
            {
                "experiment": self._experiment,
                "id": plan.id,
                "task": plan.task,
                "agent": plan.agent,
                "number": plan.index,
                "seed": plan.seed,
                "hints": plan.hints,
                "state": State.PLANNED.value,
                "solve_seconds": 0.0,
            }
            for plan in plans
        ]
        if rows:
            with self._begin() as connection:
                connection.execute(sa.insert(_TRIALS), rows)

    def trials(self) -> list[Trial]:
        """Every trial, by number, then task, then agent."""
        query = sa.select(_TRIALS).where(_TRIALS.c.experiment == self._experiment)
        with self._begin() as connection:
            rows = (
                connection.execute(query.order_by(_TRIALS.c.number, _TRIALS.c.task, _TRIALS.c.agent)).mappings().all()
            )
        return [_trial(dict(row)) for row in rows]

    def trial(self, trial: str) -> Trial:
        """One trial.

        Raises:
            KeyError: it was never planned.
        """
        with self._begin() as connection:
            row = connection.execute(sa.select(_TRIALS).where(self._is(trial))).mappings().one_or_none()
        if row is None:
            raise KeyError(trial)
        return _trial(dict(row))

    def attempts(self, trial: str) -> list[Attempt]:
        """A trial's attempts, oldest first."""
        where = (_ATTEMPTS.c.experiment == self._experiment) & (_ATTEMPTS.c.trial == trial)
        with self._begin() as connection:
            rows = connection.execute(sa.select(_ATTEMPTS).where(where).order_by(_ATTEMPTS.c.number)).mappings().all()
        return [_attempt(dict(row)) for row in rows]

    def transitions(self) -> list[Transition]:
        """Every change of state, oldest first."""
        query = sa.select(_TRANSITIONS).where(_TRANSITIONS.c.experiment == self._experiment)
        with self._begin() as connection:
            rows = connection.execute(query.order_by(_TRANSITIONS.c.number)).mappings().all()
        return [Transition(row["trial"], State(row["old"]), State(row["new"]), row["at"]) for row in rows]

    def move(self, trial: str, old: State, new: State, **values: Any) -> None:
        """Change a trial's state, and columns with it, in one transaction.

        Raises:
            StateError: the state machine has no such step, or the trial is not in `old`.
        """
        if not is_allowed(old, new):
            raise StateError(f"trial {trial} cannot go from {old} to {new}")
        statement = sa.update(_TRIALS).where(self._is(trial) & (_TRIALS.c.state == old.value))
        step = {
            "experiment": self._experiment,
            "trial": trial,
            "old": old.value,
            "new": new.value,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        with self._begin() as connection:
            if connection.execute(statement.values(state=new.value, **values)).rowcount != 1:
                raise StateError(f"trial {trial} is not in state {old}; another process has moved it")
            connection.execute(sa.insert(_TRANSITIONS), step)

    def finish(self, trial: str, old: State, new: State, verdict: Verdict, **values: Any) -> None:
        """Journal a final verdict and the outcome that follows from it, in one transaction."""
        self.move(trial, old, new, verdict=_dumped(verdict), **values)

    def state_before(self, trial: str) -> State:
        """The state that a trial was in before its present one."""
        where = (_TRANSITIONS.c.experiment == self._experiment) & (_TRANSITIONS.c.trial == trial)
        query = sa.select(_TRANSITIONS.c.old).where(where).order_by(_TRANSITIONS.c.number.desc()).limit(1)
        with self._begin() as connection:
            return State(connection.execute(query).scalar_one())

    def spend(self, trial: str, seconds: float) -> None:
        """Journal the solve time used so far, so that a killed trial does not get it back."""
        with self._begin() as connection:
            connection.execute(sa.update(_TRIALS).where(self._is(trial)).values(solve_seconds=seconds))

    def add_attempt(self, trial: str, attempt: Attempt) -> None:
        """Journal one attempt and the solve time used so far, in one transaction."""
        row = {
            "experiment": self._experiment,
            "trial": trial,
            "number": attempt.number,
            "key": attempt.key,
            "note": attempt.note,
            "at_seconds": attempt.at_seconds,
            "feedback": json.dumps(_feedback_document(attempt.feedback), allow_nan=False),
            "verdict": _dumped(attempt.verdict),
        }
        with self._begin() as connection:
            connection.execute(sa.insert(_ATTEMPTS), row)
            connection.execute(sa.update(_TRIALS).where(self._is(trial)).values(solve_seconds=attempt.at_seconds))

    def memory(self, trial: str) -> list[dict[str, Any]]:
        """What a trial's agent has remembered, oldest first."""
        where = (_MEMORY.c.experiment == self._experiment) & (_MEMORY.c.trial == trial)
        with self._begin() as connection:
            rows = (
                connection.execute(sa.select(_MEMORY.c.entry).where(where).order_by(_MEMORY.c.number)).scalars().all()
            )
        with _readable(trial):
            return [dict(json.loads(row)) for row in rows]

    def remember(self, trial: str, number: int, entry: Mapping[str, Any]) -> None:
        """Journal the `number`-th thing that a trial's agent remembers."""
        row = {"experiment": self._experiment, "trial": trial, "number": number}
        with self._begin() as connection:
            connection.execute(sa.insert(_MEMORY), row | {"entry": json.dumps(entry, allow_nan=False)})

    def _is(self, trial: str) -> sa.ColumnElement[bool]:
        return (_TRIALS.c.experiment == self._experiment) & (_TRIALS.c.id == trial)

    @contextlib.contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        with _storage(), self._engine.begin() as connection:
            yield connection


@contextlib.contextmanager
def _storage() -> Iterator[None]:
    """Turn every failure of the database into one sentence."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        raise StorageError(
            f"the journal cannot be used: {reason}; free space, repair or reconnect it, then run `surpass resume`"
        ) from error


def _configure_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.close()


def _dumped(verdict: Verdict) -> str:
    return json.dumps(verdict.to_dict(), allow_nan=False)


def _feedback_document(feedback: Feedback) -> dict[str, Any]:
    return {
        "attempt": feedback.attempt,
        "accepted": feedback.accepted,
        "score": feedback.score,
        "code": feedback.code,
    }


@contextlib.contextmanager
def _readable(trial: str) -> Iterator[None]:
    """A row that our own code did not write is damage, not a bug."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(f"the journal's entry on {trial} is damaged ({error}); restore it from a copy") from None


def _trial(row: dict[str, Any]) -> Trial:
    with _readable(row["id"]):
        return _read_trial(row)


def _read_trial(row: dict[str, Any]) -> Trial:
    return Trial(
        plan=TrialPlan(row["id"], row["task"], row["agent"], row["number"], row["seed"], row["hints"]),
        state=State(row["state"]),
        solve_seconds=row["solve_seconds"],
        chosen=row["chosen"],
        submission=row["submission"],
        verdict=Verdict.from_dict(json.loads(row["verdict"])) if row["verdict"] else None,
        error=row["error"],
    )


def _attempt(row: dict[str, Any]) -> Attempt:
    with _readable(row["trial"]):
        return _read_attempt(row)


def _read_attempt(row: dict[str, Any]) -> Attempt:
    return Attempt(
        number=row["number"],
        key=row["key"],
        note=row["note"],
        at_seconds=row["at_seconds"],
        feedback=Feedback(**json.loads(row["feedback"])),
        verdict=Verdict.from_dict(json.loads(row["verdict"])),
    )
