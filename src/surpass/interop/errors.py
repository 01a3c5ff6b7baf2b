"""What can be wrong with a checkout or with stored results of another project."""

from __future__ import annotations

__all__ = ["InteropError"]


class InteropError(Exception):
    """Something that cannot be imported. The message is one sentence that names the file and says what to do."""
