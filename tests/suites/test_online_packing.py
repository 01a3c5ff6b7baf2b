"""The task online-packing: its data, its two sides of the pipe, its score, and its solutions honest and evil."""

from __future__ import annotations

import filecmp
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import stats

import surpass
from surpass.guard import Malformed

TASK = Path(surpass.__file__).parent / "suites" / "nature" / "online-packing"
START, ORACLE = TASK / "public" / "start", TASK / "solutions" / "oracle"
EVIL = sorted((TASK / "solutions").glob("evil-*"))
SPEC = tomllib.loads((TASK / "task.toml").read_text())
INSTANCES = {instance["name"]: instance for instance in SPEC["instance"]}
NONE = dict.fromkeys(SPEC["settings"], 0)


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"online_packing_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


generator, driver, evaluator = (load(TASK / "private" / f"{name}.py") for name in ("generate", "driver", "evaluator"))


class Case:
    """Three folders with the data of one tier and the record of one run."""

    def __init__(self, root: Path, *, tier: str = "final", seed: int = 0, **settings: int) -> None:
        self.inputs, self.truth, self.outputs = root / "inputs", root / "truth", root / "outputs"
        for folder in (self.inputs, self.truth, self.outputs):
            folder.mkdir(parents=True)
        generator.generate(tier, seed, self.inputs, self.truth, **{**NONE, **settings})

    def drive(self, command: list[str], cwd: Path, seconds: float = 50.0) -> None:
        """Connect the driver with a real process; beyond the budget the process is killed, as the harness does."""
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, cwd=cwd, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
        ) as process:
            late = threading.Event()

            def stop() -> None:
                late.set()
                os.killpg(process.pid, signal.SIGKILL)  # a grandchild would keep the pipe open

            timer = threading.Timer(seconds, stop)
            timer.start()
            try:
                driver.drive(self.inputs, self.outputs, process.stdin, process.stdout)
            except Malformed:
                if late.is_set():
                    raise Malformed("timeout") from None
                raise
            finally:
                timer.cancel()
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def run(self, solution: Path, seconds: float = 50.0) -> dict[str, dict[str, float]]:
        self.drive([sys.executable, "-I", "-B", str(TASK / "public" / "runner.py")], solution, seconds)
        return evaluator.evaluate(self.outputs, self.truth)


@pytest.fixture
def small(tmp_path: Path) -> Case:
    return Case(tmp_path, a_120=4, a_250=1, b_5k=1)


# --- data


def test_same_arguments_same_bytes_and_other_data_otherwise(tmp_path):
    first = Case(tmp_path / "1", seed=5, a_120=3, b_5k=1)
    again = Case(tmp_path / "2", seed=5, a_120=3, b_5k=1)
    names = ["a-120.npy", "b-5k.npy", "families.json", "order.npy"]
    assert sorted(path.name for path in first.inputs.iterdir()) == names
    assert filecmp.cmpfiles(first.inputs, again.inputs, names, shallow=False)[0] == names
    assert filecmp.cmpfiles(first.inputs, first.truth, names[:-1], shallow=False)[0] == names[:-1]
    reference = (first.truth / "a-120.npy").read_bytes()
    for number, (tier, seed) in enumerate([("final", 6), ("feedback", 5), ("dev", 5), ("final", 2**80)]):
        other = Case(tmp_path / f"other{number}", tier=tier, seed=seed, a_120=3)
        assert (other.truth / "a-120.npy").read_bytes() != reference


def test_defaults_of_generate_are_the_settings_of_the_task(tmp_path):
    (tmp_path / "i").mkdir()
    (tmp_path / "t").mkdir()
    generator.generate("dev", 0, tmp_path / "i", tmp_path / "t")
    assert set(json.loads((tmp_path / "t" / "families.json").read_text())) == set(INSTANCES)
    for name in INSTANCES:
        assert len(np.load(tmp_path / "t" / f"{name}.npy")) == SPEC["settings"][name.replace("-", "_")]


def test_quick_profile_makes_exactly_its_instances():
    quick = SPEC["profiles"]["quick"]
    made = {name.replace("_", "-") for name, streams in quick["settings"].items() if streams}
    assert made == set(quick["instances"])
    assert set(quick["settings"]) == set(SPEC["settings"])


def test_order_plays_every_stream_once_and_mixes_families(tmp_path):
    case = Case(tmp_path, a_120=30, a_250=30)
    order = np.load(case.inputs / "order.npy")
    assert sorted(map(tuple, order.tolist())) == [(f, s) for f in range(2) for s in range(30)]
    assert np.count_nonzero(np.diff(order[:, 0])) > 5


def test_laws(tmp_path):
    case = Case(tmp_path, a_1000=200, b_100k=4)
    a, b = np.load(case.truth / "a-1000.npy"), np.load(case.truth / "b-100k.npy")
    assert a.dtype == b.dtype == np.int16
    assert (a.min(), a.max()) == (20, 100)
    assert abs(a.mean() - 60) < 5 * 23.38 / np.sqrt(a.size)
    assert np.ptp(np.bincount(a.ravel())[20:]) < 0.25 * a.size / 81
    # The mean of floor(45 w), w Weibull of shape 3, is the sum over k >= 1 of P(45 w >= k).
    mean = np.exp(-((np.arange(1, 101) / 45) ** 3)).sum()
    assert mean == pytest.approx(39.68, abs=0.02)
    assert abs(b.mean() - mean) < 5 * b.std() / np.sqrt(b.size)
    assert b.min() >= 1 and b.max() <= 100


# --- score


def best_fit(items: list[int], capacity: int) -> list[int]:
    """Plain best fit, written apart from the start's."""
    levels, choices = [0] * (capacity + 1), []
    for item in items:
        level = next((r for r in range(item, capacity) if levels[r]), -1)
        if level >= 0:
            levels[level] -= 1
        levels[(capacity if level < 0 else level) - item] += 1
        choices.append(level)
    return choices


@pytest.mark.parametrize("name", ["a-120", "a-250", "a-500", "a-1000", "b-5k", "b-10k"])
def test_best_fit_scores_the_baseline(name):
    family, instance = generator.FAMILIES[name], INSTANCES[name]
    streams = generator.draw(family, max(2, 120_000 // family.items), np.random.default_rng(11))
    bins = [evaluator.replay(s, best_fit(s, family.capacity), family.capacity) for s in streams.tolist()]
    result = evaluator.summarise(np.array(bins), evaluator.bounds(streams, family.capacity))
    assert abs(result["excess"] - instance["baseline"]) < 4 * result["excess_se"]


@pytest.mark.parametrize(("name", "printed", "streams"), [
    ("a-120", 5.81, 20), ("a-250", 6.06, 20), ("a-500", 5.37, 20), ("a-1000", 4.94, 20), ("b-5k", 3.98, 5),
    ("b-10k", 3.90, 5), ("b-100k", 3.79, 1),
])  # fmt: skip
def test_baseline_agrees_with_the_printed_best_fit(name, printed, streams):
    """Within the sampling error of the few streams behind the printed number (3 errors)."""
    instance = INSTANCES[name]
    spread = instance["baseline_spread"] * np.sqrt(SPEC["settings"][name.replace("-", "_")] / streams)
    assert abs(instance["baseline"] - printed) < 3 * spread


def test_excess_by_hand():
    # Volumes 12 and 21 in bins of 10: bounds 2 and 3. Bins 3 and 3: mean 3 over mean 2.5.
    streams = np.array([[6, 6, 0], [7, 7, 7]], dtype=np.int16)
    assert evaluator.bounds(streams, 10).tolist() == [2, 3]
    result = evaluator.summarise(np.array([3, 3]), np.array([2, 3]))
    assert result["excess"] == pytest.approx(20)
    # Residuals 3 - 1.2 * 2 = 0.6 and 3 - 1.2 * 3 = -0.6: error sqrt(0.72 / 1 / 2) = 0.6 over the mean bound 2.5.
    assert result["excess_se"] == pytest.approx(24 * 12.7062 / 1.96)
    assert "excess_se" not in evaluator.summarise(np.array([3]), np.array([2]))
    assert evaluator.summarise(np.array([2]), np.array([2]))["excess"] == INSTANCES["b-5k"]["range"][0]


def test_students_factor():
    for freedom in (1, 2, 3, 7, 15, 199):
        assert evaluator.student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom) / 1.96, rel=0.01)


def test_replay_by_hand():
    assert evaluator.replay([6, 4, 10, 3, 7], [-1, 4, -1, -1, 7], 10) == 3
    assert evaluator.replay([1, 1, 1], [-1, -1, -1], 10) == 3


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        ([-1, 3], "bin-overflow"),
        ([-1, 4], "no-such-bin"),
        ([0, -1], "no-such-bin"),
        ([-1, 10], "no-such-bin"),
        ([-1, -2], "no-such-bin"),
        ([-1, -7], "no-such-bin"),  # would be level 3 of a list that wraps around
        ([-1, 32767], "no-such-bin"),
        ([-1, -32768], "no-such-bin"),
    ],
)
def test_replay_refuses(choices, code):
    with pytest.raises(Malformed) as failure:
        evaluator.replay([7, 4], choices, 10)
    assert failure.value.code == code


def test_families_fail_one_by_one(small):
    for name in ("a-120", "b-5k"):
        capacity = generator.FAMILIES[name].capacity
        streams = np.load(small.truth / f"{name}.npy")
        choices = np.array([best_fit(items, capacity) for items in streams.tolist()], dtype=np.int16)
        np.save(small.outputs / f"{name}.npy", choices)
    wrong = np.load(small.outputs / "a-120.npy")[:-1]
    np.save(small.outputs / "a-120.npy", wrong)
    result = evaluator.evaluate(small.outputs, small.truth)
    assert (result["a-120"].code, result["a-250"].code) == ("shape", "missing")
    assert 1 < result["b-5k"]["excess"] < 7
    np.save(small.outputs / "a-120.npy", wrong.astype(np.int64))
    assert evaluator.evaluate(small.outputs, small.truth)["a-120"].code == "dtype"


# --- both sides of the pipe


def test_start_is_best_fit_through_the_pipe(small):
    result = small.run(START)
    for name in ("a-120", "a-250", "b-5k"):
        streams, capacity = np.load(small.truth / f"{name}.npy"), generator.FAMILIES[name].capacity
        choices = np.load(small.outputs / f"{name}.npy")
        assert choices.tolist() == [best_fit(items, capacity) for items in streams.tolist()]
        assert result[name]["bins"] == (choices == -1).sum(axis=1).mean()  # the driver's record, counted otherwise


def test_driver_plays_in_the_given_order(small):
    """A program that writes down what it is told hears each stream whole, and nothing but items and capacities."""
    log = small.outputs.parent / "heard"
    echo = (
        "import sys\nwith open(sys.argv[1], 'w') as log:\n for line in sys.stdin:\n  log.write(line); log.flush()\n"
        "  if line[0] != 'n': print(-1, flush=True)"
    )
    small.drive([sys.executable, "-I", "-c", echo, str(log)], small.inputs)
    names = list(json.loads((small.inputs / "families.json").read_text()))
    expected = []
    for family, stream in np.load(small.inputs / "order.npy").tolist():
        expected.append(f"new {generator.FAMILIES[names[family]].capacity}")
        expected += [str(item) for item in np.load(small.inputs / f"{names[family]}.npy")[stream]]
    assert log.read_text().split("\n")[:-1] == expected


@contextmanager
def answers(content: bytes, *, closed: bool) -> Iterator[driver.Program]:
    """A program whose pipe already holds `content`; it reads nothing."""
    inward, outward = os.pipe(), os.pipe()
    with os.fdopen(inward[0], "rb") as _, os.fdopen(inward[1], "wb") as send, os.fdopen(outward[0], "rb") as receive:
        program = driver.Program(send, receive)
        program.expect_silence()
        program.expect_silence = lambda: None  # what is there counts as written after the question
        os.write(outward[1], content)
        if closed:
            os.close(outward[1])
        yield program
        if not closed:
            os.close(outward[1])


@pytest.mark.parametrize("content", [b"-1\n", b"0\n", b"99999\n"])
def test_answers_read(content):
    with answers(content, closed=False) as program:
        assert program.ask(5) == int(content)


@pytest.mark.parametrize(
    "content",
    [
        b"\n", b" 1\n", b"1 \n", b"+1\n", b"01\n", b"-0\n", b"-2\n", b"1.0\n", b"1e3\n", b"0x1\n", b"1_0\n", b"1\r\n",
        b"nan\n", b"None\n", b"1\n2\n", b"1\n\n", b"\x00\n", "\u0663\n".encode(), b"1" * 8, b"9" * 60_000, b"100000\n",
        b"1" * 64 + b"\n",
    ],
)  # fmt: skip
def test_answers_refused(content):
    with answers(content, closed=False) as program, pytest.raises(Malformed) as failure:
        program.ask(5)
    assert failure.value.code == "protocol"


@pytest.mark.parametrize("content", [b"", b"1", b"-"])
def test_end_of_pipe_is_an_early_exit(content):
    with answers(content, closed=True) as program, pytest.raises(Malformed) as failure:
        program.ask(5)
    assert failure.value.code == "early-exit"


def test_unasked_answers_are_refused_before_the_item_is_sent():
    inward, outward = os.pipe(), os.pipe()
    with (
        os.fdopen(inward[0], "rb", 0) as heard,
        os.fdopen(inward[1], "wb") as send,
        os.fdopen(outward[0], "rb") as receive,
    ):
        program = driver.Program(send, receive)
        os.write(outward[1], b"-1\n")
        with pytest.raises(Malformed) as failure:
            program.ask(5)
        os.close(outward[1])
        os.set_blocking(heard.fileno(), False)
        assert heard.read(8) is None
    assert failure.value.code == "protocol"


def test_play_refuses_choices_as_the_evaluator_does():
    for content, code in ((b"-1\n3\n", "bin-overflow"), (b"-1\n4\n", "no-such-bin"), (b"10\n", "no-such-bin")):
        program = driver.Program.__new__(driver.Program)
        lines = iter(content.decode().split())
        program.tell, program.ask = lambda line: None, lambda item, lines=lines: int(next(lines))
        with pytest.raises(Malformed) as failure:
            driver.play(program, np.array([7, 4], dtype=np.int16), 10)
        assert failure.value.code == code


# --- solutions


def recovery(instance: dict, value: float, error: float) -> tuple[float, float]:
    """(m - b) / (s - b) and its standard error, on logarithms where the instance says so."""
    m, b, s = value, instance["baseline"], instance["sota"]
    errors = np.array([error, instance["baseline_spread"], instance["sota_spread"]])
    if instance["scale"] == "log":
        errors = errors / [m, b, s]
        m, b, s = np.log([m, b, s])
    slopes = np.array([1 / (s - b), (m - s) / (s - b) ** 2, -(m - b) / (s - b) ** 2])
    return (m - b) / (s - b), float(np.sqrt(((slopes * errors) ** 2).sum()))


@pytest.mark.parametrize("seed", range(2))
def test_null_is_zero_and_oracle_is_at_least_one(tmp_path, seed):
    quick = SPEC["profiles"]["quick"]["settings"]
    null = Case(tmp_path / "null", seed=seed, **quick).run(START)
    oracle = Case(tmp_path / "oracle", seed=seed, **quick).run(ORACLE)
    assert set(null) == set(oracle) == set(SPEC["profiles"]["quick"]["instances"])
    for name, instance in INSTANCES.items():
        if name not in null:
            continue
        value, error = recovery(instance, null[name]["excess"], null[name]["excess_se"])
        assert abs(value) < 2 * error, name
        value, error = recovery(instance, oracle[name]["excess"], oracle[name]["excess_se"])
        assert value + 2 * error > 1, name


@pytest.mark.parametrize("solution", EVIL, ids=lambda path: path.name)
def test_evil_is_rejected(small, solution):
    expect = tomllib.loads((solution / "evil.toml").read_text())["expect"]
    # The parent of the program must not be this process, which holds the streams in memory; a sandbox sees to that.
    apart = ["sh", "-c", '"$0" -I -B "$1"; exit $?', sys.executable, str(TASK / "public" / "runner.py")]
    with pytest.raises(Malformed) as failure:
        small.drive(apart, solution, seconds=4.0)
    assert failure.value.code == expect
    assert not any(small.outputs.iterdir())


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("raise ValueError", "early-exit"),
        ("return None", "protocol"),
        ("return True if counts[1] else -1", None),
        ("counts[0] = 1; return -1", "early-exit"),
        ("print('hello'); return -1", None),
        ("import numpy; return numpy.int16(-1)", None),
        ("return '-1'", "protocol"),
        ("return 10**30", "protocol"),
    ],
)
def test_runner(tmp_path, body, code):
    case = Case(tmp_path, a_120=1)
    policy = (
        f"class Policy:\n    def __init__(self, capacity): pass\n    def choose(self, item, counts):\n        {body}\n"
    )
    (tmp_path / "policy.py").write_text(policy)
    if code is None:
        assert case.run(tmp_path)["a-120"]["bins"] == 120
    else:
        with pytest.raises(Malformed) as failure:
            case.run(tmp_path)
        assert failure.value.code == code


def test_practice_agrees_with_the_judge(tmp_path):
    case = Case(tmp_path / "dev", tier="dev", a_120=3, b_5k=1)
    result = case.run(START)
    command = [sys.executable, "-B", str(TASK / "public" / "practice.py"), "a-120"]
    environment = {**os.environ, "SURPASS_DATA": str(tmp_path)}
    shown = subprocess.run(command, cwd=START, env=environment, capture_output=True, text=True, check=True).stdout
    assert shown.split()[:3] == ["a-120", "excess", f"{result['a-120']['excess']:.3f}"]
    assert "b-5k" not in shown


# --- words


def test_nothing_the_agent_sees_names_the_source():
    hide = tomllib.loads((TASK / "private" / "source.toml").read_text())["paper"]["hide"]
    seen = [TASK / "brief.md", *(TASK / "hints").iterdir(), *(p for p in (TASK / "public").rglob("*") if p.is_file())]
    for path in seen:
        if path.suffix in {".py", ".md"}:
            text = path.read_text() + SPEC["title"]
            assert not [word for word in hide if re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE)], path


def test_knobs_are_of_the_form_that_the_tuner_reads():
    lines = [line for line in (START / "policy.py").read_text().splitlines() if "# knob:" in line]
    number = r"[-+.e0-9]+"
    assert len(lines) == 4
    for line in lines:
        assert re.fullmatch(rf"[A-Z_]+ = {number}  # knob: (float|int|log) {number} {number}", line)
