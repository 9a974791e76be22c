"""Models of two architectures, in this process and without a network."""

import socket

import pytest

from agents.models.local.checkpoint import Checkpoint
from tests.agents.models.local.asking import MODELS


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Refuses connections, and computes in one thread."""
    import torch

    def refuse(*arguments):
        raise AssertionError("a local model opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    torch.set_num_threads(1)


@pytest.fixture(params=MODELS)
def path(request):
    """The directory of a tiny model, of each architecture in turn."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def model(path):
    """The model itself, which stays in memory as long as the test."""
    from agents.models.local.model import load_model

    return load_model(Checkpoint(path))
