"""Which node to work on next. A policy is pure: the same tree and the same random numbers give the same answer.

Every policy sees all nodes, so the best one is never forgotten. A node that did not score is never improved, only
debugged. Equal scores: the older node comes first, since the younger one has won nothing and its measurement is one
more draw. `s(n)` below is a node's score, `c(n)` its number of children; docs/explanation/search.md has the formulae.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

from surpass.search.tree import Expansion, Kind, Node, Tree

__all__ = ["POLICIES", "Aide", "Decompose", "Flat", "Forest", "MultiAide", "Policy", "TreeSearch"]


class Policy(Protocol):
    """Chooses what to expand."""

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """The next batch, to be executed in order; empty when there is nothing left to do."""


@dataclass(frozen=True, slots=True)
class Flat:
    """Best of N: every version is a draft of its own."""

    batch: int = 1

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """`batch` children of the start."""
        return [Expansion(0, Kind.DRAFT)] * self.batch


@dataclass(frozen=True, slots=True)
class TreeSearch:
    """One tree below a first draft, `branching` children an expansion.

    `best`: expand argmax s(n) over scored nodes with c(n) < patience * branching.
    `depth`: expand the best child that is no worse than its parent, one level deeper each time; where there is none,
    go back up to the nearest one left.
    """

    branching: int = 3
    order: Literal["best", "depth"] = "best"
    patience: int = 2
    """A node may be expanded this many times; then the next best has its turn."""

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """A draft first and whenever nothing is left to expand; else `branching` children of one node."""
        chosen = None
        if tree.children(0):
            below = [node for node in tree.scored() if node.id]
            chosen = _deepest(tree, 0) if self.order == "depth" else _open(tree, below, self.patience * self.branching)
        if chosen is None:
            return _restart(tree)
        return [Expansion(chosen.id, Kind.IMPROVE)] * self.branching


@dataclass(frozen=True, slots=True)
class Forest:
    """Several trees side by side. Each round expands the best open node of every tree.

    After every `transfer` rounds, each tree whose best is below the overall best gets one child that borrows from it.
    """

    trees: int = 3
    branching: int = 3
    transfer: int = 3
    patience: int = 2

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """The drafts; then a round over all trees, or a transfer."""
        missing = self.trees - len(tree.children(0))
        if missing > 0:
            return [Expansion(0, Kind.DRAFT)] * missing
        if moved := self._transfers(tree):
            return moved
        batch: list[Expansion] = []
        for root in tree.children(0)[: self.trees]:
            batch += self._round(tree, root)
        return batch

    def _transfers(self, tree: Tree) -> list[Expansion]:
        rounds = len({node.decision for node in tree.nodes if node.kind in (Kind.IMPROVE, Kind.DEBUG)})
        due = rounds > 0 and rounds % self.transfer == 0 and tree.nodes[-1].kind is not Kind.TRANSFER
        if not due or not tree.best.id:
            return []
        bests = [_best_of(tree, root) for root in tree.children(0)[: self.trees]]
        return [
            Expansion(node.id, Kind.TRANSFER, borrow=tree.best.id)
            for node in bests
            if node is not None and (node.score or 0.0) < (tree.best.score or 0.0)
        ]

    def _round(self, tree: Tree, root: int) -> list[Expansion]:
        mine = [node for node in tree.scored() if tree.branch(node.id) == root]
        chosen = _open(tree, mine, self.patience * self.branching)
        if chosen is not None:
            return [Expansion(chosen.id, Kind.IMPROVE)] * self.branching
        if mine:  # every node has had its turns: the best goes on, or a tree would die
            return [Expansion(mine[0].id, Kind.IMPROVE)]
        return [Expansion(_newest_of(tree, root).id, Kind.DEBUG)]


@dataclass(frozen=True, slots=True)
class Aide:
    """Drafts, then with probability `debug_probability` a repair of a failed leaf, else an improvement of the best.

    A leaf is repaired while fewer than `debug_depth` versions in a row failed before it. After Jiang et al.,
    arXiv 2502.13138; unlike the code of arXiv 2506.22419, a repair does not make it forget the best node.
    """

    drafts: int = 3
    debug_probability: float = 0.5
    debug_depth: int = 5
    branching: int = 1

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """The drafts that are missing; then one repair, or `branching` improvements."""
        missing = self.drafts - len(tree.children(0))
        if missing > 0:
            return [Expansion(0, Kind.DRAFT)] * missing
        if rng.random() < self.debug_probability and (broken := self._broken(tree)):
            return [Expansion(rng.choice(broken).id, Kind.DEBUG)]
        kind = Kind.IMPROVE if tree.best.id else Kind.DRAFT
        return [Expansion(tree.best.id, kind)] * self.branching

    def _broken(self, tree: Tree) -> list[Node]:
        return [
            node
            for node in tree.nodes
            if node.score is None and tree.failures(node.id) <= self.debug_depth and not tree.children(node.id)
        ]


@dataclass(frozen=True, slots=True)
class MultiAide(Aide):
    """AIDE with three improvements of the best at a time."""

    branching: int = 3


@dataclass(frozen=True, slots=True)
class Decompose:
    """One step of a checklist after another, each verified before the next.

    A step holds when its version scores and s(child) >= s(parent) - tolerance. Otherwise it is rolled back: the next
    try starts from the last version that held. After `tries` failures a step is left out, and so is what requires it.
    """

    steps: Sequence[str] = ()
    requires: Mapping[str, Sequence[str]] | None = None
    tries: int = 3
    tolerance: float = 0.02

    def next(self, tree: Tree, rng: Random) -> list[Expansion]:
        """One try at the first step that neither holds nor was given up; empty after the last."""
        current, held = tree.nodes[0], set[str]()
        for step in self.steps:
            if not set((self.requires or {}).get(step, ())) <= held:
                continue
            tried = [tree.nodes[child] for child in tree.children(current.id) if tree.nodes[child].step == step]
            kept = next((node for node in tried if self._holds(current, node)), None)
            if kept is not None:
                current = kept
                held.add(step)
            elif len(tried) < self.tries:
                return [Expansion(current.id, Kind.STEP, step=step)]
        return []

    def _holds(self, parent: Node, node: Node) -> bool:
        return node.score is not None and node.score >= (parent.score or 0.0) - self.tolerance


POLICIES: dict[str, type[Policy]] = {
    "flat": Flat,
    "tree": TreeSearch,
    "forest": Forest,
    "aide": Aide,
    "multi_aide": MultiAide,
    "decompose": Decompose,
}


def _open(tree: Tree, ranked: Sequence[Node], most_children: int) -> Node | None:
    """The best node that may still be expanded."""
    return next((node for node in ranked if len(tree.children(node.id)) < most_children), None)


def _deepest(tree: Tree, node: int) -> Node | None:
    """Depth first: the first node without children on the way down over children that are no worse, best first."""
    floor = tree.nodes[node].score or 0.0
    children = [tree.nodes[child] for child in tree.children(node)]
    worth = [child for child in children if child.score is not None and (node == 0 or child.score >= floor)]
    for child in sorted(worth, key=lambda each: (-(each.score or 0.0), each.id)):
        if not tree.children(child.id):
            return child
        if (found := _deepest(tree, child.id)) is not None:
            return found
    return None


def _restart(tree: Tree) -> list[Expansion]:
    """A new draft; or, when the last thing tried is a draft that failed, its repair."""
    last = tree.nodes[-1]
    if last.score is None and tree.failures(last.id) == 1:
        return [Expansion(last.id, Kind.DEBUG)]
    return [Expansion(0, Kind.DRAFT)]


def _best_of(tree: Tree, root: int) -> Node | None:
    return next((node for node in tree.scored() if tree.branch(node.id) == root), None)


def _newest_of(tree: Tree, root: int) -> Node:
    return next(node for node in reversed(tree.nodes) if tree.branch(node.id) == root)
