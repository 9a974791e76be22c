"""Fixtures of the sandbox's tests."""

from collections.abc import Mapping

import pytest

from llmarena_envs.sandbox import Sandbox, find_sandbox
from tests.llmarena_envs.sandbox.machine import BACKENDS


@pytest.fixture(scope="session")
def sandboxes() -> Mapping[str, Sandbox]:
    """A sandbox of each backend that isolates here."""
    return {name: find_sandbox(name) for name in BACKENDS}
