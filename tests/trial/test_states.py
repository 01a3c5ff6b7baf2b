"""The state machine, by property: outcomes are final except for infrastructure errors, and every state can end."""

from hypothesis import given
from hypothesis import strategies as st

from surpass.trial import TERMINAL, State
from surpass.trial.states import is_allowed

ORDER = [State.PLANNED, State.PREPARING, State.SOLVING, State.SEALED, State.JUDGING]


@given(st.sampled_from(State), st.sampled_from(State))
def test_outcomes_are_final_except_for_infrastructure_errors(old, new):
    if old in TERMINAL and old is not State.INFRA_ERROR:
        assert not is_allowed(old, new)


@given(st.sampled_from(ORDER), st.sampled_from(ORDER))
def test_a_trial_goes_forward_one_state_at_a_time(old, new):
    assert is_allowed(old, new) == (ORDER.index(new) == ORDER.index(old) + 1)


@given(st.sampled_from(ORDER))
def test_every_open_state_may_end_in_an_infrastructure_error_and_come_back(state):
    assert is_allowed(state, State.INFRA_ERROR)
    assert is_allowed(State.INFRA_ERROR, state)


@given(st.lists(st.sampled_from(State), max_size=12))
def test_no_walk_reaches_done_without_being_sealed_and_judged(walk):
    state, seen = State.PLANNED, [State.PLANNED]
    for new in walk:
        if is_allowed(state, new):
            state = new
            seen.append(new)
    if state is State.DONE:
        assert State.JUDGING in seen
