"""Agreement of two raters (judges or annotators) on the same items."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from rating.stats.estimates import Estimate, rate_estimate

Label = TypeVar("Label", bound=Hashable)

WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""Exponent of the number of steps between two labels in the weight of a disagreement; with 0 all disagreements count equally."""


class Agreement(NamedTuple):
    """Agreement of two raters.

    Attributes:
        n: number of items that both labelled.
        observed: share of equal labels, with Wilson's interval; ``None`` without items. With weights, near labels count in
            part.
        expected: expected share if labels were independent with the same frequencies; ``None`` without items.
        kappa: Cohen's kappa, (observed - expected) / (1 - expected), -1 to 1; ``None`` if it is undefined: without items, or if
            both raters gave one and the same label only.
    """

    n: int
    observed: Estimate | None
    expected: float | None
    kappa: Estimate | None


def cohens_kappa(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    *,
    weights: str = "none",
    order: Sequence[Label] = (),
) -> Agreement:
    """Returns the agreement of two raters with Cohen's kappa.

    The interval of kappa is Wilson's of the observed agreement, with the expected agreement held fixed as in Cohen's standard
    error. Unlike the normal approximation and the bootstrap, it does not shrink to a point if few items all agree.

    Sources: Cohen, A coefficient of agreement for nominal scales (1960); Weighted kappa (1968).

    Args:
        first: labels of the first rater, of any type; ``None`` for a missing label.
        second: labels of the second rater for the same items.
        weights: a key of ``WEIGHTS``.
        order: all labels in the order of their scale, for weights.

    Raises:
        ValueError: if the lengths differ.
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many labels of both raters, got {len(first)} and {len(second)}")
    pairs = Counter(
        (one, other) for one, other in zip(first, second, strict=True) if one is not None and other is not None
    )
    return kappa_of_pairs(pairs, weights=weights, order=order)


def kappa_of_pairs(
    pairs: Mapping[tuple[Label, Label], int],
    *,
    weights: str = "none",
    order: Sequence[Label] = (),
) -> Agreement:
    """Returns ``cohens_kappa`` from the number of items with each pair of labels."""
    power = WEIGHTS[weights]
    places = {label: place for place, label in enumerate(order)}
    furthest = (len(order) - 1) ** power if power else 1

    def apart(one: Label, other: Label) -> int:
        return abs(places[one] - places[other]) ** power if power else int(one != other)

    n = sum(pairs.values())
    ours: Counter[Label] = Counter()
    theirs: Counter[Label] = Counter()
    for (one, other), count in pairs.items():
        ours[one] += count
        theirs[other] += count
    # Integers, to detect an undefined kappa exactly.
    apart_seen = sum(count * apart(*pair) for pair, count in pairs.items())
    apart_by_chance = sum(
        count * times * apart(one, other) for one, count in ours.items() for other, times in theirs.items()
    )
    if n == 0:
        return Agreement(0, None, None, None)
    furthest = max(furthest, 1)
    observed = rate_estimate(n - apart_seen / furthest, n)
    assert observed is not None
    expected = 1 - apart_by_chance / (n**2 * furthest)
    if not apart_by_chance:
        return Agreement(n, observed, expected, None)
    low, high = (None if end is None else max(-1.0, (end - expected) / (1 - expected)) for end in observed[1:3])
    value = (apart_by_chance - n * apart_seen) / apart_by_chance
    return Agreement(n, observed, expected, Estimate(value, low, high, n, n))


def plurality(labels: Sequence[Label | None], *, tied: Label | None = None) -> Label | None:
    """Returns the most frequent label of an item.

    Args:
        labels: labels of the raters; ``None`` for a missing label.
        tied: value to return for a tie.

    Returns:
        ``None`` without labels.
    """
    return plurality_of(Counter(label for label in labels if label is not None), tied=tied)


def plurality_of(counts: Mapping[Label, int], *, tied: Label | None = None) -> Label | None:
    """Returns the most frequent label from label counts, as ``plurality``."""
    most = max(counts.values(), default=0)
    if not most:
        return None
    leading = [label for label, count in counts.items() if count == most]
    return leading[0] if len(leading) == 1 else tied
