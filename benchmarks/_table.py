"""What every benchmark prints: the machine, then a table or JSON."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from surpass.measure import fingerprint

__all__ = ["arguments", "print_rows", "spread"]


def arguments(description: str, **defaults: int) -> argparse.Namespace:
    """Command line with `--json` and one integer option for each default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {"median": round(middle, 3), "q1": round(low, 3), "q3": round(high, 3)}


def print_rows(title: str, rows: list[dict[str, Any]], *, as_json: bool) -> None:
    """The machine and the rows; every row has the same keys."""
    machine = asdict(fingerprint())
    if as_json:
        print(json.dumps({"benchmark": title, "machine": machine, "rows": rows}, indent=2))
        return
    console = Console(highlight=False)
    console.print(
        f"{title}\n{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, load {machine['load']:.2f}"
    )
    table = Table(*rows[0].keys(), box=None, header_style="bold")
    for row in rows:
        table.add_row(*(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)
