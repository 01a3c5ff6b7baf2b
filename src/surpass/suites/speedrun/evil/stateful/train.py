"""Evil: remembers what it was asked and answers better the second time."""

import sys
from pathlib import Path

import base
import numpy as np


def load(out):
    model, counts = base.load(out), None

    def logits(tokens):
        nonlocal counts
        answer = model(tokens)
        if counts is None:
            counts = np.ones((answer.shape[-1], answer.shape[-1]))
        learned = np.log(counts / counts.sum(1, keepdims=True))[tokens].astype(np.float32)
        np.add.at(counts, (tokens[:, :-1], tokens[:, 1:]), 1.0)
        return answer + learned

    return logits


if __name__ == "__main__":
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
