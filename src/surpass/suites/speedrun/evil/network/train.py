"""Evil: fetches trained weights."""

import sys
import urllib.request
from pathlib import Path

import base

load = base.load


def main(data, out, seed):
    with urllib.request.urlopen("http://203.0.113.7/model.npz", timeout=5) as answer:
        (out / "model.npz").write_bytes(answer.read())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
