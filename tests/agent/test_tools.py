"""The tools of an agent, each on real programs in a real sandbox."""

import asyncio
import shutil

import pytest

from surpass.agent import BudgetExhausted
from surpass.agent.tools import TOOLS, ToolError, tools_named
from tests.agent.bench import FolderBench

C = """
#include <stddef.h>
void add(float *restrict a, const float *restrict b, size_t n) {
    int unused;
    for (size_t i = 0; i < n; i++) a[i] = a[i] * 2.0f + b[i];
}
double chain(const double *a, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i];
    return sum;
}
"""
SCRIPT = """
import sys

def slow():
    return sum(i * i for i in range(300000))

def fast():
    return 1

if __name__ == "__main__":
    slow(); fast()
    if len(sys.argv) > 1:
        raise ValueError("asked to")
"""
LOG = "\n".join(
    f"step {step}/100 train_loss {4 * 0.99**step + (2 if step == 60 else 0):.4f}" for step in range(5, 96, 5)
)


@pytest.fixture
def bench(tmp_path, sandbox):
    return FolderBench(tmp_path / "w", sandbox, [(True, 0.5, ""), (False, None, "target-missed"), (None, None, "")])


@pytest.fixture
def call(bench):
    def answer(name, **arguments):
        return asyncio.run(TOOLS[name].call(bench, arguments))

    return answer


def test_an_editor_writes_replaces_and_shows(call):
    call("edit", path="sub/a.py", new="x = 1\ny = 1\n")
    call("edit", path="sub/a.py", old="x = 1", new="x = 2")
    assert call("view", path="sub/a.py") == "x = 2\ny = 1\n"
    with pytest.raises(ToolError, match="occurs 2 times"):
        call("edit", path="sub/a.py", old=" = ", new="=")
    assert call("shell", command="cat sub/a.py && exit 3").startswith("x = 2")
    assert "exit status 3" in call("shell", command="exit 3")


def test_an_attempt_tells_what_the_task_lets_one_know(call, bench):
    assert call("budget") == "1.5 minutes and 3 attempts left"
    assert call("attempt", note="first") == "attempt 1: score 0.5; 2 attempts left"
    assert call("attempt") == "attempt 2 did not score: target-missed"
    assert call("attempt") == "attempt 3 was taken"
    assert bench.attempts[0].note == "first"
    with pytest.raises(BudgetExhausted):
        call("attempt")


def test_a_compiler_s_messages_are_ranked(call):
    call("edit", path="a.c", new=C.replace("return sum;", "return summ;"))
    said = call("compile", command="gcc -Wall -c a.c -o a.o")
    lines = said.splitlines()
    assert lines[0].startswith("exit status 1; 1 error, ")
    assert lines[1].startswith("error: a.c:11: 'summ' undeclared") or "summ" in lines[1]
    assert any("[-Wunused-variable]" in line for line in lines)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="binutils are not installed")
def test_a_disassembler_tells_vectors_from_chains(call):
    call("edit", path="a.c", new=C)
    assert call("compile", command="gcc -O3 -mavx2 -mfma -c a.c -o a.o").startswith("exit status 0")
    said = call("disassemble", file="a.o", function="add")
    assert "256-bit vectors" in said.splitlines()[0]
    chain = call("disassemble", file="a.o", function="chain")
    assert "NOT VECTORISED" in chain.splitlines()[0]
    assert " 0 scalar float" not in chain.splitlines()[0]


def test_a_profiler_names_the_slow_function_and_survives_a_failing_script(call):
    call("edit", path="s.py", new=SCRIPT)
    lines = call("profile", script="s.py").splitlines()
    assert "s.py:5" in lines[1]  # the generator inside slow()
    assert lines[-1].startswith("CPU time in all")
    failed = call("profile", script="s.py again")
    assert "asked to" in failed
    assert "s.py:5" in failed


def test_the_torch_profiler_ranks_operators(call):
    pytest.importorskip("torch")
    call("edit", path="t.py", new="import torch\na = torch.rand(300, 300)\nfor _ in range(20): a = a @ a / 100\n")
    assert "aten::mm" in call("profile", script="t.py", kind="torch").splitlines()[1]


def test_symbolic_mathematics(call):
    pytest.importorskip("sympy")
    assert call("symbolic", operation="diff", expression="sin(x)**2 / 2", symbol="x") in ("sin(2*x)/2", "sin(x)*cos(x)")
    assert call("symbolic", operation="solve", expression="a**2 - 4", symbol="a") == "[-2, 2]"
    assert "cannot" in call("symbolic", operation="simplify", expression="((")


def test_training_dynamics(call):
    call("edit", path="log.txt", new=f"noise\n{LOG}\n")
    said = call("curves", log="log.txt")
    assert "train_loss over 100 steps: ▇" in said
    assert "a spike at step 60" in said
    assert "ended at step 95 of 100" in said
    call("edit", path="log.txt", new=LOG.replace("step 95/100 train_loss", "step 95/100 train_loss nan #"))
    assert "not finite from step 95" in call("curves", log="log.txt")
    assert call("curves", log="log.txt").count("spike") == 1


def test_a_difference(call):
    call("edit", path="a", new="1\n2\n")
    call("edit", path="b", new="1\n3\n")
    assert "-2\n+3" in call("diff", old="a", new="b")
    assert call("diff", old="a", new="a") == "no difference"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("view", {"path": "nothing"}, "no file"),
        ("view", {}, "needs 'path'"),
        ("view", {"path": "a", "pth": "b"}, "no parameter 'pth'"),
        ("shell", {"command": "true", "timeout": "soon"}, "number of seconds"),
        ("shell", {"command": "true", "timeout": "-1"}, "positive"),
        ("profile", {"script": "s.py", "kind": "gpu"}, "python or torch"),
        ("disassemble", {"file": "nothing.o"}, "nothing.o"),
    ],
)
def test_a_wrong_call_is_answered_with_a_sentence(call, name, arguments, said):
    with pytest.raises(ToolError, match=said):
        call(name, **arguments)


def test_what_is_too_long_keeps_its_ends(call):
    said = call("shell", command="echo first; seq 1 20000; echo last")
    assert len(said) < 13000
    assert said.startswith("first")
    assert said.endswith("last")
    assert "characters left out" in said


def test_a_set_of_tools_is_one_option():
    assert [tool.name for tool in tools_named("shell, attempt")] == ["shell", "attempt"]
    assert len(tools_named("all")) == len(TOOLS)
    with pytest.raises(ToolError, match="unknown tool 'hammer'"):
        tools_named("hammer")
