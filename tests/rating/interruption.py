"""Runs that are interrupted after some of their matches have ended."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rating.store.store import Store


class Enough(Exception):
    """What ends a run."""


@contextmanager
def ended_after(monkeypatch: pytest.MonkeyPatch, count: int) -> Iterator[None]:
    """Lets so many matches end inside, and fails unless one more was to."""
    left, finish = itertools.count(-count), Store.finish

    def stops(store, match, outcome, **options):
        if next(left) >= 0:
            raise Enough
        finish(store, match, outcome, **options)

    with monkeypatch.context() as patched, pytest.raises(Enough):
        patched.setattr(Store, "finish", stops)
        yield
