"""The loop of a search: ask the policy, fill the node, measure it, remember it, and begin again.

Everything is remembered through the workbench before the next step, so a search that was killed goes on where it was: a
batch is asked for again from the tree as it was then, with the same random numbers, and what is there is kept.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from random import Random
from typing import Any

from surpass.agent import BudgetExhausted, Workbench
from surpass.search.policies import Policy
from surpass.search.proposer import NoProposal, Proposal, Proposer, Request
from surpass.search.tree import Expansion, Kind, Node, Tree

__all__ = ["SearchAgent", "recalled_tree"]

_PROPOSAL, _NODE = "proposal", "node"


class SearchAgent:
    """An agent that searches: `policy` decides where, `proposer` what."""

    def __init__(self, name: str, policy: Policy, proposer: Proposer, *, nodes: int) -> None:
        if nodes < 1:
            raise ValueError(f"a search needs at least one node, got nodes={nodes}")
        self.name = name
        self._policy = policy
        self._proposer = proposer
        self._nodes = nodes

    async def solve(self, bench: Workbench) -> None:
        """Grow the tree until it has all its nodes, the policy is done, or the budget is used up."""
        tree = recalled_tree(bench.memory)
        try:
            while len(tree) <= self._nodes and (expansion := self._next(tree, bench.seed)) is not None:
                await self._grow(tree, expansion, bench)
        except BudgetExhausted as ended:
            bench.log(f"stopped after {len(tree) - 1} nodes: {ended}")
        best = tree.best
        bench.log(f"best of {len(tree) - 1} nodes: {best.id} ({best.change or 'the start'}), score {best.score}")

    def _next(self, tree: Tree, seed: int) -> tuple[int, Expansion] | None:
        """The expansion after the tree's last node, with the decision that it belongs to."""
        decision = tree.nodes[-1].decision if len(tree) > 1 else 1
        for size in (decision, len(tree)):  # what is left of the last batch, else the first of a new one
            batch = self._policy.next(tree.before(size), Random(_mixed(seed, "policy", size)))
            if len(batch) > len(tree) - size:
                return size, batch[len(tree) - size]
        return None

    async def _grow(self, tree: Tree, step: tuple[int, Expansion], bench: Workbench) -> None:
        decision, expansion = step
        await _restore(tree, expansion.parent, bench)
        request = Request(tree, expansion, _mixed(bench.seed, "proposal", len(tree)), bench)
        node = Node(
            len(tree), expansion.parent, None, kind=expansion.kind, decision=decision,
            borrow=expansion.borrow, step=expansion.step,
        )  # fmt: skip
        try:
            proposal = await self._proposal(request)
        except NoProposal as reason:
            document = asdict(node) | {"code": "no-proposal", "summary": str(reason)}
        else:
            document = asdict(node) | await _measured(proposal, bench)
        tree.add(_node(document))
        bench.remember({"what": _NODE, **document})
        bench.log(f"node {node.id} ({node.kind} of {node.parent}): {document['change']} -> {_result(document)}")

    async def _proposal(self, request: Request) -> Proposal:
        """The proposal for the next node: one that was made before a crash is not paid for again."""
        number = len(request.tree)
        for entry in request.bench.memory:
            if entry.get("what") == _PROPOSAL and entry.get("id") == number:
                return Proposal(entry["files"], entry["change"], entry["rationale"])
        proposal = await self._proposer.propose(request)
        request.bench.remember({"what": _PROPOSAL, "id": number, **asdict(proposal)})
        return proposal


async def _measured(proposal: Proposal, bench: Workbench) -> dict[str, Any]:
    for path, text in proposal.files.items():
        await bench.write(path, text.encode())
    feedback = await bench.attempt(proposal.change)
    return {
        "change": proposal.change,
        "rationale": proposal.rationale,
        # A task that does not tell the score leaves all that it takes level with the start.
        "score": None if feedback.accepted is False else feedback.score or 0.0,
        "code": feedback.code,
        "attempt": feedback.attempt,
    }


def recalled_tree(memory: Iterable[Mapping[str, Any]]) -> Tree:
    """The tree that a trial's memory holds; entries that are no nodes are other people's."""
    tree = Tree()
    for entry in memory:
        if entry.get("what") == _NODE:
            tree.add(_node({key: value for key, value in entry.items() if key != "what"}))
    return tree


def _node(document: Mapping[str, Any]) -> Node:
    return Node(**{**document, "kind": Kind(document["kind"])})


async def _restore(tree: Tree, node: int, bench: Workbench) -> None:
    """Put a node's files into the workspace: its own, or, where it never became an attempt or the attempt could not be
    sealed, those of the nearest node above it.
    """
    for each in reversed(tree.lineage(node)):
        if each.attempt or each.id == 0:
            with contextlib.suppress(KeyError):
                await bench.restore(each.attempt)
                return


def _result(document: Mapping[str, Any]) -> str:
    return document["code"] if document["score"] is None else format(document["score"], ".3f")


def _mixed(seed: int, *parts: object) -> int:
    text = " ".join(map(str, (seed, *parts)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
