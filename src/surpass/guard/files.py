"""Open a candidate's file without following links, blocking on devices or reading without bound."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from surpass.guard.malformed import Malformed

__all__ = ["read_bytes"]


def read_bytes(path: Path, *, max_bytes: int) -> bytes:
    """The content of a regular file of at most `max_bytes` bytes.

    Raises:
        Malformed: `missing`, `not-a-file`, `too-large` or `empty`.
    """
    try:
        # O_NONBLOCK: opening a FIFO or a device must not hang; it is refused just below.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Malformed("missing", path.name) from None
    except OSError as error:
        code = "not-a-file" if error.errno in (errno.ELOOP, errno.ENXIO) else "unreadable"
        raise Malformed(code, f"{path.name}: {error.strerror}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise Malformed("not-a-file", path.name)
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > max_bytes:
            raise Malformed("too-large", f"{path.name}: {status.st_size} bytes, at most {max_bytes}")
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise Malformed("too-large", f"{path.name}: at most {max_bytes} bytes")
    if not content:
        raise Malformed("empty", path.name)
    return content
