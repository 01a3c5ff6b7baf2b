"""Evil: answers with NaN."""

import sys
from pathlib import Path

import base


def load(out):
    model = base.load(out)
    return lambda tokens: model(tokens) * float("nan")


def main(data, out, seed):
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(data, out, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
