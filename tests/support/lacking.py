"""Tests of what not every machine has."""

import os
from typing import NoReturn

import pytest

REQUIRED = "LLMARENA_TESTS_REQUIRE_ALL"
"""The environment variable under which nothing may be lacking; the checks of the project set it."""


def lack(reason: str) -> NoReturn:
    """Skips a test for which this machine lacks something, or fails it where nothing may be lacking."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set, and {reason}")
    pytest.skip(reason)
