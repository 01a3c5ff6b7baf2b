"""The first quality figure: null at 0 and oracle at 1 within their intervals, on every task and each of ten seeds."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from _table import arguments, print_rows

from surpass.score import combine
from surpass.task import Catalogue
from surpass.trial import LocalEngine, create, execute, make_plan

TARGET = {"nop": 0.0, "oracle": 1.0}


def main() -> None:
    options = arguments(__doc__ or "", seeds=10, full=0, concurrency=2)
    catalogue = Catalogue.installed()
    tasks = catalogue.suite("nature") if options.full else catalogue.suite("quick")
    with tempfile.TemporaryDirectory() as folder:
        experiment = create(Path(folder) / "e", make_plan(tasks, list(TARGET), trials=options.seeds))
        with (
            experiment.lock() as lock,
            LocalEngine(experiment.root, concurrency=options.concurrency, inherit=[lock]) as engine,
        ):
            execute(experiment, engine, lambda trial: None)
        trials = experiment.journal.trials()
    rows = []
    for task in tasks:
        for agent, target in TARGET.items():
            mine = [t for t in trials if (t.plan.task, t.plan.agent) == (task.name, agent)]
            cards = [t.verdict.scorecard if t.verdict else None for t in mine]
            band = task.spec.claims.tie_band
            single = [combine([card], band) for card in cards]
            together = combine(cards, band)
            inside = sum(
                one.interval.low - 1e-9 <= target <= one.interval.high + 1e-9
                or (agent == "oracle" and one.interval.low > target)
                for one in single
            )
            rows.append(
                {
                    "task": task.name,
                    "agent": agent,
                    "recovery": round(together.recovery, 4),
                    "low": round(together.interval.low, 4),
                    "high": round(together.interval.high, 4),
                    "seeds inside": f"{inside}/{len(mine)}",
                    "claim": together.claim.value,
                }
            )
    print_rows("calibration", rows, as_json=options.json)
    if any(row["seeds inside"] != f"{options.seeds}/{options.seeds}" for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
