"""What checkouts and stored runs consist of."""

from __future__ import annotations

from pathlib import Path

from surpass.interop.nanogpt_records import RECORDS

BAR = "=" * 100


def script(number: int) -> str:
    return f'import os\n\nRECORD = {number}\n# ==== a short bar\nprint("done")\n'


def log_text(source: str, *, ms: int = 1000, loss: object = 3.279, steps: int = 8, last: int | None = None, old=False):
    """As the records' scripts write it; old ones open with a bar as well."""
    last = steps if last is None else last
    lines = [
        *([BAR] if old else []),
        source.rstrip("\n"),
        BAR,
        "Running pytorch 2.6.0\nnvidia-smi:\n| H100 |",
        BAR,
        f"step:0/{steps} val_loss:10.8258 train_time:0ms step_avg:nanms",
        *(f"step:{i}/{steps} train_time:{ms * i // steps}ms step_avg:1.00ms" for i in range(1, last)),
        f"step:{last}/{steps} val_loss:{loss} train_time:{ms}ms step_avg:1.00ms",
        "peak memory consumption: 31 MiB",
    ]
    return "\n".join(lines) + "\n"


def record_folder(root: Path, number: int) -> Path:
    record = RECORDS[number]
    return root / f"{record.date}_{record.folder}"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
