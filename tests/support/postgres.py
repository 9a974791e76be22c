"""A real PostgreSQL for tests: one server a process of pytest, a fresh database a test."""

from collections.abc import Iterator

import pytest

from tests.support.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server, which is started with the first test that wants it."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of an empty database."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop(url)
