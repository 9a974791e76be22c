"""Store locations for tests: every test runs on all of them."""

import sqlite3
from abc import ABC, abstractmethod
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rating.store import sqlite
from rating.store.address import Address, parse_address
from rating.store.engine import Database
from rating.store.location import create_file, open_file
from rating.store.store import Store
from tests.support.postgres_server import PostgresServer


class Place(ABC):
    """Where runs are, by name."""

    @abstractmethod
    def create(self, name: str = "run") -> Store:
        """Makes a new run."""

    @abstractmethod
    def open(self, name: str = "run", *, read_only: bool = False) -> Store:
        """Opens a run."""

    @abstractmethod
    def database(self, name: str = "run") -> Database:
        """Opens the database of a run."""

    @abstractmethod
    def sql(self, statement: str, name: str = "run") -> list[tuple[Any, ...]]:
        """Executes a statement behind the back of a run and returns its rows as texts."""


class FilePlace(Place):
    """Files of SQLite in a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def create(self, name: str = "run") -> Store:
        return create_file(self.directory / f"{name}.db")

    def open(self, name: str = "run", *, read_only: bool = False) -> Store:
        return open_file(self.directory / f"{name}.db", read_only=read_only)

    def database(self, name: str = "run") -> Database:
        return sqlite.open_existing(self.directory / f"{name}.db")

    def sql(self, statement: str, name: str = "run") -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.directory / f"{name}.db")) as db, db:
            return [tuple(map(str, row)) for row in db.execute(statement)]


class ServerPlace(Place):
    """A database of PostgreSQL. It imports what needs an extra where it needs it: the tests of other libraries do without."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        self.server = server
        self.url = url

    def address(self, name: str = "run") -> Address:
        """Returns the address of a run."""
        return parse_address(self.url).of(name)

    def create(self, name: str = "run") -> Store:
        from rating.store import postgres

        return Store(postgres.create(self.address(name)), is_new=True)

    def open(self, name: str = "run", *, read_only: bool = False) -> Store:
        from rating.store import postgres

        return Store(postgres.open_existing(self.address(name), read_only=read_only))

    def database(self, name: str = "run") -> Database:
        from rating.store import postgres

        return postgres.open_existing(self.address(name))

    def sql(self, statement: str, name: str = "run") -> list[tuple[Any, ...]]:
        path = f'SET search_path TO "{self.address(name).schema}"'
        found = self.server.psql(f"{path}; {statement}", self.url.rpartition("/")[2])
        return [tuple(line.split("|")) for line in found.splitlines()]


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Every location in order."""
    if request.param == "file":
        return FilePlace(tmp_path)
    return ServerPlace(request.getfixturevalue("postgres_server"), request.getfixturevalue("postgres_url"))
