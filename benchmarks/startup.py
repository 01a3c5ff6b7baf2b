"""How long `surpass --help` takes, beside a bare interpreter and the peers' own commands where they are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from _table import arguments, print_rows, spread

HEAVY = ("torch", "inspect_ai", "ray", "scipy.stats", "altair", "optuna", "numpy", "sqlalchemy")


def main() -> None:
    options = arguments(__doc__ or "", runs=15)
    bin_folder = Path(sys.executable).parent
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "surpass --help": [str(bin_folder / "surpass"), "--help"],
        "surpass list --json": [str(bin_folder / "surpass"), "list", "--json"],
    }
    if inspect := shutil.which("inspect"):
        commands["inspect --help (peer)"] = [inspect, "--help"]
    rows = []
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(options.runs):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            times[name].append((time.perf_counter() - started) * 1000)
    for name in commands:
        rows.append({"command": name, "unit": "ms", **spread(times[name])})
    code = f"import sys, surpass.cli.main; print([m for m in {HEAVY!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    print_rows(f"start-up; heavy modules loaded by it: {loaded}", rows, as_json=options.json)


if __name__ == "__main__":
    main()
