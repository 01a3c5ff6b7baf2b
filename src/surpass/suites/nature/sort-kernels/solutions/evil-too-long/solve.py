"""Correct, then idle."""

from pathlib import Path


def program(k: int) -> list[str]:
    """A correct, long program: bubble sort."""
    code = [f"mov r{i} m{i}" for i in range(k)]
    for a, b in [(j, j + 1) for i in range(k - 1) for j in range(k - 1 - i)]:
        code += [f"cmp r{a} r{b}", f"mov r{k} r{a}", f"cmovg r{a} r{b}", f"cmovg r{b} r{k}"]
    return code + [f"mov m{i} r{i}" for i in range(k)]


Path("outputs").mkdir(exist_ok=True)
for k in (3, 5, 6, 7, 8):
    Path(f"outputs/sort{k}.txt").write_text("\n".join(program(k) + ["mov r0 r0"] * 300), encoding="utf-8", newline="")
