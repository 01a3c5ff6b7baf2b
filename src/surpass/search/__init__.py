"""Search over versions of a program: the tree, the policies, and a world to compare them in."""

from surpass.search.loop import SearchAgent, recalled_tree
from surpass.search.policies import POLICIES, Aide, Decompose, Flat, Forest, MultiAide, Policy, TreeSearch
from surpass.search.proposer import NoProposal, Proposal, Proposer, Request
from surpass.search.simulate import Curve, Point, play, simulate
from surpass.search.tree import ROOT, Expansion, Kind, Node, Tree
from surpass.search.world import SimulatedProposer, World

__all__ = [
    "POLICIES",
    "ROOT",
    "Aide",
    "Curve",
    "Decompose",
    "Expansion",
    "Flat",
    "Forest",
    "Kind",
    "MultiAide",
    "NoProposal",
    "Node",
    "Point",
    "Policy",
    "Proposal",
    "Proposer",
    "Request",
    "SearchAgent",
    "SimulatedProposer",
    "Tree",
    "TreeSearch",
    "World",
    "play",
    "recalled_tree",
    "simulate",
]
