"""A busy machine must not fail a property: no time limit on a single example."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
