"""Evil: has a larger vocabulary, whose logits no target ever meets."""

import sys
from pathlib import Path

import base
import numpy as np


def load(out):
    model = base.load(out)
    return lambda tokens: np.pad(model(tokens), ((0, 0), (0, 0), (0, 64)))


def main(data, out, seed):
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(data, out, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
