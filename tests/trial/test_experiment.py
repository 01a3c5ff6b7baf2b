"""The experiment directory: refused when taken or busy, one sentence when the disk is not ours."""

import os
import subprocess
import sys

import pytest

from surpass.trial import (
    ExperimentBusyError,
    ExperimentError,
    StorageError,
    TaskChangedError,
    create,
    make_plan,
    open_experiment,
    without_password,
)


def test_a_plan_survives_the_disk(make_task, tmp_path):
    plan = make_plan([make_task()], ["nop", "nop", "a.b:C"], trials=2, seed=7, hints="full")
    create(tmp_path / "e", plan)
    opened = open_experiment(tmp_path / "e")
    assert opened.plan == plan
    assert opened.plan.agents == ("nop", "a.b:C")
    assert [p.seed for p in opened.plan.trial_plans()] == [7, 7, 8, 8]
    assert (tmp_path / "e" / "secret").stat().st_mode & 0o077 == 0


def test_hidden_seeds_follow_secret_task_tier_and_seed(make_task, tmp_path):
    task = make_task()
    one, two = (create(tmp_path / n, make_plan([task], ["nop"], reproducible=True)) for n in ("a", "b"))
    other = create(tmp_path / "c", make_plan([task], ["nop"]))
    assert one.hidden(task, 0) == two.hidden(task, 0)
    assert one.hidden(task, 0) != other.hidden(task, 0)
    assert len({*one.hidden(task, 0).values(), *one.hidden(task, 1).values()}) == 6


def test_an_occupied_directory_is_refused(make_task, tmp_path):
    plan = make_plan([make_task()], ["nop"])
    create(tmp_path / "e", plan)
    with pytest.raises(ExperimentError, match=r"already holds experiment .*surpass resume"):
        create(tmp_path / "e", plan)
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "thesis.tex").write_text("mine")
    with pytest.raises(ExperimentError, match=r"not empty \(it holds 'thesis.tex'\)"):
        create(tmp_path / "f", plan)
    with pytest.raises(ExperimentError, match="is a file"):
        create(tmp_path / "f" / "thesis.tex", plan)
    with pytest.raises(ExperimentError, match="holds no experiment"):
        open_experiment(tmp_path / "nowhere")


def test_a_second_process_is_refused_and_told_who_holds_it(make_experiment):
    experiment = make_experiment()
    code = (
        "import sys; from pathlib import Path; from surpass.trial import open_experiment\n"
        "with open_experiment(Path(sys.argv[1])).lock(): pass\n"
    )
    with experiment.lock():
        second = subprocess.run([sys.executable, "-c", code, str(experiment.root)], capture_output=True, text=True)
        assert second.returncode != 0
        assert f"in use by process {os.getpid()}" in second.stderr
        with pytest.raises(ExperimentBusyError), experiment.lock():
            pass
    assert subprocess.run([sys.executable, "-c", code, str(experiment.root)], check=False).returncode == 0


def test_a_changed_task_is_refused(make_experiment):
    experiment = make_experiment()
    task = experiment.task("local/estimate-mean")
    (task.root / "brief.md").write_text("another task\n")
    with pytest.raises(TaskChangedError, match="has changed since"):
        experiment.task("local/estimate-mean")


def test_damaged_files_and_a_directory_that_cannot_be_written_are_reported(make_experiment, make_task, tmp_path):
    experiment = make_experiment()
    (experiment.root / "secret").write_text("not hex")
    task = experiment.task("local/estimate-mean")
    with pytest.raises(StorageError, match="secret is damaged"):
        open_experiment(experiment.root).hidden(task, 0)
    (experiment.root / "secret").unlink()
    assert len(open_experiment(experiment.root, read_only=True).journal.trials()) == 1
    with pytest.raises(StorageError, match="proc"):
        create(tmp_path.__class__("/proc/surpass-test"), make_plan([make_task()], ["nop"]))
    experiment = make_experiment()
    (experiment.root / "surpass.db").unlink()
    with pytest.raises(StorageError, match=r"surpass\.db is missing"):
        open_experiment(experiment.root)


def test_names_that_look_alike_and_odd_directories_stay_apart(make_task, tmp_path):
    plan = make_plan([make_task()], ["m:A:x=1,y=2", "m:A:x=1 y=2"])
    assert len({trial.id for trial in plan.trial_plans()}) == 2
    for name in ("w?at", "per%41cent", "a b#c"):
        create(tmp_path / name, plan)
        for read_only in (True, False):
            assert len(open_experiment(tmp_path / name, read_only=read_only).journal.trials()) == 2
    assert not (tmp_path / "w").exists()


def test_an_archive_on_a_read_only_medium_can_be_read(make_experiment, tmp_path):
    experiment = make_experiment(trials=2)
    experiment.journal.close()
    place = tmp_path / "archive"
    place.mkdir()
    bound = subprocess.run(["mount", "--bind", "-o", "ro", str(experiment.root), str(place)], capture_output=True)
    if bound.returncode != 0:
        pytest.skip("a read-only bind mount needs root")
    try:
        assert len(open_experiment(place, read_only=True).journal.trials()) == 2
        with pytest.raises(StorageError):
            open_experiment(place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_password_is_never_stored():
    assert without_password("postgresql+psycopg://u:secret@h/db") == "postgresql+psycopg://u@h/db"
    with pytest.raises(ExperimentError, match="no database URL"):
        without_password("not a url")
