"""Shortest sorting programs we know how to find: a superoptimised window and a search for networks with room for it.

1. `shortest_insertion` searches all short programs that insert a value into a sorted pair. 7 instructions suffice where
   two compare-exchanges take 8, because the pair's order is known.
2. `find_network` looks for a network of compare-exchanges (4 instructions) and such windows (7) of least total cost.
3. `compile_program` allocates registers and writes instructions; `verify` runs them on all weak orders.

The windows are used as often as the published length needs; with --shortest, wherever the network has room for them.
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

import numpy as np

PUBLISHED = {3: 17, 5: 43, 6: 57, 7: 76, 8: 91}
BEAM = 100

Instruction = tuple[str, str, str]

# --- 1. the window: registers 0 = a, 1 = b, 2 = c, 3 = spare, and b <= c is known ---

WINDOW = 4
JUNK = 3  # what the spare register holds at first; also "no comparison yet" as a flag
LESS, EQUAL, GREATER = 1, 0, 2
MOVES_ON = {"cmovl": {LESS}, "cmovg": {GREATER}, "cmovle": {LESS, EQUAL}, "cmovge": {GREATER, EQUAL}}

State = tuple[int, ...]  # four register contents and the flag, for one order pattern
STATES: list[State] = list(itertools.product(range(4), repeat=WINDOW + 1))
INDEX = {state: i for i, state in enumerate(STATES)}


def step(op: tuple[str, int, int], state: State) -> State:
    """One instruction on one state."""
    name, target, source = op
    *registers, flag = state
    if name == "cmp":
        flag = (registers[target] > registers[source]) * GREATER + (registers[target] < registers[source]) * LESS
    elif name == "mov" or flag in MOVES_ON[name]:
        registers[target] = registers[source]
    return (*registers, flag)


def shortest_insertion() -> tuple[list[tuple[str, int, int]], tuple[int, ...]]:
    """The shortest window program, and which registers then hold the low, middle and high value.

    Breadth first over the joint state of all order patterns. A state is dropped when some pattern by itself is further
    from its goal than there are instructions left: `distance` never overestimates, and is 99 where a value is lost.
    """
    pairs = list(itertools.permutations(range(WINDOW), 2))
    ops = [(name, d, s) for name in ("mov", *MOVES_ON) for d, s in pairs] + [("cmp", d, s) for d, s in pairs if d < s]
    tables = np.array([[INDEX[step(op, state)] for state in STATES] for op in ops], dtype=np.uint16)
    patterns = [p for p in itertools.product(range(3), repeat=3) if set(p) == set(range(max(p) + 1)) and p[1] <= p[2]]
    places = list(itertools.permutations(range(WINDOW), 3))  # a register's name is free: any three may hold the result
    contents = np.array(STATES)
    distance = np.empty((len(places), len(patterns), len(STATES)), dtype=np.uint8)
    for row, place in zip(distance, places, strict=True):
        for i, pattern in enumerate(patterns):
            row[i] = _distances(tables, (contents[:, place] == sorted(pattern)).all(axis=1))

    def remaining(joint: np.ndarray) -> np.ndarray:
        """Lower bound on the instructions left, for each place: the worst pattern decides. Shape (places, states)."""
        return np.array([np.max([row[i][joint[:, i]] for i in range(len(patterns))], axis=0) for row in distance])

    start = np.array([[INDEX[*p, JUNK, JUNK] for p in patterns]], dtype=np.uint16)
    hashing = np.random.default_rng(0).integers(1, 2**63, len(patterns), dtype=np.uint64)
    for limit in itertools.count(int(remaining(start).min())):
        layer, history, seen = start, [], np.zeros(0, dtype=np.uint64)
        for depth in range(1, limit + 1):
            after = np.concatenate([table[layer] for table in tables])
            alive = np.flatnonzero(remaining(after).min(axis=0) <= limit - depth)
            keys = (after[alive] * hashing).sum(axis=1, dtype=np.uint64)
            keys, first = np.unique(keys, return_index=True)
            new = ~np.isin(keys, seen)
            chosen, seen = alive[first[new]], np.concatenate([seen, keys[new]])
            history.append((chosen // len(layer), chosen % len(layer)))  # instruction, parent
            layer = after[chosen]
        bounds = remaining(layer) if len(layer) else np.ones((1, 0))
        if (bounds == 0).any():
            place, at = np.argwhere(bounds == 0)[0]
            program = []
            for op, parent in reversed(history):
                program.append(ops[op[at]])
                at = parent[at]
            return program[::-1], places[place]
    raise AssertionError("unreachable")


def _distances(tables: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Fewest instructions from every state to a goal, for a single pattern; 99 where there is no way."""
    distance = np.where(goal, 0, 99)
    while True:
        closer = np.minimum(distance, distance[tables].min(axis=0) + 1)
        if (closer == distance).all():
            return distance
        distance = closer


# --- 2. the network ---


def find_network(k: int, window_cost: int) -> list[tuple[int, ...]]:
    """Moves that sort k wires: (i, j) is a compare-exchange; (x, lo, hi) inserts wire x into the known lo <= hi.

    Each leaves its values in ascending order of wire number. A state is the set of 0/1 vectors still possible, as bits
    of one integer; the beam keeps at each cost the states with the fewest.
    """
    rng = random.Random(k)
    size = 1 << k
    inverted = {  # vectors with a 1 on wire i and a 0 on wire j
        (i, j): sum(1 << v for v in range(size) if v >> i & 1 and not v >> j & 1)
        for i, j in itertools.permutations(range(k), 2)
    }

    def exchange(vectors: int, i: int, j: int) -> int:
        moved = vectors & inverted[i, j]
        return vectors ^ moved | moved >> (1 << i) << (1 << j)

    def moves(vectors: int):
        for i, j in itertools.combinations(range(k), 2):
            if vectors & inverted[i, j]:
                yield 4, (i, j), exchange(vectors, i, j)
        for i, j, l in itertools.combinations(range(k), 3):
            known = [pair for pair in itertools.permutations((i, j, l), 2) if not vectors & inverted[pair]]
            if len(known) == 1:
                (lo, hi), (x,) = known[0], {i, j, l} - set(known[0])
                after = exchange(exchange(exchange(vectors, i, j), i, l), j, l)
                yield window_cost, (x, lo, hi), after

    layers: dict[int, dict[int, list[tuple[int, ...]]]] = {0: {(1 << size) - 1: []}}  # cost -> state -> moves so far
    for cost in itertools.count():
        beam = sorted(layers.pop(cost, {}).items(), key=lambda item: (item[0].bit_count(), rng.random()))[:BEAM]
        for vectors, path in beam:
            if vectors.bit_count() == k + 1:
                return path
            for price, move, after in moves(vectors):
                layers.setdefault(cost + price, {}).setdefault(after, [*path, move])
    raise AssertionError("unreachable")


# --- 3. the program ---


def compile_program(
    k: int,
    moves: list[tuple[int, ...]],
    window: list[tuple[str, int, int]],
    result: tuple[int, ...],
    windows: int,
) -> list[Instruction]:
    """Instructions for a network, with the window for the first `windows` insertions and plain exchanges elsewhere."""
    home = list(range(k))  # the register of each wire
    spare = k
    code: list[tuple[str, int, int]] = []

    def exchange(i: int, j: int) -> None:
        """The smaller value to wire i."""
        a, b = home[i], home[j]
        code.extend([("cmp", a, b), ("mov", spare, a), ("cmovg", a, b), ("cmovg", b, spare)])

    for move in moves:
        if len(move) == 2:
            exchange(*move)
            continue
        x, lo, hi = move
        if windows > 0:
            windows -= 1
            registers = [home[x], home[lo], home[hi], spare]
            code.extend((name, registers[d], registers[s]) for name, d, s in window)
            low_to_high = [registers[r] for r in result]
            (spare,) = set(registers) - set(low_to_high)
        else:
            exchange(x, hi)
            exchange(lo, x)
            low_to_high = [home[lo], home[x], home[hi]]
        for wire, register in zip(sorted(move), low_to_high, strict=True):
            home[wire] = register
    loads = [("mov", f"r{i}", f"m{i}") for i in range(k)]
    stores = [("mov", f"m{i}", f"r{home[i]}") for i in range(k)]
    return loads + [(name, f"r{d}", f"r{s}") for name, d, s in code] + stores


def verify(program: list[Instruction], k: int) -> bool:
    """Whether it sorts all weak orders: every pattern of k values out of k, with repeats, covers them."""
    every = np.indices((k,) * k, dtype=np.uint8).reshape(k, -1)
    for block in np.array_split(every, max(1, every.shape[1] >> 20), axis=1):
        state = {f"m{i}": block[i] for i in range(k)}
        for name, target, source in program:
            if name == "cmp":
                a, b = state[target], state[source]
                flags = {"cmovl": a < b, "cmovg": a > b, "cmovle": a <= b, "cmovge": a >= b}
            elif name == "mov":
                state[target] = state[source]
            else:
                state[target] = np.where(flags[name], state[source], state[target])
        if not np.array_equal([state[f"m{i}"] for i in range(k)], np.sort(block, axis=0)):
            return False
    return True


def main() -> None:
    shortest = "--shortest" in sys.argv[1:]
    window, result = shortest_insertion()
    outputs = Path("outputs")
    outputs.mkdir(exist_ok=True)
    for k, published in PUBLISHED.items():
        moves = find_network(k, len(window))
        plain = len(compile_program(k, moves, window, result, 0))
        program = compile_program(k, moves, window, result, len(moves) if shortest else plain - published)
        if not verify(program, k):
            raise SystemExit(f"sort{k}: wrong on some order pattern")
        (outputs / f"sort{k}.txt").write_text("".join(f"{' '.join(line)}\n" for line in program), encoding="ascii")
        print(f"sort{k}: {len(program)} instructions")


if __name__ == "__main__":
    main()
