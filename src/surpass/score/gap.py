"""NatureBench's gap `g`, to the letter of its scorer (arXiv 2606.24530; reference/naturebench.md, section 2).

    g = dir * (m - sota) / |sota|      dir = +1 when higher is better, -1 when lower is

It is printed beside recovery so that results can be compared with that benchmark. It is not bounded on either side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surpass.score.numbers import is_finite, is_number
from surpass.score.reference import Direction
from surpass.score.sota import best_sota

__all__ = [
    "MISSING",
    "GapResult",
    "Table",
    "TableRow",
    "UndefinedGap",
    "build_table",
    "find_value",
    "gap",
    "instance_gap",
]

MISSING = -1.0
"""The gap of an instance without a finite value."""


class UndefinedGap(ValueError):
    """The gap to a SOTA of 0 does not exist."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """What one instance is compared with."""

    metric: str
    direction: Direction
    sota: float


@dataclass(frozen=True, slots=True)
class Table:
    """Every instance that is scored, and why others of the metadata are not."""

    rows: Mapping[str, TableRow]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GapResult:
    """The gap of each instance of a table and their plain mean, which is None only for an empty table."""

    per_instance: Mapping[str, float]
    aggregate: float | None


def instance_gap(value: float | None, sota: float, direction: Direction) -> float:
    """g of one value; MISSING when there is none or it is not finite.

    Raises:
        UndefinedGap: when the SOTA is 0.
    """
    if sota == 0:
        raise UndefinedGap("the gap to a SOTA of 0 does not exist; use recovery")
    if value is None or not is_finite(value):
        return MISSING
    sign = 1.0 if direction == "higher" else -1.0
    return sign * (value - sota) / abs(sota)


def build_table(metadata: Mapping[str, Any]) -> Table:
    """The table of a NatureBench `metadata.json`.

    Of each entry of `performance_entries` the first metric marked primary counts. An entry that lacks its name, a
    primary metric, that metric's name or a usable SOTA is left out with a warning; so is one whose SOTA is 0. A later
    entry of the same name replaces an earlier one. Any direction but "higher_is_better" means lower.
    """
    rows: dict[str, TableRow] = {}
    warnings: list[str] = []
    entries = metadata.get("performance_entries")
    if not isinstance(entries, list) or not entries:
        return Table({}, ("performance_entries is missing or empty",))
    for position, entry in enumerate(entries):
        found = _read_entry(entry)
        if isinstance(found, str):
            warnings.append(f"performance entry {position + 1} is left out: {found}")
        else:
            rows[found[0]] = found[1]
    return Table(rows, tuple(warnings))


def gap(raw_scores: Mapping[str, Any], table: Table) -> GapResult:
    """g of each instance of the table, from what an evaluator returned.

    The mean is over all instances of the table with equal weights, those without a value at MISSING. A SOTA of NaN,
    which only a bare NaN in the metadata can give, makes its instance and the mean NaN, as in the original.
    """
    per_instance = {
        name: instance_gap(find_value(raw_scores.get(name), row.metric), row.sota, row.direction)
        for name, row in table.rows.items()
    }
    if not per_instance:
        return GapResult({}, None)
    return GapResult(per_instance, sum(per_instance.values()) / len(per_instance))


def find_value(scores: object, metric: str) -> float | None:
    """The number under a metric's name in a (nested) mapping; None when there is none.

    Names are compared in lower case without "_", "-" and blanks. Only an int or float counts: never a bool, a numeric
    text or a member of a list. A mapping's own members come before those of mappings inside it; then the first wins.
    """
    return next(_numbers(scores, _normalised(metric)), None)


def _numbers(scores: object, wanted: str) -> Iterator[float]:
    if not isinstance(scores, Mapping):
        return
    for name, content in scores.items():
        if is_number(content) and _normalised(str(name)) == wanted:
            yield content
    for content in scores.values():
        yield from _numbers(content, wanted)


def _read_entry(entry: object) -> tuple[str, TableRow] | str:
    """The instance's name and row, or why there is none."""
    if not isinstance(entry, Mapping):
        return "it is not an object"
    name = entry.get("dataset_name") or entry.get("instance_name")
    if not name:
        return "it has no dataset_name"
    metrics = entry.get("metrics")
    listed = metrics if isinstance(metrics, list) else []
    primary = next((m for m in listed if isinstance(m, Mapping) and m.get("is_primary")), None)
    if primary is None:
        return f"'{name}' has no primary metric"
    row = _read_primary(primary)
    return f"'{name}': {row}" if isinstance(row, str) else (str(name), row)


def _read_primary(primary: Mapping[str, Any]) -> TableRow | str:
    metric = primary.get("name")
    if not metric:
        return "its primary metric has no name"
    higher = primary.get("metric_direction") == "higher_is_better"
    sota = best_sota(primary.get("sota_score"), higher)
    if sota is None:
        return f"its SOTA cannot be read: {primary.get('sota_score')!r}"
    if sota == 0:
        return "its SOTA is 0"
    return TableRow(str(metric), "higher" if higher else "lower", sota)


def _normalised(name: str) -> str:
    return "".join(c for c in name.lower() if c not in "_- ")
