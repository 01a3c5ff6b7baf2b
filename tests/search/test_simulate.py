"""The simulated world: what it says is what its parameters mean."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.search import Aide, Flat, Forest, MultiAide, TreeSearch, World, play, simulate

POLICIES = {"flat": Flat(), "tree": TreeSearch(), "forest": Forest(), "aide": Aide(), "multi_aide": MultiAide()}


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(POLICIES)))
def test_without_noise_and_damage_a_search_never_gets_worse(seed, name):
    world = World(good=0.5, neutral=0.5, breaking=0.0, fragility=0.0, noise=0.0)
    course = play(POLICIES[name], world, 15, seed)
    values = [value for value, _ in course]
    assert len(course) == 16
    assert values == sorted(values)
    assert course[-1][1] == 15 * world.cost


@given(seed=st.integers(0, 10**6), name=st.sampled_from(sorted(POLICIES)))
def test_where_nothing_helps_nothing_is_found(seed, name):
    assert play(POLICIES[name], World(good=0, neutral=0.5, breaking=0.5, noise=0.0), 10, seed)[-1][0] == 0


def test_the_same_seed_gives_the_same_search():
    first, again = (simulate(POLICIES, World(), nodes=8, searches=20, seed=3) for _ in range(2))
    assert first == again


def test_flat_finds_one_idea_at_most_and_others_several():
    world = World(good=0.6, neutral=0.2, breaking=0.2, gain=0.4, noise=0.0, fragility=0.0)
    curves = {curve.policy: curve.points[-1] for curve in simulate(POLICIES, world, nodes=20, searches=300)}
    assert curves["flat"].high < 0.4 * sum(
        1 / k for k in range(1, 7)
    )  # the mean of the largest of six gains, and no more
    for name in ("tree", "aide", "multi_aide"):
        assert curves[name].low > curves["flat"].high


def test_noise_makes_selection_worse():
    quiet, loud = (
        simulate({"flat": Flat()}, World(noise=noise), nodes=20, searches=400)[0].points[-1] for noise in (0.0, 1.0)
    )
    assert loud.high < quiet.low


@pytest.mark.parametrize(
    "wrong", [{"good": 0.9}, {"good": -0.1, "neutral": 0.8}, {"ideas": 0}, {"noise": -1.0}, {"cost": 0.0}]
)
def test_a_world_that_cannot_be(wrong):
    with pytest.raises(ValueError, match="must be"):
        World(**wrong)


def test_policies_meet_the_same_worlds():
    from surpass.search.world import SimulatedProposer

    first, second = (SimulatedProposer(World(), Random(5)) for _ in range(2))
    assert first._gains == second._gains
