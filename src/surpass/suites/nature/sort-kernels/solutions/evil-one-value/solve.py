"""Always ascending: every cell becomes a copy of the first."""

from pathlib import Path


def program(k: int) -> list[str]:
    return ["mov r0 m0"] + [f"mov m{i} r0" for i in range(k)]


Path("outputs").mkdir(exist_ok=True)
for k in (3, 5, 6, 7, 8):
    Path(f"outputs/sort{k}.txt").write_text("\n".join(program(k)), encoding="utf-8", newline="")
