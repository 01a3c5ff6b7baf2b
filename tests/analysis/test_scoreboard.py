"""Rows of the scoreboard: what counts, what is left out, and what is said when nothing is known."""

from __future__ import annotations

import json
import shutil

import pytest

from surpass.analysis import rows_json, scoreboard
from surpass.score import CEILING, FLOOR, Claim
from surpass.task import Tier
from surpass.trial import State
from surpass.verdict import Outcome


def only_row(book):
    (row,) = scoreboard(book.experiment).rows
    return row


def counts(row):
    return (row.done, row.failed, row.invalid, row.infra_error, row.incomplete)


def test_a_row_is_the_mean_over_trials(make_book):
    book = make_book(trials=2)
    for trial, error in zip(book.ids("one"), (0.1, 0.55), strict=True):
        book.start(trial)
        book.done(trial, error)
    row = only_row(book)
    assert row.recovery == pytest.approx(0.75)
    assert row.low < row.recovery < row.high
    assert row.outcome == "done"
    assert counts(row) == (2, 0, 0, 0, 0)
    assert row.g == pytest.approx((0 - 4.5) / 2)
    assert row.seconds == 120


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.INVALID])
def test_failed_and_invalid_trials_are_at_the_floor(make_book, outcome):
    book = make_book(trials=2)
    good, bad = book.ids("one")
    book.start(good)
    book.done(good, 0.1)
    book.start(bad)
    book.rejected(bad, outcome, "some-code")
    row = only_row(book)
    assert row.recovery == pytest.approx((1 + FLOOR) / 2)
    assert row.outcome == outcome.value
    assert dict(row.instances[0].failures) == {"some-code": 1}


def test_an_infrastructure_error_is_left_out_and_counted(make_book):
    book = make_book(trials=2)
    good, broken = book.ids("one")
    book.start(good)
    book.done(good, 0.1)
    book.start(broken)
    book.infra(broken)
    board = scoreboard(book.experiment)
    (row,) = board.rows
    assert row.recovery == pytest.approx(1.0)
    assert counts(row) == (1, 0, 0, 1, 0)
    assert row.outcome == "infra_error"
    assert any("infrastructure error" in note for note in board.notes)


def test_nothing_is_known_before_any_trial_is_judged(make_book):
    book = make_book(trials=2)
    book.start(book.ids("one")[0])
    book.infra(book.ids("one")[0])
    row = only_row(book)
    assert (row.recovery, row.low, row.high, row.g) == (None, None, None, None)
    assert row.claim is Claim.INCONCLUSIVE
    assert row.outcome == "infra_error"
    assert row.instances == ()
    (line,) = scoreboard(book.experiment).overall
    assert (line.mean, line.tasks, line.missing, line.claims) == (None, 0, 1, ())


def test_only_failures_are_a_failure(make_book):
    book = make_book()
    (trial,) = book.ids("one")
    book.start(trial)
    book.rejected(trial, Outcome.FAILED, "missing")
    row = only_row(book)
    assert (row.recovery, row.low, row.high, row.claim) == (FLOOR, FLOOR, FLOOR, Claim.FAILED)


@pytest.mark.parametrize(
    ("states", "word"),
    [
        (("done", "invalid", "failed", "infra"), "invalid"),
        (("done", "failed", "infra", "planned"), "failed"),
        (("done", "infra", "planned"), "infra_error"),
        (("done", "planned"), "incomplete"),
    ],
)
def test_the_outcome_is_the_worst_that_occurs(make_book, states, word):
    book = make_book(trials=len(states))
    for trial, state in zip(book.ids("one"), states, strict=True):
        if state == "planned":
            continue
        book.start(trial)
        if state == "done":
            book.done(trial, 0.1)
        elif state == "infra":
            book.infra(trial)
        else:
            book.rejected(trial, Outcome(state), "code")
    assert only_row(book).outcome == word


def test_shrinkage_is_feedback_minus_final(make_book):
    book = make_book(trials=2)
    for trial in book.ids("one"):
        book.start(trial)
        book.attempt(trial, 1, 5, 0.55)
        book.attempt(trial, 2, 9, 0.1)
        book.done(trial, 0.28, chosen=2)
    row = only_row(book)
    assert row.feedback == pytest.approx(1.0)
    assert row.shrinkage == pytest.approx(0.2)
    assert row.attempts == 4


def test_shrinkage_needs_a_chosen_attempt(make_book):
    book = make_book()
    (trial,) = book.ids("one")
    book.start(trial)
    book.done(trial, 0.1)
    row = only_row(book)
    assert (row.feedback, row.shrinkage, row.attempts) == (None, None, 0)


def test_instances_carry_what_the_task_says(make_book, two_instances):
    book = make_book(tasks=[two_instances], trials=2)
    first, second = book.ids("one")
    book.start(first)
    book.done(first, {"mean": 0.1, "spread": 1e-5})
    book.start(second)
    book.done(second, {"spread": 0.1})
    mean, spread = only_row(book).instances
    assert (mean.baseline, mean.sota, mean.unit, mean.value) == (1.0, 0.1, "1", 0.1)
    assert mean.recovery == pytest.approx((1 + FLOOR) / 2)
    assert dict(mean.failures) == {"wrong-shape": 1}
    assert (spread.unit, spread.scale, spread.failures) == ("m", "log", ())
    assert spread.value == pytest.approx(1e-3), "geometric on a log scale"
    assert spread.clipped == 1
    assert spread.recovery == pytest.approx((CEILING + 0.5) / 2)


@pytest.mark.parametrize("loss", ["gone", "changed"])
def test_a_report_survives_the_loss_of_the_task(make_book, loss):
    book = make_book()
    (trial,) = book.ids("one")
    book.start(trial)
    book.done(trial, 0.1)
    whole = only_row(book)
    root = next(iter(book.tasks.values())).root
    if loss == "gone":
        shutil.rmtree(root)
    else:
        (root / "brief.md").write_text("another task")
    board = scoreboard(book.experiment)
    (row,) = board.rows
    assert (row.recovery, row.low, row.high) == (whole.recovery, whole.low, whole.high)
    assert not row.tie_band_known
    assert row.instances[0].value == 0.1
    assert row.instances[0].sota is None
    assert any("tie band" in note for note in board.notes)


def test_a_verdict_on_another_version_of_the_task_is_left_out(make_book):
    book = make_book()
    (trial,) = book.ids("one")
    book.start(trial)
    book.finish(trial, State.DONE, book.verdict(trial, Tier.FINAL, {"mean": 0.1}, task_digest="f" * 64))
    board = scoreboard(book.experiment)
    (row,) = board.rows
    assert (row.recovery, row.outcome) == (None, "incomplete")
    assert any(trial in note for note in board.notes)
    assert not any("no outcome yet" in note for note in board.notes)


@pytest.mark.parametrize(("said", "claim"), [(False, "matched"), (True, "inconclusive")])
def test_what_a_script_says_of_itself_is_marked_and_claims_nothing(make_book, said, claim):
    """The same numbers, measured by us, are a claim."""
    book = make_book(trials=3)
    for trial in book.ids("one"):
        book.start(trial)
        verdict = book.verdict(trial, Tier.FINAL, {"mean": 0.001})
        if said:
            verdict.metrics["mean"]["self_reported"] = 1.0
        book.finish(trial, State.DONE, verdict)
    row = only_row(book)
    assert (row.self_reported, row.claim) == (said, claim)


def test_rows_are_strict_json_with_the_promised_keys(make_book):
    book = make_book(("one", "two"), trials=2, hints="full", unsafe=True)
    for trial in book.ids("one"):
        book.start(trial)
        book.done(trial, 0.0)
    rows = rows_json(scoreboard(book.experiment))
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    one, two = rows
    assert {"task", "agent", "recovery", "low", "high", "g", "claim", "outcome", "digest", "hints"} <= set(one)
    assert type(one["claim"]) is str
    assert one["unsafe"] is True
    assert one["instances"][0]["failures"] == {}
    assert (two["recovery"], two["claim"], two["outcome"]) == (None, "inconclusive", "incomplete")


def test_within_a_task_the_best_comes_first_and_the_unknown_last(make_book):
    book = make_book(("waiting", "worse", "better"))
    for agent, error in (("worse", 0.9), ("better", 0.2)):
        (trial,) = book.ids(agent)
        book.start(trial)
        book.done(trial, error)
    board = scoreboard(book.experiment)
    assert [row.agent for row in board.rows] == ["better", "worse", "waiting"]
    assert [line.agent for line in board.overall] == ["better", "worse", "waiting"]
