"""The loop on a real workspace: what an attempt's answer means for the tree."""

import asyncio

import pytest

from surpass.search import Aide, Flat, Kind, NoProposal, Proposal, SearchAgent, recalled_tree
from tests.agent.bench import FolderBench


class Scripted:
    """Proposes a new file content a node; None has nothing to offer."""

    def __init__(self, *texts):
        self._texts = list(texts)

    async def propose(self, request):
        text = self._texts[len(request.tree) - 1]
        if text is None:
            raise NoProposal("nothing left")
        return Proposal({"a.txt": text}, f"wrote {text}")


@pytest.fixture
def search(tmp_path, sandbox):
    def run(policy, texts, answers, unsealed=()):
        bench = FolderBench(tmp_path / "w", sandbox, answers, unsealed=unsealed)
        asyncio.run(SearchAgent("s", policy, Scripted(*texts), nodes=len(texts)).solve(bench))
        return recalled_tree(bench.memory), bench

    return run


def test_scores_refusals_and_missing_proposals_become_nodes(search):
    tree, _ = search(Flat(), ["1", None, "3"], [(True, 0.4, ""), (False, None, "crashed")])
    assert [(node.score, node.code) for node in tree.nodes[1:]] == [(0.4, ""), (None, "no-proposal"), (None, "crashed")]
    assert [node.attempt for node in tree.nodes[1:]] == [1, 0, 2]


def test_what_a_task_takes_without_telling_a_score_is_level_with_the_start(search):
    tree, _ = search(Flat(), ["1", "2"], [(True, None, ""), (None, None, "")])
    assert [node.score for node in tree.nodes] == [0.0, 0.0, 0.0]
    assert tree.best.id == 0


def test_the_files_of_what_could_not_be_sealed_are_those_above_it(search):
    policy = Aide(drafts=1, debug_probability=1.0)
    tree, bench = search(policy, ["1", "2"], [(False, None, "link"), (True, 0.5, "")], unsealed=(1,))
    assert [(node.kind, node.parent) for node in tree.nodes[1:]] == [(Kind.DRAFT, 0), (Kind.DEBUG, 1)]
    assert bench.restored == [0, 0]


def test_a_spent_budget_ends_the_search_with_what_it_has(search):
    tree, bench = search(Flat(), ["1", "2", "3"], [(True, 0.4, "")])
    assert len(tree) == 2
    assert any("stopped after 1 nodes" in line for line in bench.said)
