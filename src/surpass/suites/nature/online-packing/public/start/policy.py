"""Best fit: each item goes into the fullest open bin that has room for it."""

import numpy as np

# A fit that leaves at most this part of the capacity free is taken at once; 1 takes every fit, which is best fit.
TIGHT = 1.0  # knob: float 0 1
# Otherwise: what an item may leave free, at least, as a part of the capacity.
USEFUL = 0.0  # knob: float 0 1
# How much a level with many bins attracts items, and repels new bins of its kind.
CROWD = 0.0  # knob: float 0 2
# What a new bin costs; 0 is as good as a perfect fit.
NEW = 1.0  # knob: float 0 2


class Policy:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity

    def choose(self, item: int, counts: np.ndarray) -> int:
        """The free space of the bin to use, or -1 for a new bin; counts[r] open bins have r free."""
        capacity = self.capacity
        left = np.flatnonzero(counts[item:])  # what the item would leave free, for each kind of bin with room
        if not len(left):
            return -1
        if left[0] <= TIGHT * capacity:
            return int(left[0]) + item
        left = left[left >= USEFUL * capacity]
        if not len(left):
            return -1
        cost = left / capacity + CROWD * (np.log1p(counts[left]) - np.log1p(counts[left + item]))
        best = int(cost.argmin())
        fresh = NEW + CROWD * np.log1p(counts[capacity - item])
        return -1 if fresh < cost[best] else int(left[best]) + item
