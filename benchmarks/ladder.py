"""The speedrun ladder measured afresh: loss and CPU seconds of every record, and whether the ladder's rules hold.

Records run interleaved (r01, r02, ..., then the next seed), each in a fresh process with one thread. The clock is the
CPU time of that process and its children between the hand-over to `train()` and its return; importing Python, numpy and
torch is outside, everything else is inside. The loss is computed here from the exported model's logits, on all
tokens of the final validation split. Rules: the mean loss is at least three seed standard deviations below target;
every record saves at least 6 % of its predecessor's time and at least five standard errors of the paired difference.

    python benchmarks/ladder.py --profile micro --seeds 3 --json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

SUITE = Path(__file__).resolve().parents[1] / "src/surpass/suites/speedrun"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
SAVING, ERRORS, MARGIN = 0.06, 5.0, 3.0

RUNNER = """
import importlib.util, json, resource, sys
from pathlib import Path
import numpy, torch
def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(r.ru_utime + r.ru_stime for r in both)
script, data, out, seed, overrides = sys.argv[1:]
spec = importlib.util.spec_from_file_location("record", script)
start = used()
record = importlib.util.module_from_spec(spec)
sys.modules["record"] = record
spec.loader.exec_module(record)
for sizes in record.SIZES.values():
    sizes.update(json.loads(overrides))
record.train(Path(data), Path(out), int(seed))
cpu = used() - start
profile = json.loads((Path(data) / "meta.json").read_text())["profile"]
print(json.dumps({"cpu": cpu, "steps": record.SIZES[profile]["steps"]}))
"""

EVALUATOR = """
import importlib.util, json, sys
from pathlib import Path
import numpy as np
script, out, data, overrides = sys.argv[1:]
spec = importlib.util.spec_from_file_location("record", script)
record = importlib.util.module_from_spec(spec)
sys.modules["record"] = record
spec.loader.exec_module(record)
for sizes in record.SIZES.values():
    sizes.update(json.loads(overrides))
length = json.loads((Path(data) / "meta.json").read_text())["sequence"]
rows = np.fromfile(Path(data) / "val.bin", dtype=np.uint16).astype(np.int64).reshape(-1, length + 1)
logits, total = record.load(Path(out)), 0.0
for i in range(0, len(rows), 32):
    batch = rows[i : i + 32]
    z = logits(batch[:, :-1]).astype(np.float64)
    z -= z.max(-1, keepdims=True)
    chosen = np.take_along_axis(z, batch[:, 1:, None], -1)[..., 0]
    total += float((np.log(np.exp(z).sum(-1)) - chosen).sum())
print(total / (len(rows) * length))
"""


@dataclass(frozen=True)
class Run:
    record: str
    seed: int
    steps: int
    loss: float
    cpu: float


def child(code: str, *arguments: str) -> str:
    """Standard output of a fresh Python that runs `code`, one thread."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments[0]} failed:\n{done.stderr[-2000:]}")
    return done.stdout.strip().splitlines()[-1]


def measure(script: Path, data: Path, seed: int, split: str = "final", overrides: str = "{}") -> Run:
    """Train one record and score what it exported."""
    with tempfile.TemporaryDirectory() as folder:
        told = json.loads(child(RUNNER, str(script), str(data / "train"), folder, str(seed), overrides))
        loss = float(child(EVALUATOR, str(script), folder, str(data / split), overrides))
    return Run(script.stem, seed, told["steps"], loss, told["cpu"])


def table(runs: list[Run], target: float) -> list[dict[str, object]]:
    """One row a record, in ladder order; runs of the same seed in neighbouring records are pairs."""
    rows: list[dict[str, object]] = []
    before: dict[int, float] | None = None
    for name in sorted({run.record for run in runs}):
        mine = [run for run in runs if run.record == name]
        losses, times = [run.loss for run in mine], {run.seed: run.cpu for run in mine}
        loss = statistics.fmean(losses)
        spread = statistics.stdev(losses) if len(losses) > 1 else math.nan
        margin = (target - loss) / spread if spread else math.nan
        saving = error = math.nan
        if before is not None:
            pairs = [(before[seed], times[seed]) for seed in times if seed in before]
            was = statistics.fmean(a for a, _ in pairs)
            saving = 1 - statistics.fmean(b for _, b in pairs) / was
            if len(pairs) > 1:
                error = statistics.stdev(a - b for a, b in pairs) / math.sqrt(len(pairs)) / was
        faster = before is None or (saving >= SAVING and saving >= ERRORS * error)
        rows.append(
            {
                "record": name,
                "seeds": len(mine),
                "steps": mine[0].steps,
                "loss": round(loss, 4),
                "sd": round(spread, 4),
                "margin_sd": round(margin, 1),
                "passed": sum(value <= target for value in losses),
                "cpu_s": round(statistics.fmean(times.values()), 2),
                "saving": round(saving, 3),
                "error": round(error, 4),
                "loss_rule": margin >= MARGIN,
                "time_rule": faster,
            }
        )
        before = times
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=["full", "micro"], default="micro")
    parser.add_argument("--seeds", type=int, default=3, help="fresh seeds a record")
    parser.add_argument("--first-seed", type=int, default=None, help="default: drawn from the operating system")
    parser.add_argument("--records", default="", help="comma-separated, for example r03,r04; default all")
    parser.add_argument("--data", type=Path, help="a folder that data.py built; default: built in a temporary folder")
    parser.add_argument("--split", choices=["feedback", "final"], default="final")
    parser.add_argument("--set", default="{}", help='JSON that overrides sizes, for scouting: {"steps": 300}')
    parser.add_argument("--log", type=Path, help="append every run to this file as a JSON line")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    target = json.loads((SUITE / "targets.json").read_text())[options.profile]
    scripts = sorted((SUITE / "records").glob("r[0-9][0-9].py"))
    if options.records:
        scripts = [script for script in scripts if script.stem in options.records.split(",")]
    first = options.first_seed if options.first_seed is not None else int.from_bytes(os.urandom(3)) * 100
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        data = options.data or Path(folder)
        if options.data is None:
            subprocess.run([sys.executable, str(SUITE / "data.py"), folder, options.profile], check=True, stdout=2)
        for seed in range(first, first + options.seeds):
            for script in scripts:
                run = measure(script, data, seed, options.split, options.set)
                runs.append(run)
                line = json.dumps({"profile": options.profile, "split": options.split, **asdict(run)})
                print(line, file=sys.stderr, flush=True)
                if options.log:
                    with options.log.open("a") as log:
                        log.write(line + "\n")
    rows = table(runs, target)
    if options.json:
        print(json.dumps({"benchmark": "ladder", "profile": options.profile, "target": target, "rows": rows}, indent=1))
    else:
        print(f"{options.profile} profile, target {target} nats a token on the {options.split} split")
        print("  ".join(f"{name:>9}" for name in rows[0]))
        for row in rows:
            print("  ".join(f"{value!s:>9}" for value in row.values()))
    if not all(row["loss_rule"] and row["time_rule"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
