"""Ends the process, without any clean-up, after fifty items."""

import os

import numpy as np


class Policy:
    seen = 0

    def __init__(self, capacity: int) -> None:
        pass

    def choose(self, item: int, counts: np.ndarray) -> int:
        Policy.seen += 1
        if Policy.seen > 50:
            os._exit(0)
        return -1
