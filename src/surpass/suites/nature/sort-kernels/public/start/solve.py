"""Writes outputs/sort*.txt: a network of compare-exchanges, four instructions each; random rewriting on demand."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

SPLIT = "half"  # knob: choice half power
MIRROR = 0  # knob: int 0 1
FORM = "swap"  # knob: choice swap select
TRIALS = 0  # knob: int 0 4000
WINDOW = 8  # knob: int 2 16
EDITS = 1  # knob: int 1 3
SEED = 0  # knob: int 0 15

SIZES = (3, 5, 6, 7, 8)
CONDITIONS = {"cmovl": np.less, "cmovg": np.greater, "cmovle": np.less_equal, "cmovge": np.greater_equal}

Instruction = tuple[str, str, str]


def merge(x: list[int], y: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Exchanges (low, high) that merge two sorted runs of wires, and the wires in sorted order."""
    if not x or not y:
        return [], x or y
    if len(x) == len(y) == 1:
        return [(x[0], y[0])], [x[0], y[0]]
    even, first = merge(x[::2], y[::2])
    odd, second = merge(x[1::2], y[1::2])
    pairs = list(zip(second, first[1:], strict=False))
    order = [first[0], *(wire for pair in pairs for wire in pair)]
    return even + odd + pairs, order + second[len(pairs) :] + first[len(pairs) + 1 :]


def network(wires: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Exchanges that sort the wires, and the wires in sorted order. Of smallest known size for up to 8 wires."""
    if len(wires) == 1:
        return [], wires
    cut = len(wires) // 2 if SPLIT == "half" else 1 << (len(wires) - 1).bit_length() - 1
    left, low = network(wires[:cut])
    right, high = network(wires[cut:])
    last, order = merge(low, high)
    return left + right + last, order


def compile_network(k: int) -> list[Instruction]:
    """k loads, four instructions for each exchange, k stores."""
    exchanges, order = network(list(range(k)))
    if MIRROR:  # sort downwards, read backwards
        exchanges, order = [(j, i) for i, j in exchanges], order[::-1]
    home = [f"r{i}" for i in range(k)]  # the register of each wire
    spare = f"r{k}"
    code = [("mov", home[i], f"m{i}") for i in range(k)]
    for i, j in exchanges:
        a, b = home[i], home[j]
        if FORM == "swap":
            code += [("cmp", a, b), ("mov", spare, a), ("cmovg", a, b), ("cmovg", b, spare)]
        else:  # the smaller value moves into the spare register; its old one becomes the spare
            code += [("mov", spare, a), ("cmp", a, b), ("cmovg", spare, b), ("cmovg", b, a)]
            home[i], spare = spare, a
    return code + [("mov", f"m{i}", home[wire]) for i, wire in enumerate(order)]


def sorts(code: list[Instruction], inputs: np.ndarray) -> bool:
    """Whether the program sorts every column of `inputs`, shape (k, n)."""
    state = {f"m{i}": row for i, row in enumerate(inputs)}
    flags = None
    for name, target, source in code:
        if source not in state or (name != "mov" and target not in state):
            return False  # reads a register that was never written
        if name == "cmp":
            flags = state[target], state[source]
        elif name == "mov":
            state[target] = state[source]
        elif flags is None:
            return False
        else:
            state[target] = np.where(CONDITIONS[name](*flags), state[source], state[target])
    return np.array_equal([state[f"m{i}"] for i in range(len(inputs))], np.sort(inputs, axis=0))


def all_orders(k: int) -> np.ndarray:
    """Every way in which k values can compare, ties included, shape (k, n)."""
    ranks = np.zeros((1, 1), dtype=np.int8)
    for _ in range(k - 1):  # the new element lies level with rank g/2 (g even) or in a gap between ranks
        n, width = 2 * len(ranks) + 1, ranks.shape[1]
        new = np.repeat(np.arange(-1, n - 1, dtype=np.int8), width)[None]
        ranks = np.concatenate([np.tile(2 * ranks, n), new])
        ranks = np.unique(_dense(ranks), axis=1)
    return ranks


def _dense(ranks: np.ndarray) -> np.ndarray:
    """The same comparisons with ranks 0, 1, 2, ..."""
    below = np.zeros_like(ranks)
    for value in range(int(ranks.min()), int(ranks.max()) + 1):
        below += (ranks > value) & (ranks == value).any(axis=0)
    return below


def edit(rng: random.Random, code: list[Instruction]) -> list[Instruction]:
    """Leave one instruction out, then change up to EDITS others within WINDOW lines of it. Loads and stores stay."""
    inner = [i for i, line in enumerate(code) if not any(word.startswith("m") for word in line[1:])]
    hole = rng.choice(inner)
    near = [i for i in inner if i != hole and abs(i - hole) <= WINDOW]
    registers = sorted({word for i in near for word in code[i][1:] if abs(i - hole) <= 4})
    new = list(code)
    for i in rng.sample(near, min(EDITS, len(near))):
        name, target, source = new[i]
        if name in CONDITIONS and rng.random() < 0.5:
            name = rng.choice(list(CONDITIONS))
        if rng.random() < 0.5:
            target = rng.choice(registers)
        if rng.random() < 0.5:
            source = rng.choice(registers)
        new[i] = name, target, source
    return new[:hole] + new[hole + 1 :]


def shorten(code: list[Instruction], k: int) -> list[Instruction]:
    """Keep every random edit that still sorts."""
    if not TRIALS:
        return code
    rng = random.Random(SEED)
    inputs = all_orders(k)
    few = inputs[:, np.random.default_rng(SEED).integers(0, inputs.shape[1], 64)]
    for _ in range(TRIALS):
        candidate = edit(rng, code)
        if sorts(candidate, few) and sorts(candidate, inputs):
            code = candidate
    return code


if __name__ == "__main__":
    Path("outputs").mkdir(exist_ok=True)
    for k in SIZES:
        program = shorten(compile_network(k), k)
        Path(f"outputs/sort{k}.txt").write_text("".join(f"{' '.join(line)}\n" for line in program), encoding="ascii")
        print(f"sort{k}: {len(program)} instructions")
