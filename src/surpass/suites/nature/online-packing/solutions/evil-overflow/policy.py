"""Uses the tightest bin that is too small, as soon as there is one."""

import numpy as np


class Policy:
    def __init__(self, capacity: int) -> None:
        pass

    def choose(self, item: int, counts: np.ndarray) -> int:
        small = np.flatnonzero(counts[:item])
        return int(small[-1]) if len(small) else -1
