"""A solution folder becomes a submission exactly as an agent's workspace does."""

from __future__ import annotations

import pytest

from surpass.task import Tier
from surpass.verdict import Judge, Outcome, Rejection, judge_solution, stage_solution


@pytest.fixture
def judge(package, sandbox, tmp_path):
    hidden = {tier: number for number, tier in enumerate(Tier)}
    with Judge(package(), sandbox, place=tmp_path / "place", data=tmp_path / "data", hidden=hidden) as judge:
        yield judge


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "solution"
    path.mkdir()
    return path


def test_a_solution_lies_over_the_start_and_its_script_is_run(judge, sandbox, tmp_path, folder):
    (folder / "solve.py").write_text(
        "import os; os.mkdir('made'); print(os.listdir('/data/final'), os.listdir('/task'))"
    )
    (folder / "more").mkdir()
    (folder / "more" / "notes.txt").write_text("x")
    done = stage_solution(judge, folder, tmp_path / "work", sandbox)
    assert done is not None
    assert done.stdout.strip() == b"['inputs'] ['start']"
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == ["made", "more", "solve.py"]


def test_the_start_is_not_run_for_a_folder_without_a_script(judge, sandbox, tmp_path, folder):
    (folder / "answers.txt").write_text("x")
    assert stage_solution(judge, folder, tmp_path / "work", sandbox) is None
    assert not (tmp_path / "work" / "outputs").exists()


def test_a_file_replaces_a_folder_and_the_other_way_round(judge, sandbox, tmp_path, folder):
    (folder / "solve.py").mkdir()
    (folder / "solve.py" / "inner").write_text("x")
    assert stage_solution(judge, folder, tmp_path / "work", sandbox) is None
    assert (tmp_path / "work" / "solve.py" / "inner").is_file()


def test_links_are_refused_before_anything_is_read(judge, sandbox, tmp_path, folder):
    (folder / "solve.py").symlink_to("/etc/passwd")
    with pytest.raises(Rejection) as caught:
        stage_solution(judge, folder, tmp_path / "work", sandbox)
    assert (caught.value.outcome, caught.value.code) == (Outcome.INVALID, "link")


def test_a_failing_script_is_a_rejection(judge, sandbox, tmp_path, folder):
    (folder / "solve.py").write_text("raise SystemExit(7)")
    with pytest.raises(Rejection) as caught:
        stage_solution(judge, folder, tmp_path / "work", sandbox)
    assert caught.value.code == "crashed"
    assert judge_solution(judge, folder, tmp_path / "place" / "1", sandbox).code == "crashed"


def test_the_oracle_is_judged(judge, sandbox, tmp_path):
    verdict = judge_solution(judge, judge.task.solution("oracle"), tmp_path / "place" / "1", sandbox)
    assert verdict.outcome is Outcome.DONE
