"""The proposer that is a model, offline: one conversation a node, whose edits become the proposal."""

import asyncio
import json
from random import Random

import pytest

from surpass.agent import ModelUnavailable
from surpass.search import Expansion, Kind, Node, NoProposal, Request, Tree
from surpass.search.llm import LlmProposer, change_log, request_text
from tests.agent.bench import FolderBench

TREE = Tree(
    [
        Node(0, -1, 0.0),
        Node(1, 0, 0.4, change="rotary positions", rationale="fewer steps", attempt=1),
        Node(2, 1, None, change="Muon", code="target-missed", attempt=2),
        Node(3, 1, 0.6, change="a trapezoid", attempt=3),
    ]
)


def call(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


EDIT = {"calls": [call("view", path="solve.py"), call("edit", path="solve.py", new="x = 1\n")], "tokens": [5, 1]}
PROPOSE = {"calls": [call("propose", change="x is 1", rationale="it was not")], "tokens": [5, 1]}


@pytest.fixture
def propose(tmp_path, sandbox, make_task):
    pytest.importorskip("inspect_ai")
    bench = FolderBench(tmp_path / "w", sandbox)
    (tmp_path / "w" / "solve.py").write_text("x = 0\n")

    def run(*turns, contains=""):
        path = tmp_path / "recording.json"
        path.write_text(json.dumps({"conversations": [{"contains": contains, "turns": turns}]}))
        proposer = LlmProposer(make_task(), model=f"replay/{path}")
        return bench, asyncio.run(proposer.propose(Request(TREE, Expansion(0, Kind.DRAFT), 1, bench)))

    return run


def test_what_the_model_edits_becomes_the_proposal(propose):
    _, proposal = propose(EDIT, PROPOSE, contains="Write a first improved version")
    assert proposal.files == {"solve.py": "x = 1\n"}
    assert (proposal.change, proposal.rationale) == ("x is 1", "it was not")


def test_an_interrupted_proposal_goes_on_and_makes_its_edits_again(propose, tmp_path):
    bench, whole = propose(EDIT, PROPOSE)
    for kept in range(2, len(bench.memory) + 1):
        bench.memory = bench.memory[:kept]
        (tmp_path / "w" / "solve.py").write_text("x = 0\n")  # the loop has put the parent back
        again, proposal = propose(EDIT, PROPOSE)
        assert proposal == whole
        assert sum(entry["message"]["role"] == "assistant" for entry in again.memory) == 2


@pytest.mark.parametrize(
    ("turns", "said"), [((EDIT,), "proposed nothing"), ((PROPOSE,), "changed no file"), ((), "proposed nothing")]
)
def test_a_model_that_proposes_nothing(propose, turns, said):
    with pytest.raises(NoProposal, match=said):
        propose(*turns)


def test_a_model_that_cannot_be_reached(propose):
    with pytest.raises(ModelUnavailable):
        propose({"fail": "refused", "times": 9})


@pytest.mark.parametrize(
    ("expansion", "said"),
    [
        (Expansion(0, Kind.DRAFT), ["Write a first improved version", "rotary positions: score 0.400"]),
        (Expansion(1, Kind.IMPROVE), ["it scores 0.400", "Muon: did not score (target-missed)", "Try something else"]),
        (Expansion(2, Kind.DEBUG), ["did not score: it ended with 'target-missed'", "1. rotary positions"]),
        (Expansion(2, Kind.TRANSFER, borrow=3), ["Another line of work", "2. a trapezoid: score 0.600 (+0.200)"]),
        (Expansion(1, Kind.STEP, step="untie"), ["one step, 'untie'"]),
    ],
    ids=["draft", "improve", "debug", "transfer", "step"],
)
def test_the_request_says_where_the_search_stands(tmp_path, sandbox, expansion, said):
    bench = FolderBench(tmp_path / "w", sandbox)
    text = request_text(Request(TREE, expansion, Random(0).randrange(9), bench), ["train.py"])
    assert text.startswith(bench.prompt)
    for part in said:
        assert part in text


def test_the_log_of_changes_has_every_step_with_what_it_brought():
    assert change_log(TREE, 3).splitlines() == [
        "1. rotary positions: score 0.400 (+0.400)",
        "   Reason given: fewer steps",
        "2. a trapezoid: score 0.600 (+0.200)",
    ]
    assert change_log(TREE, 0) == ""
