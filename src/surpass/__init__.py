"""Measure whether coding agents reproduce, match and surpass published state of the art."""

__all__ = ["__version__"]

__version__ = "0.1.0"
