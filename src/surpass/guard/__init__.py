"""Defences: one file each. Evaluators import the readers from here."""

from surpass.guard.arrays import read_array, read_arrays
from surpass.guard.documents import read_json, read_text
from surpass.guard.malformed import Malformed, per_instance

__all__ = ["Malformed", "per_instance", "read_array", "read_arrays", "read_json", "read_text"]
