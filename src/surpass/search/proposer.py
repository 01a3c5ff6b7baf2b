"""What fills a node: a proposer answers an expansion with the files of a new version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from surpass.agent import Workbench
from surpass.search.tree import Expansion, Tree

__all__ = ["NoProposal", "Proposal", "Proposer", "Request"]


class NoProposal(Exception):
    """The proposer has nothing to offer for this expansion; the node counts as one that did not score."""


@dataclass(frozen=True, slots=True)
class Request:
    """One expansion to answer. The workspace holds the parent's files when it is asked."""

    tree: Tree
    expansion: Expansion
    seed: int
    """Of this expansion: the same request gets the same answer from a proposer without a model."""
    bench: Workbench


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new version."""

    files: Mapping[str, str]
    """Path in the workspace -> whole new text. Files that are not named stay as the parent's are."""
    change: str
    """What was changed, in a line."""
    rationale: str = ""
    """Why it should help."""


class Proposer(Protocol):
    """Makes versions."""

    async def propose(self, request: Request) -> Proposal:
        """The next version of `request.expansion.parent`.

        Raises:
            NoProposal: there is none.
            BudgetExhausted: the trial's budget is used up.
        """
