"""The scoreboard as a table on the terminal, for `run`, `resume` and `report`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from surpass.cli._output import console, notes

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from surpass.analysis import Overall, Row, Scoreboard

    Columns = tuple[tuple[str, int], ...]

__all__ = ["print_scoreboard"]

_STYLES = {
    "surpassed": "bold green",
    "matched": "green",
    "reproduced": "green",
    "inconclusive": "yellow",
    "failed": "red",
}
_COUNTS = ("done", "failed", "invalid", "infra_error", "incomplete")
# Widths are fixed so that the tables of all tasks line up, each under a name that may be as long as the line.
_INTERVAL, _RECOVERY, _GAP, _CLAIM, _TRIALS = 13, 8, 7, 12, 13
_NARROWEST_NAME = 12


def print_scoreboard(scoreboard: Scoreboard) -> None:
    """Print one line an agent under each task, then one an agent over all tasks; remarks go to stderr."""
    interval = f"{scoreboard.level:.0%} interval"
    columns: Columns = (
        ("recovery", _RECOVERY),
        (interval, _INTERVAL),
        ("g", _GAP),
        ("claim", -_CLAIM),
        ("trials", -_TRIALS),
    )
    agents = [row.agent for row in scoreboard.rows]
    _print_table(agents, columns, [])
    for task, rows in groupby(scoreboard.rows, key=lambda row: row.task):
        console.print(_plain(task, "bold"))
        _print_table(agents, columns, [_row(row) for row in rows], header=False)
    if len({row.task for row in scoreboard.rows}) > 1:
        columns = (("mean", 5), (interval, _INTERVAL), ("IQM", 5), (interval, _INTERVAL), ("g", _GAP), ("tasks", -8))
        console.print(_plain("\nall tasks", "bold"))
        _print_table(agents, columns, [_overall(line) for line in scoreboard.overall])
    if any(row.self_reported for row in scoreboard.rows):
        notes.print(
            "[bold]self-reported:[/bold] scripts that time themselves printed these numbers; they carry no claim"
        )
    if any(row.unsafe for row in scoreboard.rows):
        notes.print("[bold red]UNSAFE:[/bold red] candidate code ran without a sandbox; these numbers are no evidence")
    for note in scoreboard.notes:
        notes.print(f"note: {note}", markup=False, soft_wrap=True)


def _row(row: Row) -> list[Text]:
    return [
        _plain(row.agent),
        _number(row.recovery),
        _interval(row.low, row.high),
        _number(row.g, "+z.2f"),
        _plain(row.claim, _STYLES[row.claim]),
        _plain("\n".join(f"{getattr(row, name)} {name.replace('_', ' ')}" for name in _COUNTS if getattr(row, name))),
    ]


def _overall(line: Overall) -> list[Text]:
    return [
        _plain(line.agent),
        _number(line.mean),
        _interval(line.mean_low, line.mean_high),
        _number(line.iqm),
        _interval(line.iqm_low, line.iqm_high),
        _number(line.g, "+z.2f"),
        _plain(f"{line.tasks}" if not line.missing else f"{line.tasks} of {line.tasks + line.missing}"),
    ]


def _print_table(agents: list[str], columns: Columns, rows: list[list[Text]], *, header: bool = True) -> None:
    """A name column as wide as the names need and the line allows; a negative width is one of words, not numbers."""
    from rich.table import Table

    taken = sum(abs(width) + 2 for _, width in columns)
    name = max(_NARROWEST_NAME, min(max(map(len, agents), default=0), console.width - 2 - taken))
    table: Table = Table(box=None, header_style="bold", show_header=header, padding=(0, 0, 0, 2), pad_edge=True)
    table.add_column("", width=name, overflow="fold")
    for heading, width in columns:
        justify = "left" if width < 0 else "right"
        table.add_column(heading, width=abs(width), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _number(value: float | None, form: str = "z.2f") -> Text:
    return _plain("-" if value is None else format(value, form))


def _interval(low: float | None, high: float | None) -> Text:
    return _plain("-" if low is None or high is None else f"[{low:z.2f}, {high:z.2f}]")


def _plain(text: str, style: str = "") -> Text:
    """Text that rich does not read for markup: names come from outside."""
    from rich.text import Text

    return Text(text, style=style)
