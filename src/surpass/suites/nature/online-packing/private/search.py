"""How solutions/oracle/table.json was found: python private/search.py [--generations 1100 4000] [--seed 1] [--out FILE]

Compiles search.c (any C compiler named cc) and runs it twice: first for the long streams, from best fit; then for all
four lengths, from there. About ten minutes on one core. The same seed gives the same table up to the compiler's
rounding. The training streams come from a generator of its own, apart from any tier's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
CAPACITY = 150
# (sigma, Adam rate, weights of the streams of 120, 250, 500 and 1000 items), one row a phase
PHASES = ((0.06, 0.02, (0.1, 0.2, 0.5, 1.0)), (0.04, 0.015, (0.9, 0.4, 0.6, 1.0)))


def search(generations: list[int], seed: int) -> np.ndarray:
    """The table, shape (3, 151): worth, crowd and trend of each level."""
    with tempfile.TemporaryDirectory() as folder:
        program, start = Path(folder) / "search", Path(folder) / "none"
        flags = ["-O3", "-march=native", "-ffast-math"]
        subprocess.run(["cc", *flags, str(HERE / "search.c"), "-o", str(program), "-lm"], check=True)
        for phase, (sigma, rate, weights) in enumerate(PHASES):
            out = Path(folder) / f"{phase}.bin"
            numbers = (seed + 3 * phase, generations[phase], sigma, rate, *weights)
            subprocess.run([str(program), str(out), str(start), *map(str, numbers)], check=True)
            start = out
        return np.fromfile(start).reshape(3, CAPACITY + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--generations", type=int, nargs=2, default=[1100, 4000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE.parent / "solutions" / "oracle" / "table.json")
    options = parser.parse_args()
    rows = search(options.generations, options.seed).round(3).tolist()
    lines = [f'  "{name}": {json.dumps(row)}' for name, row in zip(("worth", "crowd", "trend"), rows, strict=True)]
    options.out.write_text(f'{{\n  "capacity": {CAPACITY},\n' + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
