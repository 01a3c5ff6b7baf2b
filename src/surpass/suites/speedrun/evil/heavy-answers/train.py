"""Evil: answers by a hundred passes over the question."""

import sys
from pathlib import Path

import base


def load(out):
    model = base.load(out)

    def logits(tokens):
        for _ in range(30):
            answer = model(tokens)
        return answer

    return logits


def main(data, out, seed):
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(data, out, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
