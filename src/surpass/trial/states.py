"""The life of a trial."""

from __future__ import annotations

import enum

__all__ = ["TERMINAL", "State", "is_allowed"]


class State(enum.StrEnum):
    """Where a trial is. The last four are outcomes."""

    PLANNED = "planned"
    PREPARING = "preparing"
    SOLVING = "solving"
    SEALED = "sealed"
    JUDGING = "judging"
    DONE = "done"
    FAILED = "failed"
    INVALID = "invalid"
    INFRA_ERROR = "infra_error"


TERMINAL = frozenset({State.DONE, State.FAILED, State.INVALID, State.INFRA_ERROR})

_NEXT = {
    State.PLANNED: {State.PREPARING},
    State.PREPARING: {State.SOLVING},
    State.SOLVING: {State.SEALED, State.FAILED, State.INVALID},
    State.SEALED: {State.JUDGING},
    State.JUDGING: {State.DONE, State.FAILED, State.INVALID},
    # An infrastructure failure says nothing about the submission, so resuming goes back to where it happened.
    State.INFRA_ERROR: {State.PLANNED, State.PREPARING, State.SOLVING, State.SEALED, State.JUDGING},
}


def is_allowed(old: State, new: State) -> bool:
    """True when a trial may go from `old` to `new`; every state that is no outcome may end in an infra_error."""
    if new is State.INFRA_ERROR:
        return old not in TERMINAL
    return new in _NEXT.get(old, set())
