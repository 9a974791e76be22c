"""Fixtures of the tests of policies."""

import pytest

from agents.models.limits import adaptive_limiter, outage, retry
from tests.agents.llm_calls import SECRET


@pytest.fixture
def own_environment(monkeypatch):
    """A key, no address, and short waits between attempts."""
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(adaptive_limiter, "FIRST_COOL_DOWN", 0.001)
    monkeypatch.setattr(outage, "FIRST_PROBE", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
