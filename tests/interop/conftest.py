"""Small checkouts in the layouts of both projects, and the command run in this process."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from surpass.interop.nanogpt_records import RECORDS
from tests.interop.checkouts import log_text, record_folder, script, write


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def data(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "surpass" / "suites"


@pytest.fixture
def surpass(monkeypatch, capsys, tmp_path, data):
    from surpass.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["surpass", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


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
