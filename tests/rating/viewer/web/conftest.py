"""Fixtures for the pages of the board."""

import pytest


@pytest.fixture
def unpaced(monkeypatch):
    """Reads the run at every request, and waits for it on a busy machine too."""
    monkeypatch.setattr("rating.viewer.web.live._LEAST_PAUSE", 0)
    monkeypatch.setattr("rating.viewer.web.live._REST", 0)
    monkeypatch.setattr("rating.viewer.web.live._PATIENCE", 60)
