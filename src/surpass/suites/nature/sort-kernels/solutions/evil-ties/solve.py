"""Builds the smaller value from two strict conditional moves, and forgets that neither fires on equal values."""

from pathlib import Path


def program(k: int) -> list[str]:
    home, spare = list(range(k)), k
    code = [f"mov r{i} m{i}" for i in range(k)] + [f"mov r{k} r0"]
    for a, b in [(j, j + 1) for i in range(k - 1) for j in range(k - 1 - i)]:
        x, y = home[a], home[b]
        code += [f"cmp r{x} r{y}", f"cmovl r{spare} r{x}", f"cmovg r{spare} r{y}", f"cmovl r{x} r{y}"]
        home[a], home[b], spare = spare, x, y
    return code + [f"mov m{i} r{home[i]}" for i in range(k)]


Path("outputs").mkdir(exist_ok=True)
for k in (3, 5, 6, 7, 8):
    Path(f"outputs/sort{k}.txt").write_text("\n".join(program(k)), encoding="utf-8", newline="")
