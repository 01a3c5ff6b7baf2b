"""What the harness concluded about a submission, as frozen records that travel as JSON."""

from __future__ import annotations

import enum
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from surpass.score import Scorecard
from surpass.task import Tier

__all__ = ["Outcome", "Rejection", "Timings", "Verdict"]


class Outcome(enum.StrEnum):
    """How a submission ended. Only `done` has a score."""

    DONE = "done"
    FAILED = "failed"
    """Missing, malformed, late or crashed: scores at the floor."""
    INVALID = "invalid"
    """Broke a rule: no score, and the rule is named."""
    INFRA_ERROR = "infra_error"
    """The harness could not judge; says nothing about the submission."""


class Rejection(Exception):
    """A submission that gets no score, and why.

    Attributes:
        outcome: FAILED or INVALID.
        code: all that the agent is told.
        detail: for the operator.
    """

    def __init__(self, outcome: Outcome, code: str, detail: str = "") -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.outcome = outcome
        self.code = code
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds of wall time in each stage, and what the candidate's own run used."""

    seal_s: float = 0.0
    run_s: float = 0.0
    run_cpu_s: float = 0.0
    run_peak_memory_bytes: int = 0
    evaluate_s: float = 0.0
    """From the request to the evaluator's answer."""
    evaluate_work_s: float = 0.0
    """Of that, inside the task's own `evaluate`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judgement of one sealed submission at one tier."""

    task: str
    task_digest: str
    tier: Tier
    submission: str
    """Content hash of the sealed submission; empty when it could not be sealed."""
    outcome: Outcome
    code: str = ""
    detail: str = ""
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
    """What the evaluator returned, per instance; instances that failed are absent."""
    failures: dict[str, str] = field(default_factory=dict)
    """Code per failed instance."""
    scorecard: Scorecard | None = None
    timings: Timings = Timings()
    sandbox: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self) | {
            "tier": self.tier.value,
            "outcome": self.outcome.value,
            "scorecard": self.scorecard.to_dict() if self.scorecard else None,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        card = document["scorecard"]
        return cls(
            **document
            | {
                "tier": Tier(document["tier"]),
                "outcome": Outcome(document["outcome"]),
                "scorecard": Scorecard.from_dict(card) if card else None,
                "timings": Timings(**document["timings"]),
            }
        )
