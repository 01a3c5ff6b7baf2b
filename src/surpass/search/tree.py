"""The version tree of a search: every attempt with its parent, what was changed, why, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ROOT", "Expansion", "Kind", "Node", "Tree"]


class Kind(StrEnum):
    """What a proposer is asked for."""

    DRAFT = "draft"
    """A first version, from the task's start."""
    IMPROVE = "improve"
    """A better version of a node that scored."""
    DEBUG = "debug"
    """A working version of a node that did not."""
    TRANSFER = "transfer"
    """What made another tree's node good, put into this one."""
    STEP = "step"
    """One named step of a checklist."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """One child that a policy asks for."""

    parent: int
    kind: Kind
    borrow: int | None = None
    """The node to learn from, where `kind` is transfer."""
    step: str = ""
    """The checklist's step, where `kind` is step."""


@dataclass(frozen=True, slots=True)
class Node:
    """One version. Ids count from 0, the unchanged start, in the order in which nodes ended."""

    id: int
    parent: int
    score: float | None
    """Recovery at the feedback tier, higher is better; None when the version did not score."""
    kind: Kind = Kind.DRAFT
    decision: int = 0
    """Size of the tree when the policy asked for this node: siblings of one batch share it."""
    borrow: int | None = None
    step: str = ""
    change: str = ""
    rationale: str = ""
    code: str = ""
    """Why it did not score."""
    summary: str = ""
    """What the run's log says, in short."""
    attempt: int = 0
    """The trial's attempt that measured it; 0 for the start, and for what never became one."""


ROOT = Node(id=0, parent=-1, score=0.0)
"""The unchanged start: recovery 0 by definition."""


class Tree:
    """All nodes so far; grows by `add` and never forgets one."""

    __slots__ = ("_best", "_branches", "_children", "_failures", "nodes")

    def __init__(self, nodes: Iterable[Node] = (ROOT,)) -> None:
        self.nodes: list[Node] = []
        self._children: list[list[int]] = []
        self._failures: list[int] = []
        self._branches: list[int] = []
        self._best = ROOT
        for node in nodes:
            self.add(node)

    def __len__(self) -> int:
        return len(self.nodes)

    def add(self, node: Node) -> None:
        """Append a node; its parent is there already.

        Raises:
            ValueError: its id is not the next one, or its parent is unknown.
        """
        if node.id != len(self.nodes) or not (node.parent < node.id and (node.parent >= 0 or node.id == 0)):
            raise ValueError(f"node {node.id} with parent {node.parent} does not follow {len(self.nodes)} nodes")
        self.nodes.append(node)
        self._children.append([])
        if node.id == 0:
            self._failures.append(0)
            self._branches.append(0)
            self._best = node
            return
        self._children[node.parent].append(node.id)
        self._failures.append(self._failures[node.parent] + 1 if node.score is None else 0)
        self._branches.append(self._branches[node.parent] or node.id)
        if node.score is not None and (self._best.score is None or node.score > self._best.score):
            self._best = node

    def children(self, node: int) -> Sequence[int]:
        """Ids of a node's children, oldest first."""
        return self._children[node]

    @property
    def best(self) -> Node:
        """The highest score of all nodes, whatever came after it; of equal ones the oldest."""
        return self._best

    def failures(self, node: int) -> int:
        """How many versions in a row, this one last, did not score; 0 for one that did."""
        return self._failures[node]

    def branch(self, node: int) -> int:
        """The child of the start that a node descends from, or is; 0 for the start."""
        return self._branches[node]

    def scored(self) -> list[Node]:
        """Nodes with a score, best first, of equal ones the oldest first."""
        found = [node for node in self.nodes if node.score is not None]
        found.sort(key=lambda node: (-(node.score or 0.0), node.id))
        return found

    def lineage(self, node: int) -> list[Node]:
        """From the start down to a node."""
        path = []
        while node >= 0:
            path.append(self.nodes[node])
            node = self.nodes[node].parent
        return path[::-1]

    def before(self, size: int) -> Tree:
        """The tree as it was with that many nodes."""
        return Tree(self.nodes[:size])
