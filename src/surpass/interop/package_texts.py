"""The texts of an imported package, with places for what differs between them."""

from __future__ import annotations

__all__ = ["BRIEF", "SOURCE", "TASK"]

TASK = """\
schema = 1
id = $id
version = "1.0.0"
title = $title
domain = "language-models"
track = $track
deliverable = "training"
fixed_data = true

[submission]
files = ["train_gpt2.py"]

[training]
script = "train_gpt2.py"
clock = "reported"
target = $target
source_kb = 256

[training.reported]
launch = ["torchrun", "--standalone", "--nproc_per_node={gpus}", "train_gpt2.py"]
data = "data/fineweb10B"
logs = "logs/*.txt"
loss_sd = $loss_sd

[training.reported.variables]
NANOGPT_TRAIN_FILES = "data/fineweb10B/fineweb_train_*.bin"
NANOGPT_VAL_FILES = "data/fineweb10B/fineweb_val_*.bin"
NANOGPT_VAL_TOKENS = "10485760"

[budget]
solve_minutes = 1200
attempts = 20
run_seconds = $run_seconds
evaluate_seconds = 60
memory_mb = 262144
cpus = $cpus
gpus = $gpus
disk_mb = 65536
pids = 4096

[environment]
requirements = $requirements
install = "install the PyTorch of the record's time; the log of the record names it"

[feedback]
detail = "score"
decimals = 2

[claims]
tie_band = 0.05

[[instance]]
name = "speedup"
metric = "fsr"
direction = "higher"
unit = "1"
baseline = 0.0
sota = 1.0
range = [-100.0, 100.0]
scale = "linear"
"""

SOURCE = """\
licence = $licence

[paper]
title = "The Automated LLM Speedrunning Benchmark: Reproducing NanoGPT Improvements"
authors = ["Bingchen Zhao", "and others"]
venue = "arXiv"
year = 2025
doi = "10.48550/arXiv.2506.22419"

[[row]]
instance = "speedup"
sota = "1"
where = "section 2, the definition of FSR, here for one transition between records"
checked = $origin
"""

BRIEF = """\
# Train a GPT-2-sized language model to a given loss in less time

The workspace holds `train_gpt2.py`, a complete script that trains a language model of 124M parameters on FineWeb text
until it reaches the target: a mean loss of at most $target nats a token on the first 10,485,760 tokens of the
validation shard. Change the script so that it still reaches the target, in less training time.

## Input

The script is started on one machine by `torchrun --standalone --nproc_per_node=$gpus train_gpt2.py`, with its folder
as working directory. It reads training and validation tokens from the files that the unchanged script names, some in
environment variables.

## Output

- `train_gpt2.py`, one file of UTF-8 text, at most 256 kB.
- At the end of training the script reports one line `step:N/N val_loss:X train_time:Yms`, on standard output or in its
  log file, as the unchanged script does. X is the mean loss on the validation tokens named above, Y the milliseconds of
  training. What the unchanged script counts as training time must stay counted: no training outside the clock, none on
  validation tokens.
- The number and order of validation tokens, and the prediction of each from earlier ones alone, stay as they are.

## Measurement

    fsr = (T_start - T_yours) / (T_start - T_reference)

is the metric of the one instance, `speedup`: the unchanged start has 0, the reference 1, and higher is better. The
times are those that the scripts report. A run that misses the target, crashes, or takes longer than it may, fails.
"""
