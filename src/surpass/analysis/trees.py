"""The version trees that searches left in an experiment's journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from surpass.search import Tree, recalled_tree
from surpass.trial import Experiment

__all__ = ["search_trees", "tree_document"]


def search_trees(experiment: Experiment) -> dict[str, Tree]:
    """By trial; trials whose agent did not search are left out.

    Raises:
        StorageError: the journal cannot be read.
    """
    trees = {
        trial.plan.id: recalled_tree(experiment.journal.memory(trial.plan.id)) for trial in experiment.journal.trials()
    }
    return {trial: tree for trial, tree in trees.items() if len(tree) > 1}


def tree_document(tree: Tree) -> Mapping[str, Any]:
    """A tree for programs: nodes in order, and which of them is best."""
    return {"best": tree.best.id, "nodes": [asdict(node) for node in tree.nodes]}
