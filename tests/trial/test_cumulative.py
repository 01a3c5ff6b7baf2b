"""Cumulative experiments: each task starts from what the same agent made of the one before."""

import sys

import pytest

from surpass.trial import LocalEngine, State, create, execute, make_plan, open_experiment, pending

AGENT = """
class A:
    name = "builder"
    def __init__(self, task):
        self.task = task
    async def solve(self, bench):
        done = await bench.exec(["sh", "-c", "cat trail.txt 2>/dev/null; true"])
        trail = done.stdout + self.task.id.encode() + b" "
        await bench.write("trail.txt", trail)
        if self.task.id == "r02-long":
            await bench.exec(["rm", "-r", "outputs"])
            return
        await bench.exec(["python", "solve.py"])
        await bench.attempt()
"""


@pytest.fixture
def chain(tmp_path, make_task, monkeypatch):
    (tmp_path / "builder_agent.py").write_text(AGENT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("builder_agent", None)
    tasks = [
        make_task(name=name) for name in ("r01-long", "r02-long", "r03-long", "r01-short", "r02-short", "r04-short")
    ]
    plan = make_plan(tasks, ["builder_agent:A"], trials=2, cumulative=True)
    return create(tmp_path / "e", plan)


def run(experiment):
    with experiment.lock() as lock, LocalEngine(experiment.root, concurrency=2, inherit=[lock]) as engine:
        execute(experiment, engine, lambda _: None)


def trail(experiment, task, index):
    trial = next(t for t in experiment.journal.trials() if t.plan.task == f"local/{task}" and t.plan.index == index)
    return trial.state, (experiment.folder(trial.plan.id).workspace / "trail.txt").read_text().split()


def test_predecessors_are_the_same_agent_index_and_variant(chain):
    plans = {(plan.task, plan.index): plan for plan in chain.plan.trial_plans()}
    before = {key: chain.plan.predecessor(plan) for key, plan in plans.items()}
    assert before["local/r01-long", 0] is None
    assert before["local/r02-long", 1] == plans["local/r01-long", 1].id
    assert before["local/r04-short", 0] is None  # the rung below is not part of the experiment
    assert before["local/r02-short", 0] == plans["local/r01-short", 0].id


def test_work_is_handed_on_and_a_failure_is_not_built_upon(chain):
    run(chain)
    for index in (0, 1):
        assert trail(chain, "r01-long", index) == (State.DONE, ["r01-long"])
        state, marks = trail(chain, "r02-long", index)
        assert (state is not State.DONE, marks) == (True, ["r01-long", "r02-long"])
        assert trail(chain, "r03-long", index) == (State.DONE, ["r01-long", "r03-long"])
        assert trail(chain, "r02-short", index) == (State.DONE, ["r01-short", "r02-short"])


def test_an_interrupted_chain_goes_on_where_it_stood(chain):
    with (
        chain.lock() as lock,
        LocalEngine(chain.root, concurrency=1, inherit=[lock]) as engine,
        pytest.raises(KeyboardInterrupt),
    ):
        execute(chain, engine, _stop_after(2))
    again = open_experiment(chain.root)
    assert len(pending(again)) == 10
    run(again)
    assert pending(again) == []
    assert trail(again, "r03-long", 1) == (State.DONE, ["r01-long", "r03-long"])


def _stop_after(count):
    ended = []

    def stop(trial):
        ended.append(trial)
        if len(ended) == count:
            raise KeyboardInterrupt

    return stop
