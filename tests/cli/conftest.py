"""Run the command in this process, as a shell would: arguments in, exit code and both streams out."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def surpass(monkeypatch, capsys, tmp_path):
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
