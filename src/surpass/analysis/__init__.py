"""Reading finished and unfinished experiments: what their trials come to. Nothing here runs or changes anything."""

from surpass.analysis.attempts import AttemptPoint, AttemptSeries, attempt_series
from surpass.analysis.reading import Reading, read
from surpass.analysis.records import InstanceRow, Overall, Row, Scoreboard
from surpass.analysis.scoreboard import rows_json, score, scoreboard
from surpass.analysis.trees import search_trees, tree_document

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
    "search_trees",
    "tree_document",
]
