"""The journal on SQLite and on a real PostgreSQL: what is written is read back, and nothing happens twice."""

import uuid

import pytest

from surpass.agent import Feedback
from surpass.task import Tier
from surpass.trial import Journal, State, StateError, StorageError, TrialPlan
from surpass.trial.journal import Attempt
from surpass.verdict import Outcome, Verdict

PLAN = TrialPlan(id="t.nop.0", task="local/t", agent="nop", index=0, seed=2**40, hints="minimal")
VERDICT = Verdict(
    task="local/t", task_digest="d", tier=Tier.FINAL, submission="s", outcome=Outcome.FAILED, code="shape"
)


@pytest.fixture
def journal(database):
    journal = Journal(database, uuid.uuid4().hex)
    journal.add([PLAN])
    yield journal
    journal.close()


def test_a_trial_is_read_back_as_it_was_planned(journal):
    (trial,) = journal.trials()
    assert trial.plan == PLAN
    assert trial.state is State.PLANNED
    assert trial.verdict is None
    with pytest.raises(KeyError):
        journal.trial("unknown")


def test_moves_are_checked_and_recorded_once(journal):
    journal.move(PLAN.id, State.PLANNED, State.PREPARING)
    with pytest.raises(StateError, match="cannot go from"):
        journal.move(PLAN.id, State.PREPARING, State.DONE)
    with pytest.raises(StateError, match="another process has moved it"):
        journal.move(PLAN.id, State.PLANNED, State.PREPARING)
    assert [(t.old, t.new) for t in journal.transitions()] == [(State.PLANNED, State.PREPARING)]


def test_attempts_and_verdicts_survive_the_round_trip(journal):
    attempt = Attempt(1, "key", "a 'note' with \u00fc", 1.5, Feedback(1, True, 0.5), VERDICT)
    journal.add_attempt(PLAN.id, attempt)
    assert journal.attempts(PLAN.id) == [attempt]
    assert journal.trial(PLAN.id).solve_seconds == 1.5
    with pytest.raises(StorageError):
        journal.add_attempt(PLAN.id, attempt)
    for old, new in [(State.PLANNED, State.PREPARING), (State.PREPARING, State.SOLVING), (State.SOLVING, State.SEALED)]:
        journal.move(PLAN.id, old, new)
    journal.move(PLAN.id, State.SEALED, State.JUDGING)
    journal.finish(PLAN.id, State.JUDGING, State.FAILED, VERDICT)
    assert journal.trial(PLAN.id).verdict == VERDICT


def test_two_experiments_in_one_database_do_not_meet(journal, database):
    other = Journal(database, uuid.uuid4().hex)
    other.add([PLAN])
    journal.move(PLAN.id, State.PLANNED, State.PREPARING)
    assert other.trial(PLAN.id).state is State.PLANNED
    assert other.transitions() == []
    other.close()


def test_a_damaged_or_unreachable_database_is_one_sentence(tmp_path):
    (tmp_path / "bad.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(StorageError, match="surpass resume"):
        Journal(f"sqlite:///{tmp_path / 'bad.db'}", "e")
    with pytest.raises(StorageError):
        Journal("postgresql+psycopg://nobody@127.0.0.1:1/none", "e")
    with pytest.raises(StorageError):
        Journal("nosuchdialect://x", "e")
