"""The harness's own time in one attempt: from sealing to the journalled score, without the work of the two parties.

The candidate's run and the task's own `evaluate` are measured apart and taken off. The peer beside it is what the
published evaluation service does for each attempt: start a fresh interpreter that imports the evaluator.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _table import arguments, print_rows, spread

from surpass.sandbox import Sandbox, open_sandbox
from surpass.task import Catalogue, Tier
from surpass.trial import Experiment, create, make_plan
from surpass.trial.workbench import TrialWorkbench
from surpass.verdict import Judge

TASKS = ("sort-kernels@quick", "chaos-forecast@quick", "online-packing@quick")


def main() -> None:
    options = arguments(__doc__ or "", attempts=15)
    sandbox = open_sandbox()
    rows = []
    for name in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            plan = make_plan([Catalogue.installed().task(name)], ["nop"])
            rows.append(_measure(create(Path(folder) / "e", plan), sandbox, options.attempts))
    rows.append(_peer(options.attempts))
    print_rows("overhead of one attempt", rows, as_json=options.json)


def _measure(experiment: Experiment, sandbox: Sandbox, attempts: int) -> dict[str, str | float]:
    (trial,) = experiment.journal.trials()
    task = experiment.task(trial.plan.task)
    folder = experiment.folder(trial.plan.id)
    folder.workspace.mkdir(parents=True)
    sandbox.adopt(folder.workspace)
    with Judge(
        task,
        sandbox,
        place=folder.attempts,
        data=experiment.data(task, 0),
        hidden=experiment.hidden(task, 0),
    ) as judge:
        for tier in Tier:
            judge.data(tier)
        judge.warm()
        bench = TrialWorkbench(
            trial=trial.plan.id,
            task=task,
            prompt="",
            seed=0,
            sandbox=sandbox,
            judge=judge,
            journal=experiment.journal,
            folder=folder,
            origin=task.start,
            used_seconds=0.0,
        )
        overheads = asyncio.run(_attempts(bench, task.start, experiment, trial.plan.id, attempts))
    return {"what": task.name, "unit": "ms", **spread(overheads)}


async def _attempts(
    bench: TrialWorkbench, start: Path, experiment: Experiment, trial: str, attempts: int
) -> list[float]:
    for path in start.rglob("*"):
        if path.is_file():
            await bench.write(path.relative_to(start).as_posix(), path.read_bytes())
    if (start / "solve.py").is_file():
        await bench.exec(["python", "solve.py"])
    overheads = []
    for number in range(min(attempts, bench.attempts_left())):
        await bench.write("note.txt", str(number).encode())  # new content, so that it is judged anew
        started = time.perf_counter()
        await bench.attempt()
        total = time.perf_counter() - started
        verdict = experiment.journal.attempts(trial)[-1].verdict
        if verdict.scorecard is None:
            raise SystemExit(f"{trial} did not score: {verdict.code} {verdict.detail}")
        timings = verdict.timings
        overheads.append((total - timings.run_s - timings.evaluate_work_s) * 1000)
    return overheads


def _peer(runs: int) -> dict[str, str | float]:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import numpy, json"], check=True)
        times.append((time.perf_counter() - started) * 1000)
    return {"what": "a fresh interpreter that imports numpy (peer)", "unit": "ms", **spread(times)}


if __name__ == "__main__":
    main()
