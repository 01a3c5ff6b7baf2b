"""The claims partition all intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surpass.score import Claim, claim
from surpass.stats import Interval

ENDS = st.floats(-3, 4) | st.sampled_from([0.9, 0.95, 1.0, 1.05, 1.1, 1 - 0.25, 1 + 0.25])
BANDS = st.sampled_from([0.0, 0.05, 0.1, 0.25]) | st.floats(0, 0.99)


def decide(low, high, band=0.05, has_score=True):
    return claim((low + high) / 2, Interval(low, high), band, has_score)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.06, 1.2, "surpassed"),
        (1.05, 1.2, "matched"),
        (0.95, 1.2, "matched"),
        (0.949, 1.2, "inconclusive"),
        (0.95, 1.05, "reproduced"),
        (1.0, 1.0, "reproduced"),
        (1.05, 1.05, "reproduced"),
        (0.9, 1.0, "inconclusive"),
        (0.9, 0.95, "inconclusive"),
        (0.9, 0.949, "failed"),
        (-0.5, -0.5, "failed"),
    ],
)
def test_examples(low, high, expected):
    assert decide(low, high) == expected


@given(ENDS, ENDS, BANDS)
def test_exactly_one_case_holds(one, other, band):
    low, high = min(one, other), max(one, other)
    worst, best = 1 - band, 1 + band
    cases = {
        Claim.SURPASSED: low > best,
        Claim.REPRODUCED: worst <= low and high <= best,
        Claim.MATCHED: worst <= low <= best < high,
        Claim.FAILED: high < worst,
        Claim.INCONCLUSIVE: low < worst <= high,
    }
    assert [c for c, holds in cases.items() if holds] == [decide(low, high, band)]
    assert set(cases) == set(Claim)


@given(ENDS, ENDS, BANDS)
def test_without_a_score_it_failed(one, other, band):
    assert decide(min(one, other), max(one, other), band, has_score=False) is Claim.FAILED


@given(ENDS, ENDS, BANDS, st.floats(0, 1))
def test_a_wider_interval_never_turns_failure_into_success(one, other, band, more):
    """Losing precision may only weaken what is said: it goes to a claim that the narrow interval also supports."""
    low, high = min(one, other), max(one, other)
    mean = (low + high) / 2
    narrow = claim(mean, Interval(low, high), band, True)
    wide = claim(mean, Interval(low - more, high + more), band, True)
    weaker = {
        Claim.SURPASSED: {Claim.SURPASSED, Claim.MATCHED, Claim.INCONCLUSIVE},
        Claim.REPRODUCED: {Claim.REPRODUCED, Claim.MATCHED, Claim.INCONCLUSIVE},
        Claim.MATCHED: {Claim.MATCHED, Claim.INCONCLUSIVE},
        Claim.FAILED: {Claim.FAILED, Claim.INCONCLUSIVE},
        Claim.INCONCLUSIVE: {Claim.INCONCLUSIVE},
    }
    assert wide in weaker[narrow]


@pytest.mark.parametrize("band", [-0.1, math.nan, math.inf])
def test_a_bad_band_is_refused(band):
    with pytest.raises(ValueError):
        decide(0.9, 1.1, band)


@pytest.mark.parametrize("mean", [2.0, 0.0, math.nan])
def test_an_interval_holds_its_mean(mean):
    with pytest.raises(ValueError):
        claim(mean, Interval(0.9, 1.1), 0.05, True)
