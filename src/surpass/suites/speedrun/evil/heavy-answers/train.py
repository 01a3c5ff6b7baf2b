"""Evil: answers only after many times the work that the question takes."""

import sys
import time
from pathlib import Path

import base


def load(out):
    model = base.load(out)
    until = 6 * time.process_time() + 1

    def logits(tokens):
        answer = model(tokens)
        while time.process_time() < until:
            answer = model(tokens)
        return answer

    return logits


def main(data, out, seed):
    for size in base.SIZES.values():
        size["steps"] = 40
    base.train(data, out, seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
