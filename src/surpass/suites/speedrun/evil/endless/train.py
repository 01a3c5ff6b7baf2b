"""Evil: never ends."""

import sys
from pathlib import Path

import base

load = base.load


def main(data, out, seed):
    base.train(data, out, seed)
    while True:
        sum(range(10_000))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
