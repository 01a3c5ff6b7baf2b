"""Trials end to end in the real sandbox: control arms, failures, cheats, budgets, infrastructure errors."""

import json
import sys

import pytest

from surpass.agent import BudgetExhausted
from surpass.trial import State, run_trial
from surpass.verdict import Outcome

SPY = """
import os, pathlib
found = []
for root in ("/data/feedback", "/data/final", "/private", "/truth", "/judged", "/harness"):
    found += [str(p) for p in pathlib.Path(root).rglob("*") if "truth" in str(p) or "evaluator" in str(p)]
try:
    import surpass
    found.append("surpass")
except ImportError:
    pass
print(found)
print(sorted(k for k in os.environ))
print(pathlib.Path("/data/dev/truth/mean.npy").is_file())
"""


def _run(experiment, sandbox, agent="oracle"):
    (trial,) = [t for t in experiment.journal.trials() if t.plan.agent == agent]
    run_trial(experiment, trial.plan.id, sandbox)
    return experiment.journal.trial(trial.plan.id)


def _own(monkeypatch, tmp_path, body, name):
    """An agent of one's own whose `solve` is `body`."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    (tmp_path / f"{name}.py").write_text(f"class A:\n    name = 'a'\n    async def solve(self, bench):\n{lines}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop(name, None)
    return f"{name}:A"


def test_null_scores_zero_and_oracle_scores_one(make_experiment, sandbox):
    experiment = make_experiment(["nop", "oracle"])
    null, oracle = _run(experiment, sandbox, "nop"), _run(experiment, sandbox, "oracle")
    assert null.state is State.DONE
    assert null.verdict.scorecard.headline == pytest.approx(0.0)
    assert oracle.verdict.scorecard.headline == pytest.approx(1.0, abs=0.15)
    folder = experiment.folder(oracle.plan.id)
    assert json.loads((folder.root / "verdict.json").read_text())["tier"] == "final"
    assert (folder.submission(1) / "outputs" / "final" / "mean.npy").is_file()


def test_equal_seeds_see_equal_hidden_data_and_others_do_not(make_experiment, sandbox):
    experiment = make_experiment(["oracle", "nop"], trials=2)
    for trial in experiment.journal.trials():
        run_trial(experiment, trial.plan.id, sandbox)
    values = {(t.plan.agent, t.plan.index): t.verdict.metrics["mean"]["error"] for t in experiment.journal.trials()}
    assert values["oracle", 0] != values["oracle", 1]
    data = experiment.data(experiment.task("local/estimate-mean"), 0)
    assert (data / "final" / "truth" / "mean.npy").is_file()


def test_the_tuner_finds_the_better_knob(make_experiment, sandbox):
    from tests.conftest import TOML

    toml = TOML.format(id="estimate-mean").replace("attempts = 3", "attempts = 8")
    trial = _run(make_experiment(["tuner"], files={"task.toml": toml}), sandbox, "tuner")
    assert trial.state is State.DONE
    assert trial.verdict.scorecard.headline > 0.05


def test_an_agent_sees_neither_truth_nor_private_files_nor_the_package(make_experiment, sandbox, monkeypatch, tmp_path):
    body = f"""
done = await bench.exec(["python", "-c", {SPY!r}])
bench.log(done.stdout.decode() + done.stderr.decode())
"""
    agent = _own(monkeypatch, tmp_path, body, "spy_agent_for_test")
    monkeypatch.setenv("SOME_API_KEY", "secret")
    experiment = make_experiment([agent])
    trial = _run(experiment, sandbox, agent)
    message = json.loads(experiment.folder(trial.plan.id).transcript.read_text().splitlines()[0])["message"]
    assert message.startswith("[]\n")
    assert "SOME_API_KEY" not in message
    assert message.strip().endswith("True")


@pytest.mark.parametrize(
    ("code", "state", "expected"),
    [
        ("Path('outputs/final/mean.npy').unlink()", State.FAILED, "missing"),
        ("np.save('outputs/final/mean.npy', np.array([np.nan]))", State.FAILED, "not-finite"),
        ("np.save('outputs/final/mean.npy', np.zeros(2))", State.FAILED, "shape"),
        ("Path('outputs/final/mean.npy').write_bytes(b'')", State.FAILED, "empty"),
        ("np.save('outputs/final/mean.npy', np.array([1e300]))", State.FAILED, "out-of-range"),
        ("Path('outputs/more').symlink_to('/data')", State.INVALID, "link"),
        ("os.mkfifo('outputs/pipe')", State.INVALID, "special-file"),
    ],
)
def test_what_cannot_be_scored_is_a_failure_with_a_code(make_experiment, sandbox, code, state, expected):
    solve = "import os, numpy as np\nfrom pathlib import Path\nexec(open('base.py').read())\n" + code + "\n"
    from tests.conftest import ORACLE

    experiment = make_experiment(files={"solutions/oracle/solve.py": solve, "solutions/oracle/base.py": ORACLE})
    trial = _run(experiment, sandbox)
    assert (trial.state, trial.verdict.code) == (state, expected)
    assert trial.verdict.scorecard is None


def test_an_agent_that_does_nothing_or_crashes_is_judged_on_its_workspace(
    make_experiment, sandbox, monkeypatch, tmp_path
):
    for name, body in [("idle_agent_for_test", "pass"), ("crash_agent_for_test", "raise RuntimeError('boom')")]:
        agent = _own(monkeypatch, tmp_path, body, name)
        trial = _run(make_experiment([agent]), sandbox, agent)
        assert (trial.state, trial.chosen, trial.verdict.code) == (State.FAILED, 0, "missing")
        assert (trial.error or "").endswith("boom") == ("crash" in name)


def test_attempts_are_bounded_equal_content_is_free_and_the_best_is_judged(
    make_experiment, sandbox, monkeypatch, tmp_path
):
    agent = _own(
        monkeypatch,
        tmp_path,
        """
import io, numpy as np
async def put(value):
    stream = io.BytesIO()
    np.save(stream, np.array([value]))
    for tier in ("feedback", "final"):
        await bench.write(f"outputs/{tier}/mean.npy", stream.getvalue())
    return await bench.attempt(str(value))
first = await put(5.5)
assert (await put(5.5)) == first and bench.attempts_left() == 2
assert (await put(5.2)).score == 0.9, bench.attempts
await put(9.0)
assert bench.attempts_left() == 0
assert (await put(5.2)).attempt == 2
try:
    await put(5.0)
except Exception as ended:
    bench.log(type(ended).__name__)
""",
        "counting_agent_for_test",
    )
    experiment = make_experiment([agent])
    trial = _run(experiment, sandbox, agent)
    assert trial.error is None
    assert trial.chosen == 2
    assert trial.verdict.metrics["mean"]["error"] == pytest.approx(0.2)
    assert [a.number for a in experiment.journal.attempts(trial.plan.id)] == [1, 2, 3]
    assert BudgetExhausted.__name__ in experiment.folder(trial.plan.id).transcript.read_text()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("import time; time.sleep(60)", "evaluator-timeout"),
        ("import os; os.fork() or __import__('time').sleep(60)", None),
        ("x = bytearray(4 << 30)", "evaluator-memory"),
        ("open('/tmp/big', 'wb').write(bytes(1 << 30))", "evaluator-error"),
        ("import os; os.kill(os.getpid(), 9)", "evaluator-error"),
        ("import os; os.kill(os.getppid(), 9)", "evaluator-error"),
        ("print('{\"nonce\": 1}'); raise ValueError('truth is 42')", "evaluator-error"),
    ],
)
def test_an_evaluator_that_misbehaves_fails_the_submission_and_not_the_harness(make_experiment, sandbox, body, code):
    from tests.conftest import EVALUATOR

    evaluator = EVALUATOR.replace("def _score(outputs, truth):", f"def _score(outputs, truth):\n    {body}")
    experiment = make_experiment(files={"private/evaluator.py": evaluator})
    trial = _run(experiment, sandbox)
    if code is None:
        assert trial.state is State.DONE
        return
    assert trial.state is State.FAILED
    # Which limit an evaluation meets first depends on the machine's load; that it meets one does not.
    assert trial.verdict.code == code or {trial.verdict.code, code} <= {
        "evaluator-memory",
        "evaluator-timeout",
        "evaluator-error",
    }
    (attempt,) = experiment.journal.attempts(trial.plan.id)
    assert "42" not in json.dumps(attempt.feedback.code)


def test_a_broken_evaluator_or_generator_is_an_infrastructure_error_that_can_be_resumed(make_experiment, sandbox):
    experiment = make_experiment(files={"private/evaluator.py": "raise SystemExit(3)\n"})
    trial = _run(experiment, sandbox)
    assert trial.state is State.INFRA_ERROR
    assert "evaluator.py does not start" in trial.error
    experiment = make_experiment(files={"private/generate.py": "def generate(*a, **k): raise ValueError('no')\n"})
    assert "generate.py failed" in _run(experiment, sandbox).error


def test_nan_from_the_evaluator_fails_the_instance(make_experiment, sandbox):
    evaluator = "def evaluate(outputs, truth):\n    return {'mean': {'error': float('nan')}}\n"
    trial = _run(make_experiment(files={"private/evaluator.py": evaluator}), sandbox)
    assert (trial.state, trial.verdict.code) == (State.FAILED, "not-finite")
    evaluator = "def evaluate(outputs, truth):\n    return {'other': {'error': 0.1}}\n"
    trial = _run(make_experiment(files={"private/evaluator.py": evaluator}), sandbox)
    assert (trial.state, trial.verdict.outcome) == (State.FAILED, Outcome.FAILED)


def test_a_submission_changed_after_sealing_is_not_judged(make_experiment, sandbox, monkeypatch):
    experiment = make_experiment()
    (trial,) = experiment.journal.trials()
    from surpass.trial.runner import _Runner

    def tamper(self, trial):
        path = self._folder.submission(trial.chosen) / "outputs" / "final" / "mean.npy"
        path.write_bytes(path.read_bytes()[:-1] + b"\x00")
        self._journal.move(self._id, State.SEALED, State.JUDGING)

    monkeypatch.setattr(_Runner, "_start_judging", tamper)
    run_trial(experiment, trial.plan.id, sandbox)
    trial = experiment.journal.trial(trial.plan.id)
    assert trial.state is State.INFRA_ERROR
    assert "damaged" in trial.error


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("import sys; sys.exit(0)", "SystemExit"),
        ("raise RuntimeError('\\udc80')", "RuntimeError: ?"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("await bench.exec(['sleep', '9'], timeout_s=float('nan'))", "ValueError"),
        ("await bench.exec(['sleep', '9'], timeout_s=0)", "ValueError"),
    ],
)
def test_whatever_an_agent_raises_is_its_own_failure(make_experiment, sandbox, monkeypatch, tmp_path, body, expected):
    """Never an infrastructure error: that would leave the denominator and could be tried again."""
    agent = _own(monkeypatch, tmp_path, body, "raising_agent_for_test")
    trial = _run(make_experiment([agent]), sandbox, agent)
    assert trial.state is State.FAILED
    assert expected in trial.error


def test_a_failure_of_ours_is_not_the_agents_even_when_it_swallows_it(make_experiment, sandbox, monkeypatch, tmp_path):
    body = """
try:
    await bench.attempt()
except Exception:
    pass
await bench.exec(["true"])
"""
    agent = _own(monkeypatch, tmp_path, body, "swallowing_agent_for_test")
    experiment = make_experiment([agent])
    from surpass.trial import StorageError
    from surpass.trial.workbench import TrialWorkbench

    def full(self, note):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TrialWorkbench, "_attempt", full)
    with pytest.raises(StorageError, match="No space left"):
        _run(experiment, sandbox, agent)
    assert experiment.journal.trials()[0].state is State.SOLVING


def test_commands_run_one_at_a_time_and_end_before_sealing(make_experiment, sandbox, monkeypatch, tmp_path):
    body = """
import asyncio
script = "import time; a = time.time(); time.sleep(0.4); print(a, time.time())"
done = await asyncio.gather(*(bench.exec(["python", "-c", script]) for _ in range(2)))
spans = sorted(tuple(map(float, one.stdout.split())) for one in done)
assert spans[0][1] <= spans[1][0], spans
asyncio.get_running_loop().create_task(bench.exec(["sh", "-c", "sleep 1; touch late"]))
await asyncio.sleep(0.1)
"""
    agent = _own(monkeypatch, tmp_path, body, "parallel_agent_for_test")
    experiment = make_experiment([agent])
    trial = _run(experiment, sandbox, agent)
    assert trial.error is None
    assert (experiment.folder(trial.plan.id).submission(0) / "late").is_file()


def test_an_agent_that_blocks_the_event_loop_is_interrupted(make_experiment, sandbox, monkeypatch, tmp_path):
    from surpass.trial import solving

    monkeypatch.setattr(solving, "_SLACK_SECONDS", -84.0)  # 60 s of solving, 20 of a run, 5 of an evaluation
    agent = _own(monkeypatch, tmp_path, "while True: pass", "blocking_agent_for_test")
    trial = _run(make_experiment([agent]), sandbox, agent)
    assert trial.state is State.FAILED
    assert "TimeoutError" in trial.error


@pytest.mark.parametrize(
    ("detail", "expected"),
    [("none", (None, None)), ("pass", (True, None)), ("score", (True, 0.0))],
)
def test_an_attempt_tells_what_the_task_allows(make_experiment, sandbox, detail, expected):
    from tests.conftest import TOML

    toml = TOML.format(id="estimate-mean").replace('detail = "score"', f'detail = "{detail}"')
    experiment = make_experiment(["nop"], files={"task.toml": toml})
    trial = _run(experiment, sandbox, "nop")
    (attempt,) = experiment.journal.attempts(trial.plan.id)
    assert (attempt.feedback.accepted, attempt.feedback.score) == expected
    assert attempt.verdict.scorecard is not None
