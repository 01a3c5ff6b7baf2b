"""From metrics to recovery, gap and claim. Pure functions on frozen records; no files, no clocks, no randomness."""

from surpass.score.claim import Claim, claim
from surpass.score.combine import TaskEstimate, combine
from surpass.score.gap import (
    MISSING,
    GapResult,
    Table,
    TableRow,
    UndefinedGap,
    build_table,
    find_value,
    gap,
    instance_gap,
)
from surpass.score.recovery import (
    CEILING,
    FLOOR,
    RecoveryError,
    UndefinedRecovery,
    bounded,
    recovery,
    recovery_se,
)
from surpass.score.reference import Direction, Reference, Scale
from surpass.score.scorecard import InstanceScore, Scorecard, score_instances
from surpass.score.sota import parse_sota

__all__ = [
    "CEILING",
    "FLOOR",
    "MISSING",
    "Claim",
    "Direction",
    "GapResult",
    "InstanceScore",
    "RecoveryError",
    "Reference",
    "Scale",
    "Scorecard",
    "Table",
    "TableRow",
    "TaskEstimate",
    "UndefinedGap",
    "UndefinedRecovery",
    "bounded",
    "build_table",
    "claim",
    "combine",
    "find_value",
    "gap",
    "instance_gap",
    "parse_sota",
    "recovery",
    "recovery_se",
    "score_instances",
]
