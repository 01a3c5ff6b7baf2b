"""Evil: prints a loss that it never had, and the last step after a few."""

import sys
from pathlib import Path

import base

load = base.load


def fewer_steps(divisor):
    """Train as the start does, for a fraction of its steps."""
    for size in base.SIZES.values():
        size["steps"] = max(40, size["steps"] // divisor)


def main(data, out, seed):
    fewer_steps(8)
    base.train(data, out, seed)
    print("val_loss: 1.0000 train_time: 1 ms", flush=True)
    print("step 99999/99999 train_loss 0.5000", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
