"""Agreement of two raters who label the same cases: judges, annotators, or one of each."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from rating.statistics.estimates import Estimate, rate_estimate

Label = TypeVar("Label", bound=Hashable)

WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""How a disagreement counts: as every other one, or by that power of the number of steps between the labels."""


class Agreement(NamedTuple):
    """How far two raters agree.

    Attributes:
        n: number of cases that both labelled.
        observed: share of them with the same label, with Wilson's interval; ``None`` if there are none. With weights labels that
            are near each other count in part.
        expected: that share if both labelled as often as they do but independently of each other; ``None`` if there are none.
        kappa: Cohen's kappa, (observed - expected) / (1 - expected), -1 to 1; ``None`` where it is undefined: without cases,
            and if both gave one and the same label only.
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
    """Returns the agreement of two raters with kappa.

    The interval of kappa is Wilson's of the observed agreement, with the expected agreement held fixed as in Cohen's own standard
    error. Unlike those of the normal approximation and the bootstrap it does not shrink to a point where few cases all agree.

    Sources: Cohen, A coefficient of agreement for nominal scales (1960); Weighted kappa (1968).

    Args:
        first: labels of one rater, of any kind; ``None`` where there is none.
        second: those of the other one, for the same cases.
        weights: a key of ``WEIGHTS``.
        order: all labels from one end of their scale to the other, for weights.

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
    """Returns the agreement of two raters from the number of cases with each pair of labels; as ``cohens_kappa``."""
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
    # Whole numbers, so that what is undefined is exactly so.
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
    """Returns the label that most raters give a case.

    Args:
        labels: of the raters; ``None`` for none.
        tied: what to return where several labels are given equally often.

    Returns:
        ``None`` if nobody gave a label.
    """
    return plurality_of(Counter(label for label in labels if label is not None), tied=tied)


def plurality_of(counts: Mapping[Label, int], *, tied: Label | None = None) -> Label | None:
    """Returns the label that is given most often, as ``plurality``, from how often each is."""
    most = max(counts.values(), default=0)
    if not most:
        return None
    leading = [label for label, count in counts.items() if count == most]
    return leading[0] if len(leading) == 1 else tied
