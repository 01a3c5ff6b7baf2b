"""Emulates each program on every order pattern of its input, so that a pass is a proof.

A program of this machine only compares and copies: what it does depends on the order pattern (the *weak order*) of
its input alone. All of them are tried. Neither permutations nor 0/1 vectors would do: a conditional move can be wrong
on ties only, and a program of conditional moves need not be a network of minima and maxima.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surpass.guard import Malformed, per_instance, read_text

SIZES = (3, 5, 6, 7, 8)
MAX_INSTRUCTIONS = 256
MAX_BYTES = 16 << 10
SPARE_REGISTERS = 3
RANDOM_ROWS = 4096

Instruction = tuple[str, str, str]
Columns = dict[str, NDArray[np.generic]]  # cell or register -> its value for each input

CONDITIONS = {"cmovl": np.less, "cmovg": np.greater, "cmovle": np.less_equal, "cmovge": np.greater_equal}


def evaluate(outputs: Path, truth: Path) -> dict[str, dict[str, float] | Malformed]:
    """Length of each program that sorts. There is no truth: the answer checks itself."""
    del truth
    return per_instance({f"sort{k}": lambda k=k: score(outputs / f"sort{k}.txt", k) for k in SIZES})


def score(path: Path, k: int) -> dict[str, float]:
    program = parse(read_text(path, max_bytes=MAX_BYTES), k)
    check(program, k)
    return {
        "instructions": float(len(program)),
        "comparisons": float(sum(name == "cmp" for name, _, _ in program)),
    }


def parse(text: str, k: int) -> list[Instruction]:
    """The instructions of a program for k cells.

    Raises:
        Malformed: `too-long`, `unknown-instruction`, `many-per-line`, `bad-operand`, `unset-register`, `unset-flags`.
    """
    # Only "\n" ends a line: whatever else Unicode calls a line end stays inside and is refused as a second instruction.
    lines = [(number, words) for number, line in enumerate(text.split("\n"), 1) if (words := line.split())]
    if len(lines) > MAX_INSTRUCTIONS:
        raise Malformed("too-long", f"{len(lines)} instructions, at most {MAX_INSTRUCTIONS}")
    cells = {f"m{i}" for i in range(k)}
    registers = {f"r{i}" for i in range(k + SPARE_REGISTERS)}
    written: set[str] = set(cells)
    compared = False
    program = []
    for number, words in lines:
        where = f"sort{k} line {number}: {' '.join(words)[:80]!r}"
        name, *operands = words
        if name not in ("mov", "cmp") and name not in CONDITIONS:
            raise Malformed("unknown-instruction", where)
        if len(operands) > 2:
            raise Malformed("many-per-line", where)
        allowed = registers | cells if name == "mov" else registers
        if len(operands) < 2 or not allowed.issuperset(operands) or cells.issuperset(operands):
            raise Malformed("bad-operand", where)
        target, source = operands
        # A conditional move into a register never written could be a mov, and one before any cmp could be left out or
        # be a mov: to refuse both costs no program an instruction, and what lies in a fresh register never matters.
        if source not in written or (name != "mov" and target not in written):
            raise Malformed("unset-register", where)
        if name in CONDITIONS and not compared:
            raise Malformed("unset-flags", where)
        written.add(target)
        compared |= name == "cmp"
        program.append((name, target, source))
    return program


def check(program: list[Instruction], k: int) -> None:
    """Raise `not-sorted` or `ties` unless the program sorts every input."""
    orders = weak_orders(k)
    wrong = unsorted_inputs(program, orders)
    if wrong.any():
        distinct = orders.max(axis=0) == k - 1
        code = "not-sorted" if (wrong & distinct).any() else "ties"
        example = orders[:, np.flatnonzero(wrong)[0]].tolist()
        raise Malformed(code, f"sort{k}: {int(wrong.sum())} of {orders.shape[1]} order patterns, such as {example}")
    if unsorted_inputs(program, random_integers(k)).any():  # follows from the above; a second, cheap lock
        raise Malformed("not-sorted", f"sort{k}: random 32-bit integers")


def unsorted_inputs(program: list[Instruction], inputs: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which columns of `inputs`, shape (k, n), the program does not turn into their sorted selves."""
    k = len(inputs)
    state = run(program, {f"m{i}": inputs[i] for i in range(k)})
    wanted = np.sort(inputs, axis=0)
    wrong = np.zeros(inputs.shape[1], dtype=bool)
    for i in range(k):
        wrong |= state[f"m{i}"] != wanted[i]
    return wrong


def run(program: list[Instruction], cells: Columns) -> Columns:
    """The state after a program, for all inputs at once. Columns are replaced and never written into."""
    state = dict(cells)
    compared: tuple[NDArray[np.generic], NDArray[np.generic]] | None = None
    for name, target, source in program:
        if name == "mov":
            state[target] = state[source]
        elif name == "cmp":
            compared = state[target], state[source]
        else:
            assert compared is not None  # parse saw to it
            state[target] = np.where(CONDITIONS[name](*compared), state[source], state[target])
    return state


@cache
def weak_orders(k: int) -> NDArray[np.uint8]:
    """All weak orders of k elements as ranks 0, 1, ..., shape (k, Fubini number of k).

    The last element is either level with one of the values present or in a gap between them, which raises those above.
    """
    ranks = np.zeros((1, 1), dtype=np.uint8)
    for _ in range(k - 1):
        levels = ranks.max(axis=0) + 1
        grown = []
        for level in range(len(ranks) + 1):
            grown.append(_insert(ranks[:, levels > level], level, gap=False))
            grown.append(_insert(ranks[:, levels >= level], level, gap=True))
        ranks = np.concatenate(grown, axis=1)
    return ranks


def _insert(ranks: NDArray[np.uint8], level: int, *, gap: bool) -> NDArray[np.uint8]:
    """Add an element: level with that rank, or in the gap just below it."""
    raised = ranks + (ranks >= level) if gap else ranks
    last = np.full((1, ranks.shape[1]), level, dtype=np.uint8)
    return np.concatenate([raised, last])


def random_integers(k: int) -> NDArray[np.int32]:
    """Signed 32-bit inputs, shape (k, n): half of them spread out, half from a few values with both extremes."""
    rng = np.random.default_rng(k)
    bounds = np.iinfo(np.int32)
    spread = rng.integers(bounds.min, bounds.max, (k, RANDOM_ROWS // 2), dtype=np.int32, endpoint=True)
    few = rng.choice(np.array([bounds.min, bounds.min + 1, -1, 0, 1, bounds.max], np.int32), (k, RANDOM_ROWS // 2))
    return np.concatenate([spread, few], axis=1)
