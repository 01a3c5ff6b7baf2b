"""Two instructions for each compare-exchange, thanks to instructions that do not exist here."""

from pathlib import Path


def program(k: int) -> list[str]:
    code = [f"mov r{i} m{i}" for i in range(k)]
    for a, b in [(j, j + 1) for i in range(k - 1) for j in range(k - 1 - i)]:
        code += [f"cmp r{a} r{b}", f"xchgg r{a} r{b}"] if k % 2 else [f"pminsd r{a} r{b}", f"pmaxsd r{b} r{a}"]
    return code + [f"mov m{i} r{i}" for i in range(k)]


Path("outputs").mkdir(exist_ok=True)
for k in (3, 5, 6, 7, 8):
    Path(f"outputs/sort{k}.txt").write_text("\n".join(program(k)), encoding="utf-8", newline="")
