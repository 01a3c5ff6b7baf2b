"""What a measurement was made on."""

from surpass.measure.environment import Fingerprint, fingerprint

__all__ = ["Fingerprint", "fingerprint"]
