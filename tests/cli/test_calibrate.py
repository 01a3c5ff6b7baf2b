"""`surpass calibrate`, and `surpass show` of what it wrote, on a small ladder that needs no torch."""

import json
import xml.etree.ElementTree as ET

from tests.verdict.ladder import write_task


def test_a_ladder_is_measured_shown_and_drawn(surpass, tmp_path):
    write_task(tmp_path / "tasks" / "r01-pairs")
    where = tmp_path / "c"
    done = surpass("calibrate", "tasks", "--tasks", tmp_path / "tasks", "--rounds", 2, "-o", where, "--json")
    assert done.code in (0, 1), done.err  # 1: two rounds may be too few for five standard errors
    document = done.json()
    assert document["holds"] == (done.code == 0)
    assert json.loads((where / "calibration.json").read_text()) == document
    assert len((where / "runs.jsonl").read_text().splitlines()) >= 2
    assert sorted(path.name for path in where.iterdir()) == ["calibration.json", "progression.svg", "runs.jsonl"]
    assert ET.fromstring((where / "progression.svg").read_text()).tag.endswith("svg")
    shown = surpass("show", where)
    assert shown.code == 0
    assert "r01" in shown.out


def test_an_interrupted_calibration_goes_on_and_never_mixes(surpass, tmp_path):
    package = write_task(tmp_path / "tasks" / "r01-pairs").root
    where = tmp_path / "c"
    command = ("calibrate", "tasks", "--tasks", tmp_path / "tasks", "--rounds", 2, "-o", where, "--json")
    assert surpass(*command).code in (0, 1)
    runs = (where / "runs.jsonl").read_text().splitlines()
    (where / "runs.jsonl").write_text(runs[0] + "\n" + runs[1][:100])  # killed while it wrote the second
    assert surpass(*command).code in (0, 1)
    after = (where / "runs.jsonl").read_text().splitlines()
    assert after[0] == runs[0]
    assert {json.loads(row)["round"] for row in after[:2]} == {0, 1}
    (package / "brief.md").write_text("Another task.\n")
    done = surpass(*command)
    assert done.code != 0
    assert "choose another folder" in done.err.replace("\n", " ")


def test_a_suite_without_trainings_is_no_ladder(surpass, tmp_path):
    done = surpass("calibrate", "quick", "-o", tmp_path / "c")
    assert done.code == 3
    assert "no ladder" in done.err


def test_a_damaged_calibration_is_one_sentence(surpass, tmp_path):
    (tmp_path / "calibration.json").write_text('{"suite": 3}')
    done = surpass("show", tmp_path)
    assert (done.code, "no calibration" in done.err.replace("\n", " ")) == (3, True)


def test_a_tier_that_cannot_be_calibrated_on(surpass, tmp_path):
    done = surpass("calibrate", "speedrun", "--tier", "dev", "-o", tmp_path / "c")
    assert (done.code, "feedback" in done.err) == (3, True)
