"""A real training task that needs no torch: bigram counts of a Markov chain, counted in a slow loop.

It uses the speedrun suite's own driver, so that what examines the real models is what is tested here.
"""

import json
from pathlib import Path
from string import Template

import numpy as np

from surpass.task import load

SUITE = Path(__file__).parents[2] / "src/surpass/suites/speedrun"
VOCABULARY, SEQUENCE, STEPS, CHUNK = 64, 32, 2400, 1000

TOML = """
schema = 1
id = "r01-pairs"
version = "1.0.0"
title = "Count pairs in less time"
domain = "language-models"
track = "optimise"
deliverable = "training"
fixed_data = true

[submission]
files = ["train.py"]

[training]
target = {target}
libraries = ["numpy"]
export_kb = 256
clock = "{clock}"
envelope = {envelope}

[budget]
solve_minutes = 1
attempts = 3
run_seconds = 20
evaluate_seconds = 20
memory_mb = 512
disk_mb = 8
pids = 16

[[instance]]
name = "speedup"
metric = "fsr"
direction = "higher"
unit = "1"
baseline = 0.0
sota = 1.0
range = [-100.0, 100.0]
"""

START = Template("""
import json
import sys
from pathlib import Path

import numpy as np

SIZES = {"only": {"steps": $steps}}


def train(data, out, seed):
    rng = np.random.default_rng(seed)
    size = json.loads((Path(data) / "meta.json").read_text())["vocab_size"]
    tokens = np.fromfile(Path(data) / "train.bin", dtype=np.uint16)
    steps = SIZES["only"]["steps"]
    counts = [[0.1] * size for _ in range(size)]
    for step in range(steps):
        start = int(rng.integers(0, len(tokens) - $chunk - 1))
        window = tokens[start : start + $chunk + 1].tolist()
        for _ in range(4):  # needless work, which a submission may save
            for before, after in zip(window, window[1:], strict=False):
                counts[before][after] += 0.25
        if (step + 1) % max(1, steps // 40) == 0 or step + 1 == steps:
            print(f"step {step + 1}/{steps} train_loss {4 * 0.5 ** (step / steps):.4f}", flush=True)
    table = np.array(counts, dtype=np.float32)
    np.savez(Path(out) / "model.npz", logits=np.log(table / table.sum(1, keepdims=True)))


def load(out):
    with np.load(Path(out) / "model.npz") as file:
        table = file["logits"]
    return lambda tokens: table[tokens]


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
""").substitute(steps=STEPS, chunk=CHUNK)

GENERATE = f"""
import hashlib, json
import numpy as np

def chain(rng, rows, count):
    out = np.empty(count, dtype=np.uint16)
    state = 0
    for i, u in enumerate(rng.random(count)):
        state = int(np.searchsorted(rows[state], u))
        out[i] = min(state, {VOCABULARY} - 1)
    return out

def generate(tier, seed, inputs, truth):
    rng = np.random.default_rng(5)
    rows = np.cumsum(rng.dirichlet(np.full({VOCABULARY}, 0.5), {VOCABULARY}), axis=1)
    meta = {{"vocab_size": {VOCABULARY}, "sequence": {SEQUENCE}, "profile": "only"}}
    train = chain(rng, rows, 300_000)
    (inputs / "train.bin").write_bytes(train.tobytes())
    (inputs / "meta.json").write_text(json.dumps(meta))
    if tier == "dev":
        return
    rng = np.random.default_rng(7)
    val = chain(rng, rows, 300 * ({SEQUENCE} + 1))
    (truth / "val.bin").write_bytes(val.tobytes())
    (truth / "meta.json").write_text(json.dumps(meta | {{"sha256": hashlib.sha256(val.tobytes()).hexdigest()}}))
"""

SOURCE = """
licence = "none needed"

[paper]
title = "On pairs"
authors = ["Somebody"]
venue = "Journal of Examples"
year = 2020
doi = "10.1234/example"

[[row]]
instance = "speedup"
sota = "1"
where = "by definition"
checked = "read"
"""


def write_task(
    root: Path, *, target: float = 3.459, clock: str = "cpu", envelope=(), reference_steps: int = STEPS // 2
):
    """A package whose reference counts half as many chunks as its start."""
    files = {
        "task.toml": TOML.format(target=target, clock=clock, envelope=json.dumps(envelope)),
        "brief.md": "Count pairs.\n",
        "private/generate.py": GENERATE,
        "private/driver.py": (SUITE / "shared/driver.py").read_text(),
        "private/source.toml": SOURCE,
        "public/start/train.py": START,
        "solutions/oracle/train.py": START.replace(f'"steps": {STEPS}', f'"steps": {reference_steps}'),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text.lstrip("\n"))
    return load(root)


def hidden_loss(steps: int) -> float:
    """What that many steps reach on the final tier, without the harness: to choose a target by."""
    import tempfile

    space: dict = {}
    exec(compile(GENERATE, "generate.py", "exec"), space)
    trainer: dict = {"__name__": "trainer"}
    exec(compile(START, "train.py", "exec"), trainer)
    trainer["SIZES"]["only"]["steps"] = steps
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("inputs", "truth", "out"):
            (place / name).mkdir()
        space["generate"]("final", 0, place / "inputs", place / "truth")
        trainer["train"](place / "inputs", place / "out", 1)
        rows = np.fromfile(place / "truth/val.bin", np.uint16).astype(np.int64).reshape(-1, SEQUENCE + 1)
        logits = trainer["load"](place / "out")(rows[:, :-1]).astype(float)
    return float(-np.take_along_axis(logits, rows[:, 1:, None], -1).mean())
