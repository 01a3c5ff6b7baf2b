"""Null and oracle on the speedrun ladder: is the score 0 and 1 within its interval, and what does it cost to know?

For each transition the unchanged start and the reference are judged at the final tier, as any submission is, also
beside busy processes. Beside our interval stands what the published rule gives on the same machine: a stored baseline,
one run a submission, the best of 20 (arXiv 2506.22419). Its draws are real single-run times from these judgements,
relative to each task's mean and resampled. A slower submission (the record before the start) and an endless one show
what early stopping saves against a protocol that runs everybody to the end.

    python benchmarks/speedrun_calibration.py --profile micro --json
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from surpass.measure import fingerprint
from surpass.sandbox import Sandbox, open_sandbox, require_safe
from surpass.task import Catalogue, Task, Tier
from surpass.verdict import Judge, Verdict, judge_solution

WIDE_GAP, NARROW, WIDE = 0.15, 0.15, 0.05
"""A half-width of 0.05 is asked for where the reference saves more than 15 %, else 0.15."""
COST = 12.0
"""Most baseline runs that one judgement may cost."""
BEST_OF, DRAWS = 20, 2000


@dataclass(frozen=True)
class Line:
    """One control arm on one task."""

    task: str
    arm: str
    busy: int
    fsr: float
    low: float
    high: float
    half_width: float
    gap: float
    rounds: int
    cost: float
    loss: float
    holds: bool
    published: float
    """Mean score by the published rule, for the same submission on the same machine."""


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Other people's work: processes that keep a core each busy, with memory traffic."""
    spin = "import numpy as np\na = np.random.rand(1500, 1500)\nwhile True: a = a @ a / 800"
    others = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def judged(task: Task, folder: Path, sandbox: Sandbox, root: Path, data: Path) -> Verdict:
    """One judgement at the final tier, with a secret of its own."""
    place = root / secrets.token_hex(4)
    hidden = {tier: secrets.randbits(56) for tier in Tier}
    with Judge(task, sandbox, place=place, data=data, hidden=hidden) as judge:
        verdict = judge_solution(judge, folder, place / "one", sandbox)
    shutil.rmtree(place, ignore_errors=True)
    return verdict


def controls(task: Task, sandbox: Sandbox, root: Path, data: Path) -> dict[str, Verdict]:
    """The unchanged start and the reference, judged one after the other."""
    return {arm: judged(task, task.solution(arm), sandbox, root, data) for arm in ("null", "oracle")}


def line(task: Task, arm: str, load: int, verdict: Verdict, noise: list[float]) -> Line | None:
    """The figures of a verdict; None for one without a score, which is a finding of its own."""
    metrics = verdict.metrics.get("speedup")
    if metrics is None:
        print(f"{task.name} {arm}: {verdict.outcome} {verdict.code} {verdict.detail}", file=sys.stderr)
        return None
    truth = 0.0 if arm == "null" else 1.0
    gap = 1 - metrics["human_seconds"] / metrics["baseline_seconds"]
    half = (metrics["fsr_high"] - metrics["fsr_low"]) / 2
    wanted = WIDE if gap > WIDE_GAP else NARROW
    inside = metrics["fsr_low"] <= truth <= metrics["fsr_high"]
    return Line(
        task=task.name,
        arm=arm,
        busy=load,
        fsr=metrics["fsr"],
        low=metrics["fsr_low"],
        high=metrics["fsr_high"],
        half_width=half,
        gap=gap,
        rounds=int(metrics["rounds"]),
        cost=metrics["cost"],
        loss=metrics["loss"],
        holds=inside and half <= wanted and metrics["cost"] <= COST,
        published=published(truth, gap, noise),
    )


def published(truth: float, gap: float, noise: list[float]) -> float:
    """Mean over many draws of: (stored baseline - best of 20 runs) / (stored baseline - stored reference)."""
    if len(noise) < 3:
        return math.nan
    rng = np.random.default_rng(0)
    draw = rng.choice(np.array(noise), size=(DRAWS, BEST_OF + 2))
    baseline, reference = draw[:, 0], (1 - gap) * draw[:, 1]
    best = ((1 - gap * truth) * draw[:, 2:]).min(axis=1)
    scores = (baseline - np.minimum(best, baseline)) / (baseline - reference)
    return float(np.where((scores < 0) | (scores > 3), 0.0, scores).mean())


def single_run_noise(verdicts: list[Verdict], repeats: dict[str, list[float]]) -> list[float]:
    """Single baseline times relative to their task's mean, over all judgements so far."""
    for verdict in verdicts:
        if "speedup" in verdict.metrics:
            repeats.setdefault(verdict.task, []).append(verdict.metrics["speedup"]["baseline_seconds"])
    return [value / statistics.fmean(values) for values in repeats.values() if len(values) > 1 for value in values]


def early_stopping(task: Task, before: Path, sandbox: Sandbox, root: Path, data: Path) -> list[dict[str, object]]:
    """CPU seconds until losers are refused, beside the least that a protocol without early stopping would take."""
    fair = judged(task, task.start, sandbox, root, data).metrics["speedup"]
    pair = fair["baseline_seconds"] + fair["human_seconds"]
    losers = {
        # Three rounds to the end; a slower script takes at least as long as the baseline.
        "slower": (before, 3 * (pair + fair["baseline_seconds"])),
        # One round, until the limit of a run.
        "endless": (task.solution("evil-endless"), pair + task.spec.budget.run_seconds),
    }
    rows: list[dict[str, object]] = []
    for name, (folder, plain) in losers.items():
        used = sandbox_seconds()
        code = judged(task, folder, sandbox, root, data).code
        spent = sandbox_seconds() - used
        rows.append({"task": task.name, "loser": name, "code": code, "cpu_s": spent, "plain_cpu_s_at_least": plain})
    return rows


def sandbox_seconds() -> float:
    """CPU seconds of all ended children of this process: sandboxes are waited for, so their trees are in it."""
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="micro", choices=["micro", "full"])
    parser.add_argument("--tasks", default="", help="comma-separated records, for example r04,r15; default all")
    parser.add_argument("--busy", default="0,1,2", help="numbers of busy processes beside the measurement")
    cores = os.cpu_count() or 1
    parser.add_argument("--workers", type=int, default=cores, help="judgements at once, each busy to the others")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    sandbox = open_sandbox()
    require_safe(sandbox)
    tasks = Catalogue.installed().suite("speedrun", profile="" if options.profile == "full" else "micro")
    tasks = [task for task in tasks if task.id.endswith("-reproduce")]
    chosen = [task for task in tasks if not options.tasks or task.id.partition("-")[0] in options.tasks.split(",")]
    lines: list[Line] = []
    stops: list[dict[str, object]] = []
    repeats: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="surpass-benchmark-") as folder:
        root, data = Path(folder), Path(folder) / "data"
        for load in map(int, options.busy.split(",")):
            with busy(load), ThreadPoolExecutor(options.workers) as pool:
                both = pool.map(lambda task: controls(task, sandbox, root, data), chosen)
                for task, verdicts in zip(chosen, both, strict=True):
                    noise = single_run_noise(list(verdicts.values()), repeats)
                    for arm, verdict in verdicts.items():
                        if found := line(task, arm, load, verdict, noise):
                            lines.append(found)
                            show(found)
        for task in chosen[4::4]:
            stops.extend(early_stopping(task, tasks[tasks.index(task) - 1].start, sandbox, root, data))
    report = {
        "benchmark": "speedrun_calibration",
        "profile": options.profile,
        "machine": asdict(fingerprint()),
        "workers": options.workers,
        "lines": [asdict(each) for each in lines],
        "early_stopping": stops,
        "holds": sum(each.holds for each in lines),
        "of": len(lines),
    }
    if options.json:
        print(json.dumps(report, indent=1, default=str))
    else:
        print(f"{report['holds']} of {report['of']} hold; early stopping: {stops}")


def show(found: Line) -> None:
    """A row as it comes: the whole takes a while."""
    print(
        f"{found.task:<32} {found.arm:<7} busy {found.busy}  {found.fsr:+.3f} [{found.low:+.3f}, {found.high:+.3f}] "
        f"+-{found.half_width:.3f}  gap {found.gap:5.1%}  {found.rounds} rounds, {found.cost:4.1f} baselines  "
        f"published {found.published:+.2f}  {'holds' if found.holds else 'FAILS'}",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main()
