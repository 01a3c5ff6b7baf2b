"""`surpass calibrate`, and `surpass show` of what it wrote, on a small ladder that needs no torch."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

from tests.verdict.ladder import write_task

SURPASS = [sys.executable, "-m", "surpass.cli.main"]


def surpass(*arguments):
    return subprocess.run([*SURPASS, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_ladder_is_measured_shown_and_drawn(tmp_path):
    write_task(tmp_path / "tasks" / "count-pairs")
    where = tmp_path / "c"
    done = surpass("calibrate", "tasks", "--tasks", tmp_path / "tasks", "--rounds", 2, "-o", where, "--json")
    assert done.returncode in (0, 1), done.stderr  # 1: two rounds may be too few for five standard errors
    document = json.loads(done.stdout)
    assert document["holds"] == (done.returncode == 0)
    assert json.loads((where / "calibration.json").read_text()) == document
    assert len((where / "runs.jsonl").read_text().splitlines()) == 2
    assert sorted(path.name for path in where.iterdir()) == ["calibration.json", "progression.svg", "runs.jsonl"]
    assert ET.fromstring((where / "progression.svg").read_text()).tag.endswith("svg")
    shown = surpass("show", where)
    assert shown.returncode == 0
    assert "r01" in shown.stdout


def test_a_suite_without_trainings_is_no_ladder(tmp_path):
    done = surpass("calibrate", "quick", "-o", tmp_path / "c")
    assert done.returncode == 3
    assert "no ladder" in done.stderr


def test_a_damaged_calibration_is_one_sentence(tmp_path):
    (tmp_path / "calibration.json").write_text('{"suite": 3}')
    done = surpass("show", tmp_path)
    assert (done.returncode, "no calibration" in done.stderr.replace("\n", " ")) == (3, True)
