"""A candidate's file that cannot be scored, as an exception with a code for the agent and a detail for us."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["Malformed", "per_instance"]

Metrics = dict[str, float]


class Malformed(Exception):
    """What a candidate handed in cannot be scored.

    Attributes:
        code: a lower-case word with hyphens; all that the agent is told.
        detail: what exactly was wrong; for the operator only.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail


def per_instance(scorers: Mapping[str, Callable[[], Metrics]]) -> dict[str, Metrics | Malformed]:
    """Score each instance by itself: one that is malformed fails alone instead of hiding the others."""
    results: dict[str, Metrics | Malformed] = {}
    for name, score in scorers.items():
        try:
            results[name] = score()
        except Malformed as failure:
            results[name] = failure
    return results
