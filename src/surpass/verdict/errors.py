"""Failures of the harness's own side while it judges. Never a statement about a submission."""

__all__ = ["PreparationError", "VerdictError"]


class VerdictError(Exception):
    """The harness could not judge."""


class PreparationError(VerdictError):
    """The task's data could not be generated."""
