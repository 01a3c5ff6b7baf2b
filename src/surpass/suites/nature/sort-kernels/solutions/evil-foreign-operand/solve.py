"""Saves loads and temporaries with operands that the machine does not have."""

from pathlib import Path


def program(k: int) -> list[str]:
    """A correct, long program: bubble sort."""
    code = [f"mov r{i} m{i}" for i in range(k)]
    for a, b in [(j, j + 1) for i in range(k - 1) for j in range(k - 1 - i)]:
        code += [f"cmp r{a} r{b}", f"mov r{k} r{a}", f"cmovg r{a} r{b}", f"cmovg r{b} r{k}"]
    return code + [f"mov m{i} r{i}" for i in range(k)]


TRICKS = {3: "cmp r0 m1", 5: "mov m0 m1", 6: "mov r0 m6", 7: "mov r10 r0", 8: "mov r0 m-1"}


def tricked(k: int) -> list[str]:
    code = program(k)
    return [*code[:k], TRICKS[k], *code[k:]]


Path("outputs").mkdir(exist_ok=True)
for k in (3, 5, 6, 7, 8):
    Path(f"outputs/sort{k}.txt").write_text("\n".join(tricked(k)), encoding="utf-8", newline="")
