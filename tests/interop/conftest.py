"""Small checkouts in the layouts of both projects, and a data folder of the test's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surpass.interop.nanogpt_records import RECORDS
from tests.interop.checkouts import log_text, record_folder, script, write


@pytest.fixture(autouse=True)
def data(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "surpass" / "suites"


@pytest.fixture
def modded(tmp_path) -> Path:
    """Records as in the real repository: two logs without source, no folder of the third, one log of each later one."""
    checkout = tmp_path / "modded"
    root = checkout / "records" / "track_1_short"
    for number in (1, 2):
        write(record_folder(root, number) / f"{RECORDS[number].log}.log", "s:0 tel:10.9\ns:1 trl:10.8\n")
    for number in range(4, 22):
        text = log_text(script(number), ms=100_000 - 1000 * number, old=number < 14)
        write(record_folder(root, number) / f"{RECORDS[number].log or 'aaaa'}-1.txt", text)
    return checkout


@pytest.fixture
def speedrunner(tmp_path) -> Path:
    """Each record takes 100 s less than the one before; the first 3000 s."""
    checkout = tmp_path / "speedrunner"
    for number in range(1, 22):
        folder = checkout / "workspace_templates" / "nanogpt_speedrun" / f"record_{number}"
        write(folder / "train_gpt2.py", script(number))
        metrics = {"n_steps": 10, "val_loss": 3.2775, "train_time": 1000 * (3100 - 100 * number)}
        write(folder / "results.json", json.dumps({"job_status": "COMPLETED", "metrics": metrics}))
    for number in range(1, 21):
        for level in ("level_0_diff", "level_1_pseudo", "level_2_description", "level_3_paper"):
            write(checkout / "data" / "knowledge" / f"record_{number}" / f"{level}.txt", f"{level} of {number}\n")
    return checkout
