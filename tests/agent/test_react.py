"""The model agent on Inspect, offline: what it says comes from recordings, what it does is real."""

import asyncio
import json

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai.log import read_eval_log

from surpass.agent import AgentError, ModelUnavailable, build
from tests.agent.bench import FolderBench


def call(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


DONE = {"calls": [call("done")], "tokens": [10, 1]}


@pytest.fixture
def bench(tmp_path, sandbox):
    return FolderBench(tmp_path / "w", sandbox, [(True, 0.25, ""), (True, 0.5, "")])


@pytest.fixture
def talk(tmp_path, make_task, bench):
    """Let the agent work through a recording; what the model was shown last is in the transcript."""

    def run(turns, **options):
        path = tmp_path / "recording.json"
        path.write_text(json.dumps({"turns": turns}))
        more = "".join(f",{key}={value}" for key, value in options.items())
        asyncio.run(build(f"react:model=replay/{path}{more}", make_task()).solve(bench))
        return [entry["message"] for entry in bench.memory if entry["what"] == "message"]

    return run


def answers(messages, role="tool"):
    return [message["content"] for message in messages if message["role"] == role]


def test_a_conversation_with_tools(talk, bench):
    turns = [
        {"text": "I write.", "calls": [call("edit", path="a.txt", new="hello\n")], "tokens": [100, 5]},
        {"calls": [call("shell", command="cat a.txt"), call("attempt", note="one")], "tokens": [120, 6]},
        DONE,
    ]
    said = answers(talk(turns))
    assert said[:3] == ["wrote a.txt", "hello", "attempt 1: score 0.25; 1 attempts left"]
    assert [attempt.note for attempt in bench.attempts] == ["one"]
    assert any("3 answers" in line and "230 + 12 tokens" in line for line in bench.said)
    (log,) = bench.records.glob("*.eval")
    transcript = read_eval_log(str(log)).samples[0]
    assert transcript.messages[1].text == bench.prompt
    assert transcript.messages[-1].role == "tool"


def test_a_transcript_can_be_run_again(talk, bench, tmp_path, make_task, sandbox):
    talk([{"calls": [call("edit", path="a", new="1"), call("attempt")], "tokens": [1, 1]}, DONE])
    (log,) = bench.records.glob("*.eval")
    again = FolderBench(tmp_path / "again" / "w", sandbox, [(True, 0.25, ""), (True, 0.5, "")])
    asyncio.run(build(f"react:model=replay/{log}", make_task()).solve(again))
    assert answers([e["message"] for e in again.memory]) == answers([e["message"] for e in bench.memory])
    assert len(again.attempts) == 1


def test_an_interrupted_conversation_goes_on_and_pays_for_nothing_twice(talk, bench):
    turns = [
        {"calls": [call("attempt", note="one")], "tokens": [100, 10]},
        {"calls": [call("attempt", note="two")], "tokens": [200, 20]},
        DONE,
    ]
    whole = talk(turns)
    for kept in range(2, len(whole)):
        bench.attempts, bench.said = bench.attempts[:0], []
        bench.memory = [
            {"what": "message", "in": "trial", "message": m, "usage": u} for m, u in _with_usage(whole, turns)
        ][:kept]
        bench.attempts = bench.attempts + [None] * sum(m["role"] == "tool" for m in whole[:kept])
        messages = talk(turns)
        assert answers(messages, "assistant") == answers(whole, "assistant")
        assert any("3 answers" in line and "310 + 31 tokens" in line for line in bench.said), bench.said


def _with_usage(messages, turns):
    used = iter(turns)
    for message in messages:
        tokens = next(used)["tokens"] if message["role"] == "assistant" else None
        yield message, {"input": tokens[0], "output": tokens[1]} if tokens else {}


def test_malformed_and_wrong_calls_are_told_to_the_model(talk):
    turns = [
        {"calls": [{"tool": "shell", "arguments": {}, "malformed": "not JSON: {command"}], "tokens": [1, 1]},
        {"calls": [call("hammer")], "tokens": [1, 1]},
        {"calls": [call("view", path="nothing")], "tokens": [1, 1]},
        DONE,
    ]
    messages = talk(turns)
    errors = [message["error"]["message"] for message in messages if message.get("error")]
    assert "not JSON" in errors[0]
    assert "hammer" in errors[1]
    assert "there is no file" in errors[2]


def test_a_model_that_stops_talking_is_asked_to_go_on_and_then_let_go(talk):
    messages = talk([{"text": "Hm.", "tokens": [1, 1]}] * 5)
    assert len(answers(messages, "assistant")) == 3
    assert len(answers(messages, "user")) == 3  # the task and two nudges


def test_what_no_longer_fits_is_left_out(talk):
    turns = [{"calls": [call("shell", command=f"echo {n}")], "tokens": [1, 1]} for n in range(6)]
    turns += [{"calls": [call("done")], "window": 9, "tokens": [1, 1]}]
    messages = talk(turns)
    assert len(answers(messages, "assistant")) == 7
    assert answers(messages)[-1] == "The trial ends here."


def test_the_budget_ends_the_conversation(talk, bench):
    talk([{"calls": [call("attempt", note=str(n))], "tokens": [1, 1]} for n in range(5)])
    assert len(bench.attempts) == 2


def test_a_message_limit_ends_the_conversation(talk, bench):
    talk([{"calls": [call("budget")], "tokens": [1, 1]}] * 50, messages=9)
    assert any("message limit" in line for line in bench.said)


def test_a_token_limit_ends_the_conversation(talk, bench):
    talk([{"calls": [call("budget")], "tokens": [400, 100]}] * 50, tokens=1200)
    assert any("token limit" in line for line in bench.said)


def test_a_provider_that_refuses_is_no_failure_of_the_agent(talk, bench):
    with pytest.raises(ModelUnavailable, match="refused"):
        talk([{"calls": [call("budget")], "tokens": [1, 1]}, {"fail": "refused", "times": 99}])
    assert len([entry for entry in bench.memory if entry["message"]["role"] == "assistant"]) == 1


@pytest.mark.slow
def test_a_rate_limit_passes(talk):
    assert answers(talk([{"fail": "rate-limit", "times": 1, **DONE}])) == ["The trial ends here."]


def test_tools_can_be_left_out(talk):
    messages = talk([{"calls": [call("profile", script="a.py")], "tokens": [1, 1]}, DONE], tools="shell+attempt")
    assert "profile" in next(message["error"]["message"] for message in messages if message.get("error"))


@pytest.mark.parametrize(
    ("spec", "said"),
    [("react", "needs a model"), ("react:model=replay/x,tools=hammer", "unknown tool 'hammer'")],
)
def test_a_model_agent_that_cannot_be(make_task, spec, said):
    with pytest.raises(AgentError, match=said):
        build(spec, make_task())
