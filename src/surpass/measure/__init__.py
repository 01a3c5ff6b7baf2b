"""Clocks, runs side by side, early stopping, and what a measurement was made on."""

from surpass.measure.cores import lease_core, lease_machine
from surpass.measure.environment import Fingerprint, fingerprint
from surpass.measure.progress import EarlyStop, Progress, envelope_of
from surpass.measure.reported import Report, last_report
from surpass.measure.together import Command, Timed, run_together

__all__ = [
    "Command",
    "EarlyStop",
    "Fingerprint",
    "Progress",
    "Report",
    "Timed",
    "envelope_of",
    "fingerprint",
    "last_report",
    "lease_core",
    "lease_machine",
    "run_together",
]
