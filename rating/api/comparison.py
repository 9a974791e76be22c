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
        **options: as for ``rating.statistics.comparing.compare``: ``level``, ``margin``, ``equal``, ``seated``, ``ordered``,
            ``seed``.

    Raises:
        OptionError: if a policy has no battle, both are the same, or a number is out of its range.
        ValueError: if something is no battle; it is said which.
    """
    return comparing.compare(battles_of(battles), str(a), str(b), **options)
