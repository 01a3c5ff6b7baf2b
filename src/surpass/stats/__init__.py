"""Intervals and robust summaries. Pure functions; numpy and scipy load only when one is called."""

from surpass.stats.bootstrap import TooFewTrials, iqm, stratified_bootstrap, weighted_mean, weighted_median
from surpass.stats.interval import Estimate, Interval, mean_interval, wilson
from surpass.stats.ratio import Repeats, paired_ratio

__all__ = [
    "Estimate",
    "Interval",
    "Repeats",
    "TooFewTrials",
    "iqm",
    "mean_interval",
    "paired_ratio",
    "stratified_bootstrap",
    "weighted_mean",
    "weighted_median",
    "wilson",
]
