"""Reading finished and unfinished experiments: what their trials come to. Nothing here runs or changes anything."""

from surpass.analysis.attempts import AttemptPoint, AttemptSeries, attempt_series
from surpass.analysis.reading import Reading, read
from surpass.analysis.records import InstanceRow, Overall, Row, Scoreboard
from surpass.analysis.scoreboard import rows_json, score, scoreboard

__all__ = [
    "AttemptPoint",
    "AttemptSeries",
    "InstanceRow",
    "Overall",
    "Reading",
    "Row",
    "Scoreboard",
    "attempt_series",
    "read",
    "rows_json",
    "score",
    "scoreboard",
]
