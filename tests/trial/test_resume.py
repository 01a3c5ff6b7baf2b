"""`kill -9` before and after every write to the journal; resuming loses nothing and repeats nothing."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from surpass.trial import State, open_experiment, run_trial

KILLER = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from surpass.sandbox import open_sandbox
    from surpass.trial import Journal, open_experiment, run_trial

    directory, trial, when, nth = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    count = 0

    def deadly(function):
        def call(*arguments, **options):
            global count
            mine, count = count, count + 1
            if mine == nth and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments, **options)
            if mine == nth:
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return call

    Journal.move = deadly(Journal.move)
    Journal.add_attempt = deadly(Journal.add_attempt)
    run_trial(open_experiment(Path(directory)), trial, open_sandbox())
""")

BOUNDARIES = 6
"""begin, prepared, attempt, sealed, judging, outcome"""


@pytest.mark.parametrize(("when", "nth"), [*itertools.product(["before", "after"], range(BOUNDARIES))])
def test_kill_at_every_boundary(make_experiment, sandbox, when, nth):
    experiment = make_experiment()
    (trial,) = experiment.journal.trials()
    command = [sys.executable, "-c", KILLER, str(experiment.root), trial.plan.id, when, str(nth)]
    killed = subprocess.run(command, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()

    before = experiment.journal.attempts(trial.plan.id), experiment.journal.transitions()
    assert run_trial(open_experiment(experiment.root), trial.plan.id, sandbox) is State.DONE

    attempts, transitions = experiment.journal.attempts(trial.plan.id), experiment.journal.transitions()
    assert attempts[: len(before[0])] == before[0], "a journalled attempt was lost or repeated"
    assert transitions[: len(before[1])] == before[1]
    assert len(attempts) == 1
    assert [t.new for t in transitions] == ["preparing", "solving", "sealed", "judging", "done"]
    assert experiment.journal.trial(trial.plan.id).verdict.scorecard.headline == pytest.approx(1.0, abs=0.15)


def test_there_are_no_more_boundaries_than_those(make_experiment):
    experiment = make_experiment()
    (trial,) = experiment.journal.trials()
    command = [sys.executable, "-c", KILLER, str(experiment.root), trial.plan.id, "before", str(BOUNDARIES)]
    assert subprocess.run(command, check=False).returncode == 0


def test_running_a_finished_trial_again_changes_nothing(make_experiment, sandbox):
    experiment = make_experiment()
    (trial,) = experiment.journal.trials()
    run_trial(experiment, trial.plan.id, sandbox)
    before = experiment.journal.trial(trial.plan.id), experiment.journal.transitions()
    assert run_trial(experiment, trial.plan.id, sandbox) is State.DONE
    assert (experiment.journal.trial(trial.plan.id), experiment.journal.transitions()) == before


def test_a_killed_tuner_goes_on_where_it_stopped(make_experiment, sandbox):
    whole, cut = make_experiment(["tuner"]), make_experiment(["tuner"])
    (trial,) = whole.journal.trials()
    run_trial(whole, trial.plan.id, sandbox)
    command = [sys.executable, "-c", KILLER, str(cut.root), trial.plan.id, "after", "3"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(cut.journal.attempts(trial.plan.id)) == 2
    run_trial(cut, trial.plan.id, sandbox)
    keys = [[attempt.key for attempt in e.journal.attempts(trial.plan.id)] for e in (whole, cut)]
    assert keys[0] == keys[1]


def test_no_process_outlives_a_killed_trial(make_experiment):
    experiment = make_experiment(
        files={"solutions/oracle/solve.py": f"import subprocess\nsubprocess.run(['sleep', '{NAP}'])\n"}
    )
    (trial,) = experiment.journal.trials()
    command = [sys.executable, "-m", "surpass.trial.worker", str(experiment.root), trial.plan.id]
    worker = subprocess.Popen(command)
    try:
        for _ in range(200):
            if _sleepers():
                break
            worker.poll() or _pause()
        assert _sleepers()
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
    for _ in range(100):
        if not _sleepers():
            break
        _pause()
    assert not _sleepers()


NAP = f"4321.{os.getpid()}"
"""Seconds, and a mark by which the process is found: nobody else sleeps exactly as long."""


def _sleepers():
    found = subprocess.run(["pgrep", "-f", f"sleep {NAP}"], capture_output=True, text=True, check=False)
    return found.stdout.split()


def _pause():
    import time

    time.sleep(0.05)
