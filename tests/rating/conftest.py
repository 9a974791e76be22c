from collections.abc import Iterator

import pytest

from tests.rating.players import Asked


@pytest.fixture(autouse=True)
def _all_work() -> Iterator[None]:
    """Lets all policies work at first, and forgets how often they were asked."""
    Asked.calls.clear()
    Asked.failing.clear()
    yield
    Asked.failing.clear()
