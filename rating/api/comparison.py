"""Comparisons of two policies by battles from anywhere."""

from typing import Any

from rating.api.data import Battles, battles_of
from rating.statistics import comparing
from rating.statistics.comparing import Comparison


def compare(battles: Battles, a: str, b: str, **options: Any) -> Comparison:
    """Says whether one policy is better than another; the answer holds whenever one looks.

    Args:
        battles: in an order that does not depend on results.
        a: name of the one.
        b: name of the other.
        **options: as for ``rating.statistics.comparing.compare``: ``level``, ``margin``, ``equal``, ``seated``, ``seed``.
    """
    return comparing.compare(battles_of(battles), a, b, **options)
