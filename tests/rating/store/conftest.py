"""Locations of runs: all tests on a server share one database, and each has runs of its own names in it."""

import itertools
from pathlib import Path

import pytest

from tests.support.postgres_server import PostgresServer
from tests.support.stores import Address, FilePlace, Place, ServerPlace

_NUMBERS = itertools.count()


class SharedPlace(ServerPlace):
    """A database in which others have runs too."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        super().__init__(server, url)
        self._number = next(_NUMBERS)

    def address(self, name: str = "run") -> Address:
        return super().address(f"{name}-{self._number}")


@pytest.fixture(scope="session")
def shared_url(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def server_place(postgres_server: PostgresServer, shared_url: str) -> ServerPlace:
    return SharedPlace(postgres_server, shared_url)


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Every location in order."""
    return FilePlace(tmp_path) if request.param == "file" else request.getfixturevalue("server_place")
