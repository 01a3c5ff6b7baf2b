"""Templates, hints and stored runs of llm-speedrunner."""

from __future__ import annotations

import json
import shutil

import pytest

from surpass.cli._exit import ExitCode
from surpass.interop.nanogpt_records import TRANSITIONS
from surpass.task import load
from tests.interop.checkouts import script, write


def refused(result, *parts: str) -> None:
    assert result.code == ExitCode.UNKNOWN, result.err
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, result.err
    for part in parts:
        assert part in result.err


def template(checkout, number):
    return checkout / "workspace_templates" / "nanogpt_speedrun" / f"record_{number}"


def node(run, version: int, **metrics: object) -> None:
    write(run / f"v_{version}" / "results.json", json.dumps({"status": "COMPLETED", "metrics": metrics}))
    write(run / f"v_{version}" / "meta.json", json.dumps({"parent": 0, "children": []}))


@pytest.fixture
def results(tmp_path):
    """Task 1 (3000 -> 2900 s) three times, task 20 (1100 -> 1000 s) twice, one run each named by path and by config."""
    folder = tmp_path / "results"
    for name, ms in (("a", 2_950_000), ("b", 2_980_000)):
        node(folder / "record_1" / name, 0, val_loss=3.2775, train_time=3_000_000)
        node(folder / "record_1" / name, 1, val_loss=3.2785, train_time=ms, is_valid=True, private={})
    failed = folder / "record_3_of_old" / "c"
    write(failed / "config.yaml", "model: x\ntemplate_dirname: nanogpt_speedrun/record_1\n")
    node(failed, 1, val_loss=3.285, train_time=2_900_000, is_valid=False)
    (failed / "v_2").mkdir()
    for name in "de":
        node(folder / "speedrun_record_20_x" / name, 1, val_loss=3.27, train_time=1_050_000)
    node(folder / "record_6" / "f", 1, val_loss=3.27, train_time=1)
    node(folder / "collatz" / "g", 1, max_steps=3)
    return folder


def test_a_checkout_becomes_nineteen_tasks_twice(surpass, speedrunner, data):
    document = surpass("import", "llm-speedrunner", speedrunner, "--json").json()
    assert document["transitions"] == list(TRANSITIONS)
    assert document["records"][0]["seconds"] == 3000.0
    assert len(surpass("list", "-s", "llm-speedrunner", "--json").json()) == 38
    for folder in (data / "llm-speedrunner").glob("*/task.toml"):
        task = load(folder.parent)
        number = int(task.id.split("-")[1][1:])
        assert (task.start / "train_gpt2.py").read_text() == script(number)
        assert (task.solution("oracle") / "train_gpt2.py").read_text() == script(number + 1)
        assert "CC BY-NC" in task.source.licence
        hints = {path.name: path.read_text() for path in task.root.glob("hints/*.md")}
        expected = {"pseudocode": "level_1_pseudo", "text": "level_2_description", "paper": "level_3_paper"}
        wanted = {f"{name}.md": f"{level} of {number}\n" for name, level in expected.items()}
        assert hints == (wanted if task.id.endswith("reproduce") else {})


def test_templates_are_found_wherever_they_lie(surpass, speedrunner, tmp_path):
    shutil.move(speedrunner, tmp_path / "outer" / "inner")
    assert surpass("import", "llm-speedrunner", tmp_path / "outer").code == 0


def test_stored_runs_are_scored_both_ways(surpass, speedrunner, results, data):
    scored = surpass("import", "llm-speedrunner", speedrunner, "--results", results, "--json")
    assert scored.code == 0, scored.err
    document = scored.json()
    one, twenty = document["tasks"]
    assert (one["task"], one["runs"], one["failed"]) == (1, 3, 1)
    assert one["theirs"] == pytest.approx((1.0 + 0.5 + 0.2) / 3)  # the failed run's 3.285 passes 3.29: FSR 1
    assert one["ours"] == pytest.approx((0.5 + 0.2 - 0.5) / 3)
    assert (twenty["theirs"], twenty["ours"]) == (None, pytest.approx(0.5))
    assert document["theirs"]["mean"] == pytest.approx(1.7 / 3)
    assert document["ours"]["mean"]["value"] == pytest.approx((0.2 / 3 + 0.5) / 2)
    assert document["ours"]["mean"]["low"] <= document["ours"]["mean"]["value"] <= document["ours"]["mean"]["high"]
    assert "self-reported" in document["note"]
    assert {each["run"] for each in document["ignored"]} == {"record_6/f", "collatz/g"}
    assert not data.exists()  # scoring imports nothing


def test_the_scores_as_text(surpass, speedrunner, results):
    shown = surpass("import", "llm-speedrunner", speedrunner, "--results", results)
    for part in ("dropped", "ours: iqm", "self-reported", "best three runs"):
        assert part in shown.out
    assert "not scored: collatz/g" in shown.err


def test_nothing_stored_as_node_zero_means_the_template(surpass, speedrunner, tmp_path):
    node(tmp_path / "r" / "record_2" / "a", 1, val_loss=3.27, train_time=5_000_000)
    document = surpass("import", "llm-speedrunner", speedrunner, "--results", tmp_path / "r", "--json").json()
    assert (document["tasks"][0]["theirs"], document["tasks"][0]["ours"]) == (0.0, -0.5)
    assert document["ours"]["mean"]["low"] is None


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ('{"metrics": {"val_loss": 3.2, "train_time": "12 s"}}', "not a number"),
        ('{"metrics": {"val_loss": true, "train_time": 12}}', "not a number"),
        ('{"metrics": {"is_valid": "yes"}}', "is_valid"),
        ('{"metrics": 3}', "no JSON object"),
        ("[]", "no JSON object"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_damaged_results(surpass, speedrunner, results, text, part):
    write(results / "record_1" / "a" / "v_1" / "results.json", text)
    refused(surpass("import", "llm-speedrunner", speedrunner, "--results", results), "results.json", part)


@pytest.mark.parametrize("text", ['{"metrics": {"val_loss": NaN, "train_time": Infinity}}', "{}", '{"metrics": null}'])
def test_results_without_a_value_are_a_failure(surpass, speedrunner, tmp_path, text):
    write(tmp_path / "r" / "record_2" / "v_1" / "results.json", text)
    document = surpass("import", "llm-speedrunner", speedrunner, "--results", tmp_path / "r", "--json").json()
    assert document["tasks"][0] == {"task": 2, "runs": 1, "failed": 1, "theirs": 0.0, "ours": -0.5}


def test_no_runs(surpass, speedrunner, tmp_path):
    (tmp_path / "empty").mkdir()
    refused(surpass("import", "llm-speedrunner", speedrunner, "--results", tmp_path / "empty"), "holds no run")
    refused(surpass("import", "llm-speedrunner", speedrunner, "--results", tmp_path / "absent"), "no such folder")


def test_checkouts_that_cannot_be(surpass, speedrunner, tmp_path, data):
    refused(surpass("import", "llm-speedrunner", data), "is no checkout")
    results = template(speedrunner, 5) / "results.json"
    before = results.read_text()
    results.write_text('{"metrics": {}}')
    refused(surpass("import", "llm-speedrunner", speedrunner), "no metrics.train_time")
    results.write_text(before.replace("2600000", "2900000"))
    refused(surpass("import", "llm-speedrunner", speedrunner, "--results", tmp_path), "not faster than")
    results.unlink()
    refused(surpass("import", "llm-speedrunner", speedrunner), "results.json: is missing")
    results.write_text(before)
    hint = next(speedrunner.rglob("record_7/level_2*"))
    hint.unlink()
    refused(surpass("import", "llm-speedrunner", speedrunner), "record_7/level_2_description")
    shutil.rmtree(template(speedrunner, 9))
    refused(surpass("import", "llm-speedrunner", speedrunner), "record 9")
    assert not data.exists()


def test_an_existing_suite_needs_force(surpass, speedrunner):
    assert surpass("import", "llm-speedrunner", speedrunner).code == 0
    refused(surpass("import", "llm-speedrunner", speedrunner), "--force")
    assert surpass("import", "llm-speedrunner", speedrunner, "--force").code == 0
