"""The least increase of a potential of the open bins, chosen by capacity.

Without a table: the potential is the sum over levels r >= 1 of N(r)^2, N(r) being the number of open bins with r free
(Csirik, Johnson, Kenyon, Orlin, Shor, Weber, Journal of the ACM 53, 2006, section 1).
Capacity 150: a table found by private/search.py. The k-th bin at level r after t items is worth
worth[r] + crowd[r] log(k) + trend[r] log((t + 30) / 150), t advancing in steps of 8.
In both a new bin is a bin at the level `capacity` and competes with all others; the lower level wins a tie.
"""

import json
import math
from pathlib import Path

import numpy as np

TABLE = json.loads((Path(__file__).parent / "table.json").read_text())


class Policy:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.choose = self.by_table if capacity == TABLE["capacity"] else self.by_squares
        if capacity == TABLE["capacity"]:
            self.worth, self.crowd, self.trend = (np.array(TABLE[row]) for row in ("worth", "crowd", "trend"))
            self.logs = np.log(np.arange(1, 1025))  # far more bins than one level ever holds
            self.seen = 0

    def by_squares(self, item: int, counts: np.ndarray) -> int:
        """N^2 -> (N + 1)^2 where the bin arrives, N^2 -> (N - 1)^2 where it leaves; level 0 is free of charge."""
        levels = np.flatnonzero(counts[item:])
        arrive = 2 * counts[levels] + 1
        if len(levels) and levels[0] == 0:
            arrive[0] = 0
        growth = arrive - 2 * counts[levels + item] + 1
        fresh = 2 * int(counts[self.capacity - item]) + 1 if item < self.capacity else 0
        if not len(levels):
            return -1
        best = int(growth.argmin())
        return int(levels[best]) + item if growth[best] <= fresh else -1

    def by_table(self, item: int, counts: np.ndarray) -> int:
        if self.seen % 8 == 0:
            self.now = self.worth + math.log((min(self.seen, 1000) + 30) / 150) * self.trend
        self.seen += 1
        left = np.flatnonzero(counts[item:])
        new = self.capacity - item
        left = np.append(left, new)
        arrive = self.now[left] + self.crowd[left] * self.logs[np.minimum(counts[left], 1023)]
        origin = left + item
        leave = self.now[origin] + self.crowd[origin] * self.logs[np.clip(counts[origin] - 1, 0, 1023)]
        best = int((arrive - leave).argmin())
        return -1 if left[best] == new else int(origin[best])
