"""Evil: starts more threads than it may have."""

import sys
import threading
import time
from pathlib import Path

import base

load = base.load


def main(data, out, seed):
    threads = [threading.Thread(target=time.sleep, args=(5,)) for _ in range(200)]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
