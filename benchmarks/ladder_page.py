"""Write docs/explanation/ladder.md from the calibration that the speedrun suite carries.

python benchmarks/ladder_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from surpass.suites.speedrun.hints import title_of

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "src/surpass/suites/speedrun"
PAGE = ROOT / "docs/explanation/ladder.md"
HEAD = """\
# The speedrun ladder, measured

Written by `benchmarks/ladder_page.py` from `src/surpass/suites/speedrun/calibration/*.json`, which
`surpass calibrate speedrun [--profile micro]` wrote. Every record was trained beside the next one, on one core, in
fresh processes with fresh seeds; its loss is the harness's, on hidden text of the final split.

- *loss*, *sd*: mean and standard deviation of the final loss over all runs of the record, nats a token. *margin*:
  standard deviations that the mean lies below target (three are the rule). *passed*: runs that reached the target.
- *CPU s*: mean of the record's runs. It moves with the load of the machine; only *relative*, from the product of paired
  ratios, compares records.
- *saved*: CPU time against the record before, from pairs that ran side by side, with its standard error (6 % and five
  errors are the rule).
- *repeats*: rounds after which a score of the task that leads to this record has an interval of +-0.05, at the scatter
  of these pairs.
"""
COLUMNS = (
    "record", "what is new", "steps", "loss", "sd", "margin", "passed", "CPU s", "relative", "saved", "repeats", ""
)  # fmt: skip


def main() -> None:
    parts = [HEAD, *(_section(profile) for profile in ("full", "micro"))]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _section(profile: str) -> str:
    found = json.loads((SUITE / "calibration" / f"{profile}.json").read_text())
    machine = found["machine"]
    verdict = "Every rule holds." if found["holds"] else "Not every rule holds: see the last column."
    where = f"{found['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['system']}"
    lines = [
        f"## Profile {profile}",
        "",
        f"{where}; {found['rounds']} rounds, target {found['target']:g}. {verdict}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|-" * len(COLUMNS) + "|",
    ]
    steps = {step["after"]: step for step in found["transitions"]}
    lines += [_row(record, steps.get(record["record"])) for record in found["records"]]
    first, last = found["records"][0], found["records"][-1]
    lines += [
        "",
        f"From the first record to the last: {first['relative'] / last['relative']:.1f} times less CPU time.",
        "",
    ]
    return "\n".join(lines)


def _row(record: dict[str, Any], step: dict[str, Any] | None) -> str:
    holds = record["holds"] and (step is None or step["holds"])
    cells = [
        record["record"],
        title_of(SUITE / "records" / f"{record['record']}.py"),
        str(record["steps"]),
        f"{record['loss']:.4f}",
        f"{record['loss_sd']:.4f}",
        f"{record['margin']:.1f}",
        f"{record['passed']}/{record['runs']}",
        f"{record['seconds']:.2f}",
        f"{record['relative']:.3f}",
        f"{step['saving']:.1%} +- {step['saving_se']:.1%}" if step else "",
        str(step["repeats"]) if step else "",
        "" if holds else "fails",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
