"""Loading a package: what is right loads, and what is wrong is named with file, line, key and a suggestion."""

import shutil

import pytest

from surpass.task import Catalogue, TaskError, Tier, UnknownNameError, load


def test_a_complete_package_loads(make_task):
    task = make_task()
    assert task.name == "local/estimate-mean"
    assert task.instance("mean").direction == "lower"
    assert task.solution("null") == task.start
    assert list(Tier) == [Tier.DEV, Tier.FEEDBACK, Tier.FINAL]


@pytest.mark.parametrize(
    ("old", "new", "at", "expected"),
    [
        ("solve_minutes = 1", "solve_minuts = 1", "solve_minuts", "did you mean 'solve_minutes'?"),
        ('metric = "error"', 'metrik = "error"', "metrik", "did you mean 'metric'?"),
        ('track = "implement"', 'track = "implemnt"', "track =", "'implement', 'optimise', 'innovate' or 'integrate'"),
        ("sota = 0.1", "sota = 2.0", "[[instance]]", "sota must be better than baseline"),
        ("range = [0.0, 1e6]", "range = [2.0, 1e6]", "[[instance]]", "must lie inside range"),
        ("range = [0.0, 1e6]", 'range = [0.0, 1e6]\nscale = "log"', "[[instance]]", "log scale needs a range above 0"),
        ("baseline = 1.0", "baseline = nan", "baseline", "finite"),
        ('version = "1.0.0"', 'version = "1"', "version", "pattern"),
    ],
)
def test_a_wrong_key_is_named_with_its_line(make_task, old, new, at, expected):
    task = make_task()
    path = task.root / "task.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    line = next(number for number, row in enumerate(path.read_text().splitlines(), 1) if at in row)
    with pytest.raises(TaskError) as caught:
        load(task.root)
    assert f"task.toml:{line}: " in str(caught.value)
    assert expected in str(caught.value)


def test_a_missing_file_a_broken_toml_and_a_renamed_folder_are_explained(make_task, tmp_path):
    task = make_task()
    with pytest.raises(TaskError, match="no such folder"):
        load(tmp_path / "nowhere")
    renamed = task.root.with_name("other-name")
    shutil.copytree(task.root, renamed)
    with pytest.raises(TaskError, match="make them equal"):
        load(renamed)
    (task.root / "task.toml").write_text("schema = ")
    with pytest.raises(TaskError, match="not valid TOML"):
        load(task.root)
    (task.root / "task.toml").unlink()
    with pytest.raises(TaskError, match="the file is missing"):
        load(task.root)


def test_a_profile_changes_settings_and_identity(make_task):
    full, quick = make_task(), make_task(profile="quick")
    assert (full.spec.settings["count"], quick.spec.settings["count"]) == (400, 100)
    assert quick.name == "local/estimate-mean@quick"
    with pytest.raises(UnknownNameError, match="did you mean 'quick'"):
        make_task(profile="quik")


def test_the_digest_follows_content_and_nothing_else(make_task, tmp_path):
    task = make_task()
    copy = tmp_path / "elsewhere" / "estimate-mean"
    shutil.copytree(task.root, copy)
    (copy / "private" / "__pycache__").mkdir()
    (copy / "private" / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert load(copy).digest == task.digest
    (copy / "brief.md").write_text("another brief")
    assert load(copy).digest != task.digest


def test_the_catalogue_finds_installed_and_own_tasks(make_task):
    task = make_task()
    catalogue = Catalogue.installed([task.root.parent])
    assert catalogue.task("estimate-mean").root == task.root
    assert catalogue.task("estimate-mean@quick").profile == "quick"
    assert "quick" in catalogue.suite_names()
    assert [t.profile for t in catalogue.suite("quick")] == ["quick"] * 3
    with pytest.raises(UnknownNameError, match="unknown task 'estimat-mean'; did you mean 'estimate-mean'"):
        catalogue.task("estimat-mean")
    with pytest.raises(UnknownNameError, match="unknown suite 'quik'; did you mean 'quick'"):
        catalogue.suite("quik")
    with pytest.raises(TaskError, match="holds no task"):
        Catalogue.installed([task.root / "hints"]).select()


def test_a_name_that_fits_two_tasks_is_refused(make_task, tmp_path):
    task = make_task()
    other = tmp_path / "more" / "estimate-mean"
    shutil.copytree(task.root, other)
    with pytest.raises(TaskError, match="ambiguous"):
        Catalogue.installed([task.root.parent, other.parent]).task("estimate-mean")
