"""Every policy on trees that it grew itself, whatever the nodes came to."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.search import Aide, Decompose, Flat, Forest, Kind, MultiAide, Node, Tree, TreeSearch

POLICIES = {
    "flat": Flat(),
    "flat-in-batches": Flat(batch=4),
    "tree": TreeSearch(),
    "tree-depth": TreeSearch(order="depth"),
    "forest": Forest(),
    "forest-narrow": Forest(trees=2, branching=1, transfer=1),
    "aide": Aide(),
    "multi_aide": MultiAide(),
}
SCORES = st.lists(st.one_of(st.none(), st.sampled_from([-0.5, 0.0, 0.2, 0.2, 1.0, 1.3])), min_size=1, max_size=40)
SEEDS = st.integers(0, 2**32)


def grown(policy, scores, seed):
    """A tree as the loop grows it, and every batch that the policy asked for with the tree it saw."""
    tree, batches, left = Tree(), [], list(scores)
    while left:
        decision = len(tree)
        batch = policy.next(tree, Random(seed + decision))
        batches.append((tree.before(decision), batch))
        if not batch:
            break
        for expansion in batch[: len(left)]:
            tree.add(
                Node(
                    len(tree),
                    expansion.parent,
                    left.pop(0),
                    kind=expansion.kind,
                    decision=decision,
                    borrow=expansion.borrow,
                    step=expansion.step,
                )
            )
    return tree, batches


@pytest.mark.parametrize("name", POLICIES)
@given(scores=SCORES, seed=SEEDS)
def test_what_is_asked_for_makes_sense(name, scores, seed):
    tree, batches = grown(POLICIES[name], scores, seed)
    for seen, batch in batches:
        assert batch, "these policies never run out"
        for expansion in batch:
            parent = seen.nodes[expansion.parent]
            assert (parent.score is None) == (expansion.kind is Kind.DEBUG)
            assert (expansion.kind is Kind.DRAFT) == (parent.id == 0)
            assert (expansion.borrow is not None) == (expansion.kind is Kind.TRANSFER)
    assert len(tree) == len(scores) + 1


@pytest.mark.parametrize("name", POLICIES)
@given(scores=SCORES, seed=SEEDS)
def test_a_policy_is_pure(name, scores, seed):
    _, batches = grown(POLICIES[name], scores, seed)
    for seen, batch in batches:
        before = list(seen.nodes)
        assert POLICIES[name].next(seen, Random(seed + len(seen))) == batch
        assert seen.nodes == before


@given(scores=SCORES, seed=SEEDS)
def test_the_best_is_the_oldest_of_the_highest(scores, seed):
    tree, _ = grown(Flat(), scores, seed)
    highest = max(score for score in [0.0, *scores] if score is not None)
    assert tree.best.score == highest
    assert tree.best.id == ([0.0, *scores]).index(highest)
    assert tree.scored()[0] == tree.best


@given(scores=SCORES, seed=SEEDS)
def test_flat_never_builds_on_anything(scores, seed):
    tree, _ = grown(Flat(batch=3), scores, seed)
    assert all(node.parent == 0 for node in tree.nodes[1:])


@pytest.mark.parametrize("policy", [Aide(), MultiAide()], ids=["aide", "multi_aide"])
@given(scores=SCORES, seed=SEEDS)
def test_aide_improves_the_best_or_repairs_a_leaf_that_is_not_hopeless(policy, scores, seed):
    _, batches = grown(policy, scores, seed)
    for seen, batch in batches[1:]:
        kinds = {expansion.kind for expansion in batch}
        if kinds == {Kind.DEBUG}:
            (expansion,) = batch
            assert not seen.children(expansion.parent)
            assert seen.failures(expansion.parent) <= policy.debug_depth
        elif len(seen.children(0)) >= policy.drafts:
            assert {expansion.parent for expansion in batch} == {seen.best.id}
            assert len(batch) == policy.branching


@given(seed=SEEDS)
def test_aide_repairs_as_often_as_it_says(seed):
    tree = Tree([Node(0, -1, 0.0), Node(1, 0, 0.5), Node(2, 0, None), Node(3, 0, 0.4)])
    policy = Aide(debug_probability=0.25)
    rng = Random(seed)
    repairs = sum(policy.next(tree, rng)[0].kind is Kind.DEBUG for _ in range(400))
    assert 50 <= repairs <= 155


def test_aide_after_a_repair_goes_back_to_the_best():
    """The published code forgets it here: its choice is among the start, the broken node and the repaired one."""
    tree = Tree([Node(0, -1, 0.0), Node(1, 0, 0.9), Node(2, 0, None), Node(3, 0, 0.1), Node(4, 2, 0.2)])
    assert {expansion.parent for expansion in Aide(debug_probability=0).next(tree, Random(0))} == {1}


@pytest.mark.parametrize("order", ["best", "depth"])
@given(scores=SCORES, seed=SEEDS)
def test_tree_has_one_draft_while_anything_below_it_is_open(order, scores, seed):
    policy = TreeSearch(order=order)
    _, batches = grown(policy, scores, seed)
    for seen, batch in batches:
        if batch[0].kind is Kind.IMPROVE:
            assert len(batch) == policy.branching
            parent = seen.nodes[batch[0].parent]
            if order == "best":
                open_ones = [n for n in seen.scored() if n.id and len(seen.children(n.id)) < 6]
                assert parent == open_ones[0]
            else:
                assert not seen.children(parent.id)


def test_depth_first_goes_down_and_backs_up():
    policy, rng = TreeSearch(order="depth"), Random(0)
    down = [Node(0, -1, 0.0), Node(1, 0, 0.3), Node(2, 1, 0.4), Node(3, 1, 0.35), Node(4, 1, None), Node(5, 2, 0.1)]
    assert policy.next(Tree(down[:5]), rng)[0].parent == 2
    assert policy.next(Tree(down), rng)[0].parent == 3  # 2's only child is worse than 2


@given(scores=SCORES, seed=SEEDS)
def test_each_tree_of_a_forest_grows_below_its_own_draft(scores, seed):
    policy = Forest()
    _, batches = grown(policy, scores, seed)
    for seen, batch in batches[1:]:
        if len(seen.children(0)) < policy.trees:
            continue
        branches = [seen.branch(expansion.parent) for expansion in batch]
        assert set(branches) <= set(seen.children(0))
        if batch[0].kind is Kind.TRANSFER:
            assert {expansion.borrow for expansion in batch} == {seen.best.id}
            assert seen.branch(seen.best.id) not in branches
            assert len(set(branches)) == len(branches)
        else:
            assert len(set(branches)) == policy.trees


STEPS = Decompose(steps=("a", "b", "c", "d"), requires={"c": ("b",), "d": ()}, tries=2)


@given(scores=SCORES, seed=SEEDS)
def test_decompose_ends_and_builds_only_on_what_holds(scores, seed):
    tree, batches = grown(STEPS, [*scores, *[0.5] * 10], seed)
    assert not batches[-1][1] or len(tree) == len(scores) + 11
    assert len(tree) - 1 <= len(STEPS.steps) * STEPS.tries
    for node in tree.nodes[1:]:
        line = tree.lineage(node.id)
        steps = [each.step for each in line[1:]]
        assert steps == sorted(set(steps))
        assert "c" not in steps or "b" in steps
        for parent, child in pairwise(line[:-1]):
            assert child.score is not None
            assert child.score >= (parent.score or 0) - STEPS.tolerance


def test_decompose_rolls_back_what_breaks():
    tree = Tree()
    for score in (0.3, 0.1, 0.4):
        (expansion,) = STEPS.next(tree, Random(0))
        tree.add(Node(len(tree), expansion.parent, score, kind=expansion.kind, step=expansion.step))
    assert [(node.step, node.parent) for node in tree.nodes[1:]] == [("a", 0), ("b", 1), ("b", 1)]
    assert STEPS.next(tree, Random(0))[0].parent == 3


def test_a_tree_takes_only_the_node_that_follows():
    tree = Tree()
    for wrong in (Node(2, 0, 0.1), Node(1, 1, 0.1), Node(1, -1, 0.1)):
        with pytest.raises(ValueError, match="does not follow"):
            tree.add(wrong)
    assert len(tree) == 1
