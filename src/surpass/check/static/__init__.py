"""Checks that only read the package."""
