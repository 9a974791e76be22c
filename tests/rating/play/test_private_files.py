"""Files of runs, caches and web pages have mode 600 under every umask."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agents.models.cache import FILE, ReplyCache
from agents.policy import Reply
from rating.play.run_directory import LINKS
from rating.store.location import create_file
from rating.viewer.web.links import keep_links
from tests.rating.store.test_calls import LOGGED


@pytest.fixture(autouse=True)
def _open_umask(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sets umask 0, and checks that SQLite opens only files that exist."""
    connect = sqlite3.connect

    def checked(where: str, **options: object) -> sqlite3.Connection:
        if where.startswith("file:"):
            assert Path(unquote(urlsplit(where).path)).exists()
        return connect(where, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(sqlite3, "connect", checked)
    before = os.umask(0)
    yield
    os.umask(before)


def modes(directory: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir() if path.is_file()}


def private(*names: str) -> dict[str, int]:
    return dict.fromkeys(names, 0o600)


def test_files_of_a_run_are_private(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    with closing(create_file(path / "run.db")) as store:
        store.call_log().write(LOGGED)
        assert modes(path) == private("run.db", "run.db-wal", "run.db-shm")


def test_cache_is_private(tmp_path: Path) -> None:
    with closing(ReplyCache(tmp_path)) as cache:
        cache.keep("key", "model", Reply("an answer"))
        assert modes(tmp_path) == private(FILE, f"{FILE}-wal", f"{FILE}-shm")


@pytest.mark.parametrize("left", ["nothing", "a file", "a link"])
def test_web_tokens_are_private(left: str, tmp_path: Path) -> None:
    other, unfinished = tmp_path / "elsewhere", tmp_path / f"{LINKS}.new"
    if left == "a file":
        unfinished.write_text("left by a process that was killed")
    elif left == "a link":
        unfinished.symlink_to(other)
    keep_links(tmp_path, ["Ada"])
    assert modes(tmp_path) == private(LINKS)
    assert not other.exists()
