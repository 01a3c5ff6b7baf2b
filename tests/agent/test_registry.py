"""Names on the command line become agents, or one sentence that says what is wrong."""

import sys

import pytest

from surpass.agent import AgentError, build, check_name, with_model
from surpass.agent.tuner import TunerAgent


def test_built_in_agents_take_options(make_task):
    task = make_task()
    assert build("nop", task).name == "nop"
    tuner = build("tuner:trials=5", task)
    assert isinstance(tuner, TunerAgent)
    assert tuner._trials == 5


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("orcale", "did you mean 'oracle'"),
        ("gpt", "module:Class"),
        ("no.such.module:Agent", "cannot be imported"),
        ("pathlib:Nothing", "cannot be imported"),
        ("tuner:trials", "key=value"),
    ],
)
def test_unknown_agents_are_explained(spec, expected):
    with pytest.raises(AgentError, match=expected):
        check_name(spec)


def test_an_option_that_the_agent_does_not_take_is_explained(make_task):
    with pytest.raises(AgentError, match="unexpected keyword"):
        build("tuner:trails=5", make_task())


def test_an_agent_of_ones_own(make_task, tmp_path, monkeypatch):
    (tmp_path / "own_agent_for_test.py").write_text(
        "class Mine:\n    name = 'mine'\n    def __init__(self, depth=1):\n        self.depth = depth\n"
        "    async def solve(self, bench):\n        await bench.attempt()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert build("own_agent_for_test:Mine:depth=3", make_task()).depth == 3
    sys.modules.pop("own_agent_for_test")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("react", "react:model=a/b"),
        ("react:tools=shell", "react:tools=shell,model=a/b"),
        ("react:model=c/d", "react:model=c/d"),
        ("nop", "nop"),
        ("tuner:trials=3", "tuner:trials=3"),
        ("tests.agent.own:Talker", "tests.agent.own:Talker:model=a/b"),
        ("tests.agent.own:Talker:x=1", "tests.agent.own:Talker:x=1,model=a/b"),
    ],
)
def test_a_model_goes_to_the_agents_that_take_one(spec, expected):
    assert with_model(spec, "a/b") == expected
