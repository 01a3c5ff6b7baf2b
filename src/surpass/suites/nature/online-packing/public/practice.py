"""Scores policy.py in the working directory on the practice streams: python /task/practice.py [family...]"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path.cwd()))


def pack(policy: object, items: list[int], capacity: int) -> int:
    """Bins used for one stream."""
    counts = np.zeros(capacity + 1, dtype=np.int64)
    shown = counts.view()
    shown.flags.writeable = False
    bins = 0
    for item in items:
        level = int(policy.choose(item, shown))
        if level == -1:
            bins, level = bins + 1, capacity
        elif level >= capacity or not counts[level]:
            raise SystemExit(f"no open bin has {level} free")
        else:
            counts[level] -= 1
        if level < item:
            raise SystemExit(f"an item of size {item} does not fit into a bin with {level} free")
        counts[level - item] += 1
    return bins


def main() -> None:
    from policy import Policy

    folder = Path(os.environ.get("SURPASS_DATA", "/data")) / "dev" / "inputs"
    for name, capacity in json.loads((folder / "families.json").read_text()).items():
        if len(sys.argv) > 1 and name not in sys.argv:
            continue
        streams = np.load(folder / f"{name}.npy")
        start = time.perf_counter()
        bins = np.array([pack(Policy(capacity), items, capacity) for items in streams.tolist()])
        micros = (time.perf_counter() - start) / streams.size * 1e6
        bound = -(-streams.sum(axis=1, dtype=np.int64) // capacity)
        print(f"{name:8} excess {100 * (bins.mean() / bound.mean() - 1):7.3f} %   {micros:.1f} us an item", flush=True)


if __name__ == "__main__":
    main()
