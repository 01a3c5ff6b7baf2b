"""A world to search in that costs nothing: what a proposal does to a program, and what a measurement says about it.

A program is a set of ideas out of a finite list, each with a gain: the same idea pays once a lineage. A proposal
tries one idea (or, with probability `leap`, several at once): it works, does nothing, or breaks the program. Breaking
becomes likelier with every change that a version already carries.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from surpass.search.tree import Expansion, Kind, Node, Tree

__all__ = ["SimulatedProposer", "World"]


@dataclass(frozen=True, slots=True)
class World:
    """The parameters of a world. Probabilities are of one proposal; scores are recoveries."""

    good: float = 0.3
    neutral: float = 0.4
    breaking: float = 0.3
    gain: float = 0.4
    """Mean gain of an idea; gains are exponentially distributed."""
    ideas: int = 6
    """How many different ideas help at all."""
    leap: float = 0.0
    """Probability that a good proposal brings a second idea along, and a third, ..."""
    fragility: float = 0.03
    """Added to `breaking` for each change that the parent carries."""
    repair: float = 0.5
    """Probability that a repair of a broken version works."""
    noise: float = 0.05
    """Standard deviation of a measured score around the true one."""
    cost: float = 1.0
    """Of a run that ends, in units of budget."""
    broken_cost: float = 0.3
    """Of a run that breaks."""

    def __post_init__(self) -> None:
        shares = (self.good, self.neutral, self.breaking)
        if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
            raise ValueError(f"good, neutral and breaking must be at least 0 and sum to 1, got {shares}")
        if self.ideas < 1 or self.gain <= 0 or self.noise < 0 or min(self.cost, self.broken_cost) <= 0:
            raise ValueError("ideas, gain and costs must be positive, noise at least 0")


@dataclass(slots=True)
class _Version:
    """What a node truly is."""

    ideas: int
    """A bit for each idea that it carries."""
    changes: int
    value: float


class SimulatedProposer:
    """Plays one world, drawn by `rng`: answers an expansion with the node that it leads to."""

    __slots__ = ("_gains", "_rng", "_versions", "_world", "spent")

    def __init__(self, world: World, rng: Random) -> None:
        self._world = world
        self._rng = rng
        self._gains = [rng.expovariate(1 / world.gain) for _ in range(world.ideas)]
        self._versions = [_Version(0, 0, 0.0)]
        self.spent = 0.0
        """Units of budget so far."""

    def true_value(self, node: int) -> float:
        """What a node is really worth; its score is a noisy measurement of it."""
        return self._versions[node].value

    def expand(self, tree: Tree, expansion: Expansion, decision: int) -> Node:
        """Propose, run and measure one child."""
        version, works = self._propose(expansion)
        self._versions.append(version)
        self.spent += self._world.cost if works else self._world.broken_cost
        score = version.value + self._rng.gauss(0, self._world.noise) if works else None
        return Node(
            len(tree), expansion.parent, score, kind=expansion.kind, decision=decision,
            borrow=expansion.borrow, step=expansion.step, code="" if works else "broken",
        )  # fmt: skip

    def _propose(self, expansion: Expansion) -> tuple[_Version, bool]:
        parent, rng = self._versions[expansion.parent], self._rng
        if expansion.kind is Kind.DEBUG:
            return _Version(parent.ideas, parent.changes, parent.value), rng.random() < self._world.repair
        ideas, works = parent.ideas, True
        if expansion.kind is Kind.TRANSFER and expansion.borrow is not None:
            ideas |= self._versions[expansion.borrow].ideas
            works = rng.random() >= self._world.breaking + self._world.fragility * parent.changes
        else:
            fate = rng.random() - self._world.fragility * parent.changes
            if fate < self._world.breaking:  # a repair may still bring out what it was meant to be
                works = False
                ideas = self._more(ideas) if rng.random() < self._promise() else ideas
            elif fate >= self._world.breaking + self._world.neutral:
                ideas = self._more(ideas)
        return _Version(ideas, parent.changes + 1, self._value(ideas)), works

    def _promise(self) -> float:
        """How often a broken proposal is a good one with a mistake in it."""
        working = self._world.good + self._world.neutral
        return self._world.good / working if working else 0.0

    def _more(self, ideas: int) -> int:
        ideas |= 1 << self._rng.randrange(self._world.ideas)
        while self._rng.random() < self._world.leap:
            ideas |= 1 << self._rng.randrange(self._world.ideas)
        return ideas

    def _value(self, ideas: int) -> float:
        return sum(gain for place, gain in enumerate(self._gains) if ideas >> place & 1)
