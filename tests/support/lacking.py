"""Tests with requirements that some machines do not meet."""

import os
from importlib.util import find_spec
from typing import NoReturn

import pytest

REQUIRED = "LLMARENA_TESTS_REQUIRE_ALL"
"""The environment variable that turns these skips into failures; ``.ci/run`` sets it."""


def lack(reason: str) -> NoReturn:
    """Skips a test because of a missing requirement, or fails it if all are required."""
    if os.environ.get(REQUIRED):
        pytest.fail(f"{REQUIRED} is set, and {reason}")
    pytest.skip(reason)


def need(module: str) -> None:
    """Skips a test if a module of the extra ``test-all`` is not installed, or fails it if all are required."""
    if find_spec(module) is None:
        lack(f"{module} is not installed: pip install -e '.[test-all]'")
