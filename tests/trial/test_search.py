"""Searches as trials: on a real, small ladder, measured for real, replayed, killed and resumed."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.verdict.ladder import write_task

AGENT = "aide:proposer=patchbank,nodes=3,drafts=2"
SURPASS = [sys.executable, "-m", "surpass.cli.main"]
POLICIES = ["flat", "tree", "forest:trees=2", "aide:drafts=2", "multi_aide:drafts=2"]
BANK = "proposer=patchbank"


@pytest.fixture(scope="module")
def ladder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    package = folder / "r01-pairs"
    write_task(package)
    text = (package / "task.toml").read_text()
    (package / "task.toml").write_text(text.replace("attempts = 3", "attempts = 9"))
    return folder


def trees_of(surpass, where):
    return surpass("show", where, "--json").json()


def command(ladder, where, agent, *more):
    return ("run", "-t", "r01-pairs", "--tasks", ladder, "-a", agent, "--seed", 1, "-o", where, *more)


@pytest.fixture(scope="module")
def measured(ladder, tmp_path_factory):
    """Every policy on the ladder, measured."""
    where = tmp_path_factory.mktemp("measured") / "e"
    agents = [part for name in POLICIES for part in ("-a", f"{name}{',' if ':' in name else ':'}{BANK},nodes=4")]
    arguments = ["run", "-t", "r01-pairs", "--tasks", ladder, *agents, "--seed", 1, "-o", where]
    done = subprocess.run([*SURPASS, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return where, agents


def test_a_search_keeps_its_tree_and_hands_in_its_best(surpass, measured):
    where, _ = measured
    trees = trees_of(surpass, where)
    assert len(trees) == len(POLICIES)
    for tree in trees.values():
        nodes = tree["nodes"]
        assert [node["id"] for node in nodes] == list(range(5))
        scores = [node["score"] for node in nodes if node["score"] is not None]
        assert nodes[tree["best"]]["score"] == max(scores)
        assert all(node["change"] or node["code"] == "no-proposal" for node in nodes[1:])
    rows = {row["agent"]: row for row in surpass("report", where, "--json").json()}
    for trial, tree in trees.items():
        row = next(row for agent, row in rows.items() if agent.partition(":")[0] == trial.split(".")[1].split("-")[0])
        assert row["recovery"] > 0.5 or tree["best"] == 0


def test_the_same_seed_with_the_measurements_replayed_gives_the_same_trees(surpass, measured, ladder, tmp_path):
    where, agents = measured
    done = surpass(
        "run", "-t", "r01-pairs", "--tasks", ladder, *agents, "--seed", 1, "-o", tmp_path / "e", "--replay", where
    )
    assert done.code == 0, done.err
    assert trees_of(surpass, tmp_path / "e") == trees_of(surpass, where)
    assert "Nothing was measured" in (done.err + done.out).replace("\n", " ")


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_killed_search_goes_on_where_it_was(surpass, measured, ladder, tmp_path, after):
    where, agents = measured
    again = tmp_path / "e"
    arguments = ["run", "-t", "r01-pairs", "--tasks", ladder, *agents, "--seed", 1, "-n", 1, "-o", again]
    process = subprocess.Popen(
        [*SURPASS, *map(str, arguments), "--replay", str(where)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline and nodes_in(again) <= after:
        time.sleep(0.005)
    killed = process.poll() is None
    if killed:
        subprocess.run(["pkill", "-KILL", "-s", str(process.pid)], check=False)
    process.wait()
    if killed:
        assert process.returncode == -signal.SIGKILL
        done = surpass("resume", again)
        assert done.code == 0, done.err
    assert trees_of(surpass, again) == trees_of(surpass, where)


def nodes_in(where):
    """Nodes journalled so far, over all trials."""
    from surpass.trial import ExperimentError, StorageError, open_experiment

    try:
        experiment = open_experiment(where, read_only=True)
    except (ExperimentError, StorageError):
        return 0
    try:
        trials = [trial.plan.id for trial in experiment.journal.trials()]
        return sum(entry["what"] == "node" for trial in trials for entry in experiment.journal.memory(trial))
    except StorageError:
        return 0
    finally:
        experiment.journal.close()


def test_a_replay_of_something_else_is_refused(surpass, measured, ladder, tmp_path):
    where, _ = measured
    done = surpass(*command(ladder, tmp_path / "e", AGENT.replace("nodes=3", "nodes=6"), "--replay", where))
    assert done.code in (0, 5)  # its nodes may happen to be among those that were measured
    done = surpass("run", "-t", "sort-kernels", "-a", "nop", "-o", tmp_path / "f", "--replay", where)
    assert "measured nothing for task" in done.err.replace("\n", " ")
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("aide", "needs"),
        (f"aide:{BANK},model=a/b", "is no model"),
        ("aide:proposer=nobody", "unknown proposer 'nobody'"),
        (f"aide:{BANK},nodez=3", "has no option 'nodez'"),
        (f"aide:{BANK},nodes=0", "at least one node"),
    ],
)
def test_a_search_that_cannot_be(surpass, ladder, tmp_path, agent, said):
    done = surpass(*command(ladder, tmp_path / "e", agent))
    assert done.code != 0
    assert said in done.err.replace("\n", " ")
    assert not (tmp_path / "e").exists()


def test_the_patchbank_needs_a_ladder(surpass, tmp_path):
    done = surpass("run", "-t", "sort-kernels", "-a", f"aide:{BANK}", "-o", tmp_path / "e")
    assert "no rung of one" in done.err.replace("\n", " ")


def test_all_searches_are_listed(surpass):
    names = {row["name"]: row["about"] for row in surpass("list", "agents", "--json").json()}
    assert {"nop", "oracle", "tuner", "flat", "tree", "forest", "aide", "multi_aide", "decompose"} <= set(names)
    assert all(names.values())
    assert json.dumps(names)
