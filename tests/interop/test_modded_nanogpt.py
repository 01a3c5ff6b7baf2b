"""Records of modded-nanogpt become a suite; what is damaged is one sentence, and leaves nothing behind."""

from __future__ import annotations

import json
import shutil

import pytest

from surpass.cli._exit import ExitCode
from surpass.interop.nanogpt_records import RECORDS, TRANSITIONS
from surpass.task import Catalogue, load
from tests.interop.checkouts import BAR, log_text, record_folder, script, write


def short(modded):
    return modded / "records" / "track_1_short"


def refused(result, data, *parts: str) -> None:
    assert result.code == ExitCode.UNKNOWN, result.err
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, result.err
    for part in parts:
        assert part in result.err
    assert not data.exists() or list(data.iterdir()) == []


def test_the_benchmark_has_nineteen_transitions():
    assert len(TRANSITIONS) == 19
    assert 6 not in TRANSITIONS
    assert sorted(RECORDS) == list(range(1, 22))


def test_a_checkout_becomes_a_suite_that_can_be_listed_and_loaded(surpass, modded, data):
    imported = surpass("import", "modded-nanogpt", modded, "--json")
    assert imported.code == 0, imported.err
    document = imported.json()
    assert document["transitions"] == [4, 5, *range(7, 21)]
    assert [left["transition"] for left in document["left_out"]] == [1, 2, 3]
    assert "--script 1=PATH --script 2=PATH" in document["left_out"][0]["why"]
    listed = surpass("list", "-s", "modded-nanogpt", "--json").json()
    assert len(listed) == 32 == document["tasks"]
    assert {task["deliverable"] for task in listed} == {"training"}
    for folder in sorted((data / "modded-nanogpt").glob("*/task.toml")):
        task = load(folder.parent)
        number = int(task.id.split("-")[1][1:])
        assert (task.start / "train_gpt2.py").read_text() == script(number)
        assert (task.solution("oracle") / "train_gpt2.py").read_text() == script(number + 1)
        training = task.spec.training
        assert (training.clock, training.target, training.script) == ("reported", 3.28, "train_gpt2.py")
        assert training.reported.launch[0] == "torchrun"
        assert "--nproc_per_node={gpus}" in training.reported.launch
        assert task.spec.budget.gpus == 8
        assert "MIT" in task.source.licence
        assert (task.root / "hints").is_dir() == task.id.endswith("reproduce")
        assert training.reported.variables["NANOGPT_VAL_TOKENS"] == "10485760"
    assert json.loads((data / "modded-nanogpt" / "import.json").read_text())["records"] == document["records"]


def test_the_table_names_folders_and_what_is_left_out(surpass, modded, monkeypatch):
    monkeypatch.setattr("surpass.cli.import_suite.console.width", 200)
    shown = surpass("import", "modded-nanogpt", modded, "--gpus", "1")
    assert "2024-12-08_UNetValueEmbedsTweaks" in shown.out
    assert "32 tasks" in shown.out
    assert "left out: 3 -> 4" in shown.err


def test_the_static_checks_pass(surpass, modded, data):
    surpass("import", "modded-nanogpt", modded)
    found = surpass("check", "--static", data / "modded-nanogpt" / "nanogpt-r12-reproduce", "--json").json()
    assert {row["id"] for row in found if row["status"] == "fail"} <= {"S22"}  # torch need not be here


def test_gpus_and_name_can_be_chosen(surpass, modded, data):
    assert surpass("import", "modded-nanogpt", modded, "--name", "mine", "--gpus", "2").code == 0
    spec = load(data / "mine" / "nanogpt-r20-optimise").spec
    assert (spec.budget.gpus, spec.budget.run_seconds) == (2, 4 * 3600)
    assert "--nproc_per_node=2" in load(data / "mine" / "nanogpt-r20-optimise").brief


def test_ids_do_not_clash_with_our_own_ladder(surpass, modded):
    surpass("import", "modded-nanogpt", modded)
    own = {task.id for task in Catalogue.installed().suite("speedrun")}
    assert own.isdisjoint(task.id for task in Catalogue.installed().suite("modded-nanogpt"))


def test_the_median_run_of_the_records_own_script_is_chosen(surpass, modded):
    folder = record_folder(short(modded), 15)
    shutil.rmtree(folder)
    for name, ms, loss in (("a", 5000, 3.27), ("b", 1000, 3.29), ("c", 3000, 3.28), ("d", 4000, 3.281)):
        write(folder / f"{name}.txt", log_text(script(15), ms=ms, loss=loss))
    write(folder / "ablation.txt", log_text(script(99), ms=1, loss=9.0))
    write(folder / "sub" / "cut.txt", log_text(script(98), last=3))  # another script's: of no concern
    record = surpass("import", "modded-nanogpt", modded, "--json").json()["records"][14]
    assert (record["log"], record["seconds"], record["val_loss"]) == ("c.txt", 3.0, 3.28)  # of 3 s and 4 s, the faster
    assert (record["logs"], record["other_logs"], record["reached_target"]) == (4, 2, 2)
    assert record["seconds_mean"] == pytest.approx(3.25)
    assert record["val_loss_mean"] == pytest.approx(3.28025)
    assert record["seconds_sd"] == pytest.approx(1.7078, abs=1e-4)


def test_the_log_that_the_readme_links_says_which_script_is_the_record(surpass, modded):
    folder = record_folder(short(modded), 9)
    for name in "abc":
        write(folder / f"{name}.txt", log_text(script(99)))
    record = surpass("import", "modded-nanogpt", modded, "--json").json()["records"][8]
    assert (record["log"], record["logs"], record["other_logs"]) == ("dd7304a6-1.txt", 1, 3)


def test_old_layout_and_a_folder_of_another_date(surpass, modded):
    root = modded / "records"
    for folder in list(short(modded).iterdir()):
        shutil.move(folder, root / folder.name)
    short(modded).rmdir()
    record_folder(root, 4).rename(root / "2024-10-10_Muon")
    write(root / "2025-07-18_TritonMuon" / "x.txt", log_text(script(77)))
    write(root / "2025-09-01_Muon" / "x.txt", log_text(script(78)))
    document = surpass("import", "modded-nanogpt", modded, "--json").json()
    assert document["records"][3]["folder"] == "records/2024-10-10_Muon"


def test_scripts_of_the_user_fill_the_gaps(surpass, modded, tmp_path, data):
    given = []
    for number in (1, 2, 3):
        write(tmp_path / f"r{number}.py", script(number))
        given += ["--script", f"{number}={tmp_path / f'r{number}.py'}"]
    document = surpass("import", "modded-nanogpt", modded, *given, "--json").json()
    assert document["transitions"] == list(TRANSITIONS)
    assert document["left_out"] == []
    assert (load(data / "modded-nanogpt" / "nanogpt-r01-reproduce").start / "train_gpt2.py").read_text() == script(1)


def test_a_script_in_the_folder_is_taken_where_logs_hold_none(surpass, modded):
    write(record_folder(short(modded), 2) / "train_gpt2.py", script(2))
    write(record_folder(short(modded), 1) / "train_gpt2.py", script(1))
    assert surpass("import", "modded-nanogpt", modded, "--json").json()["transitions"][:2] == [1, 4]


def test_a_records_own_words_are_a_hint(surpass, modded, data):
    write(record_folder(short(modded), 12) / "README.md", "We use FlexAttention.\n")
    surpass("import", "modded-nanogpt", modded)
    hints = data / "modded-nanogpt" / "nanogpt-r11-reproduce" / "hints"
    assert (hints / "paper.md").read_text() == "We use FlexAttention.\n"
    assert "FlexAttention" in surpass("show", "nanogpt-r11-reproduce", "--hints", "text").out


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", BAR.encode()])
def test_a_log_without_source(surpass, modded, data, content):
    (record_folder(short(modded), 12) / "8384493d-1.txt").write_bytes(content)
    refused(surpass("import", "modded-nanogpt", modded), data, "no log holds the source", "--script 12=PATH")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (log_text(script(12), last=3), "ends at step 3 of 8"),
        (log_text(script(12)).rpartition(BAR)[0] + BAR, "holds no line"),
        (log_text(script(12), loss="nan"), "is no result"),
        (log_text(script(12), loss="3.2.7"), "is no result"),
        (log_text(script(12), ms=0), "is no result"),
    ],
)
def test_a_damaged_log(surpass, modded, data, text, part):
    write(record_folder(short(modded), 12) / "8384493d-1.txt", text)
    refused(surpass("import", "modded-nanogpt", modded), data, "8384493d-1.txt", part)


def test_an_unreadable_log(surpass, modded, data):
    path = record_folder(short(modded), 12) / "8384493d-2.txt"
    path.symlink_to(path.name)  # root reads everything, so a loop stands for a file that cannot be read
    refused(surpass("import", "modded-nanogpt", modded), data, "cannot be read")


def test_a_missing_folder(surpass, modded, data):
    shutil.rmtree(record_folder(short(modded), 12))
    refused(surpass("import", "modded-nanogpt", modded), data, "FlexAttention", "--script 12=PATH")


def test_not_a_checkout(surpass, tmp_path, data):
    refused(surpass("import", "modded-nanogpt", tmp_path), data, "is no checkout")
    refused(surpass("import", "modded-nanogpt", tmp_path / "absent"), data, "is no checkout")


@pytest.mark.parametrize("name", ["../up", "", "Upper", "speedrun", "nature", "quick", "a" * 65])
def test_names_that_cannot_be(surpass, modded, data, name):
    refused(surpass("import", "modded-nanogpt", modded, "--name", name), data)


@pytest.mark.parametrize(
    ("given", "part"), [("22=x.py", "no record 22"), ("1=absent.py", "cannot be read"), ("1=bad.py", "not a Python")]
)
def test_scripts_that_cannot_be(surpass, modded, data, tmp_path, given, part):
    write(tmp_path / "bad.py", "def")
    refused(surpass("import", "modded-nanogpt", modded, "--script", given), data, part)


def test_a_script_without_a_number_is_a_usage_error(surpass, modded):
    assert surpass("import", "modded-nanogpt", modded, "--script", "x.py").code == ExitCode.USAGE


def test_an_existing_suite_is_replaced_only_by_force(surpass, modded, data):
    assert surpass("import", "modded-nanogpt", modded).code == 0
    write(data / "modded-nanogpt" / "mine.txt", "kept")
    again = surpass("import", "modded-nanogpt", modded)
    assert again.code == ExitCode.UNKNOWN
    assert "--force" in again.err
    assert (data / "modded-nanogpt" / "mine.txt").exists()
    shutil.rmtree(record_folder(short(modded), 12))
    assert surpass("import", "modded-nanogpt", modded, "--force").code == ExitCode.UNKNOWN
    assert (data / "modded-nanogpt" / "mine.txt").exists()  # a failed import leaves the old suite alone
    assert surpass("import", "modded-nanogpt", modded, "--force", "--script", f"12={__file__}").code == 0
    assert not (data / "modded-nanogpt" / "mine.txt").exists()
    assert [path.name for path in data.iterdir()] == ["modded-nanogpt"]


def test_a_data_folder_that_cannot_be_written(surpass, modded, tmp_path, monkeypatch):
    write(tmp_path / "file", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    result = surpass("import", "modded-nanogpt", modded)
    assert result.code == ExitCode.UNKNOWN
    assert "XDG_DATA_HOME" in result.err
