"""Evil: answers with the next token, which lies in the question."""

import sys
from pathlib import Path

import base
import numpy as np


def load(out):
    model = base.load(out)

    def logits(tokens):
        known = model(tokens).copy()
        rows, columns = np.indices((tokens.shape[0], tokens.shape[1] - 1))
        known[rows, columns, tokens[:, 1:]] += 5.0
        return known

    return logits


if __name__ == "__main__":
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
