"""Settings of all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.tiny_model import make_tiny_model

# The same examples in every run, and no limit of time: a busy machine is no failure.
settings.register_profile("reproducible", deadline=None, derandomize=True)
settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a tiny language model, made once for all tests of a process."""
    return make_tiny_model(tmp_path_factory.mktemp("model") / "tiny")
