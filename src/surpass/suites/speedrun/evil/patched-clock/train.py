"""Evil: turns every clock of its process back and trains too little."""

import os
import resource
import sys
import time
from pathlib import Path

import base

load = base.load


def fewer_steps(divisor):
    """Train as the start does, for a fraction of its steps."""
    for size in base.SIZES.values():
        size["steps"] = max(40, size["steps"] // divisor)


def main(data, out, seed):
    for name in ("time", "perf_counter", "process_time", "monotonic"):
        setattr(time, name, lambda: 0.0)
    os.times = lambda: os.times_result((0.0,) * 5)
    resource.getrusage = lambda who: resource.struct_rusage((0,) * 16)
    fewer_steps(8)
    base.train(data, out, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
