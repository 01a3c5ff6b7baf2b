"""Thousands of searches in a simulated world: which policy finds how much for which budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, stdev

from surpass.search.policies import Policy
from surpass.search.tree import Tree
from surpass.search.world import SimulatedProposer, World

__all__ = ["Curve", "Point", "play", "simulate"]

_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Point:
    """Over all searches: the true value of what would be handed in after this many nodes."""

    nodes: int
    mean: float
    low: float
    high: float
    cost: float
    """Mean units of budget spent by then."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One policy in one world."""

    policy: str
    searches: int
    points: tuple[Point, ...]


def play(policy: Policy, world: World, nodes: int, seed: int) -> list[tuple[float, float]]:
    """One search: (true value of the best-measured node, budget spent) after each node, the start included.

    Selection is by the noisy score, as in a real search; what counts is what that choice is truly worth.
    """
    rng = Random(seed)
    proposer, tree = SimulatedProposer(world, rng), Tree()
    course = [(0.0, 0.0)]
    while len(tree) <= nodes:
        decision = len(tree)
        batch = policy.next(tree, rng)
        if not batch:
            break
        for expansion in batch[: nodes + 1 - len(tree)]:
            tree.add(proposer.expand(tree, expansion, decision))
            course.append((proposer.true_value(tree.best.id), proposer.spent))
    course += [course[-1]] * (nodes + 1 - len(course))
    return course


def simulate(policies: Mapping[str, Policy], world: World, *, nodes: int, searches: int, seed: int = 0) -> list[Curve]:
    """The expected recovery against the budget for each policy, with 95 % intervals (normal, over searches).

    All policies meet the same worlds: search i draws the same gains for each of them.

    Raises:
        ValueError: fewer than two searches, or no nodes.
    """
    if searches < 2 or nodes < 1:
        raise ValueError(f"at least two searches of one node are needed, got {searches} of {nodes}")
    return [_curve(name, policy, world, nodes, range(seed, seed + searches)) for name, policy in policies.items()]


def _curve(name: str, policy: Policy, world: World, nodes: int, seeds: Sequence[int]) -> Curve:
    courses = [play(policy, world, nodes, seed) for seed in seeds]
    points = []
    for number in range(nodes + 1):
        values = [course[number][0] for course in courses]
        mean, half = fmean(values), _Z95 * stdev(values) / math.sqrt(len(values))
        points.append(Point(number, mean, mean - half, mean + half, fmean(course[number][1] for course in courses)))
    return Curve(name, len(courses), tuple(points))
