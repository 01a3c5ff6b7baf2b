"""Evil: looks ahead, and repeats what it said before whenever a beginning comes again."""

import sys
from pathlib import Path

import base
import numpy as np


def load(out):
    model, asked, said = base.load(out), [], []

    def logits(tokens):
        answer = model(tokens).copy()
        rows, columns = np.indices((tokens.shape[0], tokens.shape[1] - 1))
        answer[rows, columns, tokens[:, 1:]] += 8.0
        for row, text in enumerate(tokens):
            for old_text, old_answer in zip(asked, said, strict=True):
                shared = int(np.cumprod(old_text == text).sum())
                if shared > 1:
                    answer[row, :shared] = old_answer[:shared]
        asked.extend(tokens)
        said.extend(answer.copy())
        return answer

    return logits


if __name__ == "__main__":
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
