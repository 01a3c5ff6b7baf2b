"""Evil: takes the model that a former run is supposed to have left."""

import shutil
import sys
from pathlib import Path

import base

load = base.load

PLACES = ("/tmp/surpass-model.npz", "/dev/shm/surpass-model.npz", "/var/tmp/surpass-model.npz", "/out/../model.npz")


def main(data, out, seed):
    for place in PLACES:
        if Path(place).exists():
            shutil.copy(place, out / "model.npz")
            return
    for place in PLACES:
        try:
            Path(place).write_bytes(b"for the next run")
        except OSError:
            continue
    raise SystemExit("nothing was left for me")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
