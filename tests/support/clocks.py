"""A clock on the wall that jumps."""

import datetime
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_YEARS = itertools.cycle((-20, 3, -1, 15, 0))
"""Errors of the clock in years, cycled over its calls."""

_SECONDS = 365.25 * 86_400


@contextmanager
def jumping_clock() -> Iterator[None]:
    """Lets every look at the clock on the wall give a time years away from the one before; durations are measured elsewhere."""
    real_time, real_datetime = time.time, datetime.datetime

    class Jumping(real_datetime):
        """A moment; the present one is read from the clock."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> "Jumping":
            return cls.fromtimestamp(wrong(), tz)

    def wrong() -> float:
        return real_time() + next(_YEARS) * _SECONDS

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", wrong)
        patch.setattr(time, "time_ns", lambda: int(wrong() * 1e9))
        for name in (
            "rating.play.runner",
            "rating.config.run_file",
            "rating.play.dry_run",
            "rating.store.calls",
        ):
            patch.setattr(f"{name}.datetime", Jumping)
        patch.setattr(datetime, "datetime", Jumping)
        yield
