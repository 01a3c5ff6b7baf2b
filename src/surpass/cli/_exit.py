"""Exit codes, and the one place where an exception becomes a sentence and a code."""

from __future__ import annotations

import enum
import errno

__all__ = ["ExitCode", "explain"]


class ExitCode(enum.IntEnum):
    """Documented in docs/reference/cli.md; tests hold both together."""

    OK = 0
    NOT_PASSED = 1
    """A check failed, or a graded submission has no score."""
    USAGE = 2
    """The command line cannot be understood."""
    UNKNOWN = 3
    """An unknown task, suite, agent, profile or hint level, or a broken task package."""
    SANDBOX = 4
    """Untrusted code cannot be run safely here."""
    EXPERIMENT = 5
    """The experiment directory is taken, busy, missing, or its tasks have changed."""
    STORAGE = 6
    """Disk, permissions, database, or a damaged file."""
    INFRASTRUCTURE = 7
    """Some trials ended in an infrastructure error; `surpass resume` tries them again."""
    INTERRUPTED = 130
    """Ctrl-C; `surpass resume` goes on."""


def explain(error: BaseException) -> tuple[str, ExitCode] | None:
    """The sentence and exit code for an error that users can meet; None for a bug of ours."""
    # Imported here: an error is rare, and its types would pull half the package into every start.
    from surpass.agent import AgentError
    from surpass.interop import InteropError
    from surpass.sandbox import SandboxError
    from surpass.task import TaskError
    from surpass.trial import ExperimentError, StorageError
    from surpass.verdict import VerdictError

    codes: list[tuple[type[BaseException], ExitCode]] = [
        (TaskError, ExitCode.UNKNOWN),
        (AgentError, ExitCode.UNKNOWN),
        (InteropError, ExitCode.UNKNOWN),
        (SandboxError, ExitCode.SANDBOX),
        (ExperimentError, ExitCode.EXPERIMENT),
        (StorageError, ExitCode.STORAGE),
        (VerdictError, ExitCode.INFRASTRUCTURE),
    ]
    for kind, code in codes:
        if isinstance(error, kind):
            return str(error), code
    if isinstance(error, OSError) and error.errno in (
        errno.ENOSPC,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EDQUOT,
        errno.ENAMETOOLONG,
    ):
        what = (error.strerror or "the file cannot be used").lower()
        return f"{error.filename or 'the disk'}: {what}; free space or choose another place with -o", ExitCode.STORAGE
    return None
