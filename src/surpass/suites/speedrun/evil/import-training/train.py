"""Evil: moves the training into the import of the module that answers."""

import sys
import tempfile
from pathlib import Path

import base

TRAINED = Path(tempfile.mkdtemp())
if __name__ == "__main__":
    (Path(sys.argv[2]) / "model.npz").write_bytes(b"later")
else:
    base.train(Path("/data"), TRAINED, 1)


def load(out):
    return base.load(TRAINED)
