"""Let an agent work: where foreign code runs in our process, and where its failures are told from ours."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import traceback
from collections.abc import Iterator
from types import FrameType

from surpass.agent import BudgetExhausted, ModelUnavailable, build
from surpass.task import Task
from surpass.trial.errors import InfraError
from surpass.trial.workbench import TrialWorkbench, printable

__all__ = ["solve"]

_SLACK_SECONDS = 60.0


class _Overdue(BaseException):
    """The agent blocks the event loop past its deadline; a BaseException, so that it does not swallow it."""


def solve(agent: str, task: Task, bench: TrialWorkbench) -> str | None:
    """Build the agent and let it work; what it handed in before a failure still counts.

    Returns:
        The agent's failure in one line; None when it ended well.

    Raises:
        InfraError, SandboxError, StorageError, VerdictError: the harness failed, whatever the agent made of that.
    """
    failure = None
    try:
        with _deadline(bench, task):
            asyncio.run(_work(agent, task, bench))
    except KeyboardInterrupt:
        raise
    except (TimeoutError, _Overdue):
        failure = None if bench.seconds_left() <= 0 else "the agent failed: TimeoutError"
        bench.log("the solve time is used up")
    except BudgetExhausted as ended:
        bench.log(str(ended))
    except ModelUnavailable as error:
        raise InfraError(printable(f"{error}; `surpass resume` goes on where the conversation stopped")) from None
    except BaseException as error:  # noqa: BLE001 - whatever foreign code raises, SystemExit too, is its own failure
        bench.log(traceback.format_exc())
        failure = printable(f"the agent failed: {type(error).__name__}: {error}")
    if bench.broken is not None:
        raise bench.broken
    return failure


async def _work(agent: str, task: Task, bench: TrialWorkbench) -> None:
    try:
        await asyncio.wait_for(build(agent, task).solve(bench), bench.seconds_left())
    finally:
        await bench.settle()


@contextlib.contextmanager
def _deadline(bench: TrialWorkbench, task: Task) -> Iterator[None]:
    """Interrupt an agent that never yields to the event loop, long after an attempt in flight would have ended."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise _Overdue

    budget = task.spec.budget
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(
        signal.ITIMER_REAL, bench.seconds_left() + budget.run_seconds + budget.evaluate_seconds + _SLACK_SECONDS
    )
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
