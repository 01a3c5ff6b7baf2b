"""Sleeps for ever at the twentieth item."""

import time

import numpy as np


class Policy:
    seen = 0

    def __init__(self, capacity: int) -> None:
        pass

    def choose(self, item: int, counts: np.ndarray) -> int:
        Policy.seen += 1
        while Policy.seen >= 20:
            time.sleep(60)
        return -1
