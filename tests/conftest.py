"""Settings of all tests."""

from hypothesis import settings

# The same examples in every run, and no limit of time: a busy machine is no failure.
settings.register_profile("reproducible", deadline=None, derandomize=True)
settings.load_profile("reproducible")
