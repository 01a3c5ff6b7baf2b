"""Claims a bin into which the item fits exactly, though there is none."""

import numpy as np


class Policy:
    def __init__(self, capacity: int) -> None:
        pass

    def choose(self, item: int, counts: np.ndarray) -> int:
        return -1 if counts[item] or not counts.any() else item
