"""Intervals and robust summaries. Pure functions; numpy and scipy load only when one is called."""

from surpass.stats.bootstrap import TooFewTrials, iqm, stratified_bootstrap
from surpass.stats.interval import Estimate, Interval, mean_interval, wilson

__all__ = ["Estimate", "Interval", "TooFewTrials", "iqm", "mean_interval", "stratified_bootstrap", "wilson"]
