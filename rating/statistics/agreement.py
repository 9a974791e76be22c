"""Agreement of raters who label the same cases: judges, annotators, or one of each."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from rating.statistics.estimates import Estimate, rate_estimate

Label = TypeVar("Label", bound=Hashable)

FEW_CASES = 30
"""Below so many cases a kappa says little: its interval is wide, and its limits are hardly those of 95 %."""


class Agreement(NamedTuple):
    """How far two raters agree.

    Attributes:
        n: number of cases that both labelled.
        observed: share of them with the same label, with Wilson's interval; ``None`` if there are none.
        expected: that share if both labelled as often as they do but independently of each other; ``None`` if there are none.
        kappa: Cohen's kappa, (observed - expected) / (1 - expected), -1 to 1; ``None`` where it is undefined: without cases,
            and if both gave one and the same label only.
    """

    n: int
    observed: Estimate | None
    expected: float | None
    kappa: Estimate | None


def cohens_kappa(
    first: Sequence[Label | None], second: Sequence[Label | None], *, confidence: float = 0.95
) -> Agreement:
    """Returns the agreement of two raters, with unweighted kappa.

    The interval of kappa is Wilson's of the observed agreement, with the expected agreement held fixed as in Cohen's own standard
    error. Unlike those of the normal approximation and the bootstrap it does not shrink to a point where few cases all agree.

    Source: Cohen, A coefficient of agreement for nominal scales (1960).

    Args:
        first: labels of one rater, of any kind; ``None`` where there is none.
        second: those of the other one, for the same cases.
        confidence: of the intervals.

    Raises:
        ValueError: if the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many labels of both raters, got {len(first)} and {len(second)}")
    pairs = [(one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None]
    n = len(pairs)
    agreed = sum(one == other for one, other in pairs)
    observed = rate_estimate(agreed, n, confidence=confidence)
    if observed is None:
        return Agreement(0, None, None, None)
    ours, theirs = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * theirs[label] for label, count in ours.items())  # of n * n; whole, so that 1 is exactly 1
    expected = by_chance / n**2
    if by_chance == n**2:
        return Agreement(n, observed, expected, None)
    low, high = (None if end is None else max(-1.0, _above_chance(end, expected)) for end in observed[1:3])
    value = (agreed * n - by_chance) / (n**2 - by_chance)
    return Agreement(n, observed, expected, Estimate(value, low, high, n, n))


def _above_chance(share: float, expected: float) -> float:
    return (share - expected) / (1 - expected)


def plurality(labels: Sequence[Label | None]) -> Label | None:
    """Returns the label that most raters give a case, or ``None`` if there is none or several are given equally often."""
    ranked = Counter(label for label in labels if label is not None).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
