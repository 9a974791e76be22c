"""How often Python looks for garbage in cycles while a run is played."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLD = 20_000
"""Objects that are made and not freed between two searches; 700 unless a program says otherwise."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Searches seldom, and not in what was there before.

    Hundreds of matches under way are a million objects and hardly a cycle: to search all of them again and again took a quarter
    of the processor time of a run with models.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
