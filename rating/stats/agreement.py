"""Agreement of raters (judges or annotators) on the same items.

Cohen's kappa is for two raters. Pooled agreement, Fleiss' kappa and Krippendorff's alpha are for any number of raters: they are
computed from the counts of labels per item, so raters are interchangeable and may differ between items. Items with fewer than
two labels are left out. Their intervals are from the bootstrap by item.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from rating.stats.estimates import FEWEST_GROUPS, RESAMPLES, Estimate, Floats, rate_estimate

Label = TypeVar("Label", bound=Hashable)

WEIGHTS = {"none": 0, "linear": 1, "quadratic": 2}
"""Exponent of the number of steps between two labels in the weight of a disagreement; with 0 all disagreements count equally."""

Statistic = Callable[[Floats], Floats]
"""From the count of each kind of item, shape (samples, kinds): a value for each sample, nan if it is undefined."""

LEVELS = ("nominal", "ordinal", "interval")
"""Levels of measurement of labels: names, ordered places, or numbers."""

_MOST_WORK = 400_000_000
"""Maximum number of multiplications for a resampled interval."""

_AT_ONCE = 5_000_000
"""Numbers per batch."""


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


def plurality(counts: Mapping[Label, int], *, tied: Label | None = None) -> Label | None:
    """Returns the most frequent label of an item.

    Args:
        counts: number of raters by label.
        tied: value to return for a tie.

    Returns:
        ``None`` without labels.
    """
    most = max(counts.values(), default=0)
    if not most:
        return None
    leading = [label for label, count in counts.items() if count == most]
    return leading[0] if len(leading) == 1 else tied


def label_counts(cases: Iterable[Iterable[Label]], labels: Sequence[Label]) -> tuple[Floats, Floats]:
    """Returns the label counts of each kind of item with two or more labels, and the number of items of each kind.

    Args:
        cases: labels of each item.
        labels: all labels, in their order.

    Returns:
        Arrays of shape (kinds, labels) and (kinds,), in an order independent of the input order.
    """
    places = {label: place for place, label in enumerate(labels)}
    kinds: Counter[tuple[int, ...]] = Counter()
    for case in cases:
        row = [0] * len(labels)
        for label in case:
            row[places[label]] += 1
        if sum(row) >= 2:
            kinds[tuple(row)] += 1
    ordered = sorted(kinds)
    rows = np.array(ordered, dtype=float).reshape(len(ordered), len(labels))
    return rows, np.array([kinds[row] for row in ordered], dtype=float)


def pooled_agreement(rows: Floats, times: Floats) -> Estimate | None:
    """Returns the share of equal pairs of labels of one item, over all pairs of all items.

    Args:
        rows: as returned by ``label_counts``.
        times: as returned by ``label_counts``.

    Returns:
        ``None`` without items. If resamples do not vary, or items are few, the interval is Wilson's for the number of items.
    """
    given = rows.sum(axis=1)
    equal, pairs = (rows**2).sum(axis=1) - given, given * (given - 1)
    return resampled_share(lambda weights: (weights @ equal) / (weights @ pairs), times)


def fleiss_kappa(rows: Floats, times: Floats) -> Estimate | None:
    """Returns Fleiss' kappa; the number of raters may differ between items.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971).

    Args:
        rows: as returned by ``label_counts``.
        times: as returned by ``label_counts``.

    Returns:
        ``None`` if it is undefined: without items, or with only one distinct label.
    """
    given = rows.sum(axis=1)
    alike = ((rows**2).sum(axis=1) - given) / (given * (given - 1))

    def kappa(weights: Floats) -> Floats:
        observed = (weights @ alike) / weights.sum(axis=1)
        shares = (weights @ rows) / (weights @ given)[:, None]
        by_chance = (shares**2).sum(axis=1)
        undefined = shares.max(axis=1) == 1
        return np.where(undefined, np.nan, (observed - by_chance) / np.where(undefined, 1, 1 - by_chance))

    return resampled(kappa, times, work=rows.size)


def krippendorff_alpha(
    rows: Floats, times: Floats, *, level: str = "nominal", values: Sequence[float] | None = None
) -> Estimate | None:
    """Returns Krippendorff's alpha.

    Source: Krippendorff, Computing Krippendorff's alpha-reliability (2011).

    Args:
        rows: as returned by ``label_counts``; the columns in label order, for the level ``ordinal``.
        times: as returned by ``label_counts``.
        level: one of ``LEVELS``.
        values: number of each label, for the level ``interval``; by default its position.

    Returns:
        ``None`` if it is undefined: without items, or with only one distinct label.
    """
    numbers = np.arange(rows.shape[1], dtype=float) if values is None else np.asarray(values, dtype=float)
    size = rows.shape[1]
    pairs = rows[:, :, None] * rows[:, None, :] - rows[:, :, None] * np.eye(size)
    pairs = (pairs / (rows.sum(axis=1) - 1)[:, None, None]).reshape(len(rows), size * size)

    def alpha(weights: Floats) -> Floats:
        seen = (weights @ pairs).reshape(len(weights), size, size)
        totals = weights @ rows
        apart = _apart(level, numbers, totals)
        n = totals.sum(axis=1)
        observed = (seen * apart).sum(axis=(1, 2)) / n
        by_chance = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2)) / (n * (n - 1))
        return np.where(by_chance > 0, 1 - observed / np.where(by_chance > 0, by_chance, 1), np.nan)

    return resampled(alpha, times, work=pairs.size)


def _apart(level: str, numbers: Floats, totals: Floats) -> Floats:
    """Returns the squared difference of each pair of labels, for each sample."""
    if level == "nominal":
        return np.broadcast_to(1 - np.eye(len(numbers)), (len(totals), len(numbers), len(numbers)))
    # Ordinal distance: the number of labels between two, with half of their own.
    places = np.cumsum(totals, axis=1) - totals / 2 if level == "ordinal" else np.broadcast_to(numbers, totals.shape)
    squares: Floats = (places[:, :, None] - places[:, None, :]) ** 2
    return squares


def resampled(statistic: Statistic, times: Floats, *, work: int = 0) -> Estimate | None:
    """Returns a statistic of many items with a percentile bootstrap interval.

    Items of one kind are drawn together, so the cost depends on the number of kinds, not of items.

    Args:
        statistic: the statistic.
        times: number of items of each kind.
        work: approximate number of multiplications per sample.

    Returns:
        ``None`` if the statistic is undefined. The interval is left out if items are few, resamples do not vary, or too many of
        them leave the statistic undefined.
    """
    n = round(times.sum())
    value = float(statistic(times[None])[0]) if n else math.nan
    if math.isnan(value):
        return None
    found = _resamples(statistic, times, n, max(work, len(times)))
    known = found[~np.isnan(found)]
    if n < FEWEST_GROUPS or not len(found) or len(known) < 0.9 * len(found) or known.min() == known.max():
        return Estimate(value, None, None, n, n)
    low, high = np.quantile(known, (0.025, 0.975))
    return Estimate(value, float(low), float(high), n, n)


def resampled_share(statistic: Statistic, times: Floats, *, work: int = 0) -> Estimate | None:
    """Returns a share as ``resampled``; without an interval, Wilson's for the number of items is used."""
    estimate = resampled(statistic, times, work=work)
    if estimate is None or estimate.low is not None:
        return estimate
    wide = rate_estimate(min(estimate.value, 1.0) * estimate.n, estimate.n)
    return estimate._replace(low=wide and wide.low, high=wide and wide.high)


def _resamples(statistic: Statistic, times: Floats, n: int, work: int) -> Floats:
    """Returns the statistic of the resamples: fewer of them if each is costly, none if even a few cost too much."""
    count = min(RESAMPLES, _MOST_WORK // work)
    if count < RESAMPLES // 10:
        return np.array([])
    rng = np.random.default_rng(0)
    at_once = max(1, _AT_ONCE // work)
    found = []
    for begin in range(0, count, at_once):
        drawn = rng.multinomial(n, times / times.sum(), size=min(at_once, count - begin))
        found.append(statistic(drawn.astype(float)))
    return np.concatenate(found)


class RaterPair(NamedTuple):
    """Agreement of a pair of raters.

    Attributes:
        raters: their names, in alphabetical order.
        plain: unweighted agreement.
        linear: agreement weighted by the steps between labels; ``None`` for labels without an order.
        quadratic: agreement weighted by the squared steps; ``None`` for labels without an order.
    """

    raters: tuple[str, str]
    plain: Agreement
    linear: Agreement | None = None
    quadratic: Agreement | None = None


class PairMeans(NamedTuple):
    """Means over pairs of raters, with intervals by item.

    Attributes:
        agreement: share of equal labels; ``None`` without pairs.
        kappa: Cohen's kappa; ``None`` without a pair with a defined kappa.
        pairs: number of pairs in the mean agreement.
        defined: number of these pairs with a defined kappa.
        left_out: number of pairs with too few items.
    """

    agreement: Estimate | None
    kappa: Estimate | None
    pairs: int
    defined: int
    left_out: int


def rater_pairs(cases: Iterable[Mapping[str, Label]], order: Sequence[Label] = ()) -> list[RaterPair]:
    """Returns the agreement of every pair of raters with a common item, in alphabetical order.

    Args:
        cases: label by rater name, for each item.
        order: all labels in the order of their scale, for the weighted forms; empty to leave them out.
    """
    tables: dict[tuple[str, str], Counter[tuple[Label, Label]]] = defaultdict(Counter)
    for case, times in _kinds(cases).items():
        for place, (rater, label) in enumerate(case):
            for other, theirs in case[place + 1 :]:
                tables[rater, other][label, theirs] += times
    return [
        RaterPair(
            raters,
            kappa_of_pairs(tables[raters]),
            kappa_of_pairs(tables[raters], weights="linear", order=order) if order else None,
            kappa_of_pairs(tables[raters], weights="quadratic", order=order) if order else None,
        )
        for raters in sorted(tables)
    ]


def pair_means(cases: Iterable[Mapping[str, Label]], labels: Sequence[Label], *, least: int = 1) -> PairMeans:
    """Returns the means over pairs of raters of the share of equal labels and of kappa.

    Pairs have equal weight, for any number of items. Pairs with an undefined kappa are left out of the mean kappa.

    Args:
        cases: label by rater name, for each item.
        labels: all labels.
        least: minimum number of items of a pair.
    """
    kinds = _kinds(cases)
    size = len(labels)
    places = {label: place for place, label in enumerate(labels)}
    numbers: dict[tuple[str, str], int] = {}
    entries: list[tuple[int, int, int]] = []  # kind, pair, cell of its table
    for kind, case in enumerate(kinds):
        for place, (rater, label) in enumerate(case):
            for other, theirs in case[place + 1 :]:
                number = numbers.setdefault((rater, other), len(numbers))
                entries.append((kind, number, places[label] * size + places[theirs]))
    times = np.array(list(kinds.values()), dtype=float)
    rows, pairs, cells = np.array(entries, dtype=np.intp).reshape(-1, 3).T
    kept = np.bincount(pairs, weights=times[rows], minlength=len(numbers)) >= least
    if not kept.any():
        return PairMeans(None, None, 0, 0, len(numbers))
    use = kept[pairs]
    columns = (np.cumsum(kept) - 1)[pairs[use]] * size * size + cells[use]
    shape = (len(kinds), int(kept.sum()) * size * size)
    member = csr_array((np.ones(len(columns)), (rows[use], columns)), shape=shape)

    def tables(weights: Floats) -> Floats:
        """Returns the count of each pair of labels by pair of raters, for each sample (samples, pairs, labels, labels)."""
        return (member.T @ weights.T).T.reshape(len(weights), -1, size, size)

    def agreement(weights: Floats) -> Floats:
        seen = tables(weights)
        n, equal = seen.sum(axis=(2, 3)), np.trace(seen, axis1=2, axis2=3)
        return _mean(np.divide(equal, n, out=np.full_like(n, np.nan), where=n > 0))

    def kappa(weights: Floats) -> Floats:
        seen = tables(weights)
        n = seen.sum(axis=(2, 3))
        by_chance = (seen.sum(axis=2) * seen.sum(axis=3)).sum(axis=2)
        room = n**2 - by_chance
        kappas = np.trace(seen, axis1=2, axis2=3) * n - by_chance
        return _mean(np.divide(kappas, room, out=np.full_like(n, np.nan), where=room > 0))

    every = tables(times[None])[0]
    n = every.sum(axis=(1, 2))
    defined = int(np.sum(n**2 > (every.sum(axis=1) * every.sum(axis=2)).sum(axis=1)))
    work = len(columns) + shape[1]
    return PairMeans(
        resampled_share(agreement, times, work=work),
        resampled(kappa, times, work=work),
        len(n),
        defined,
        len(numbers) - len(n),
    )


def _mean(values: Floats) -> Floats:
    """Returns the mean of each sample, without NaN."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    sums = np.where(known, values, 0).sum(axis=1)
    return np.divide(sums, count, out=np.full(len(values), np.nan), where=count > 0)


def _kinds(cases: Iterable[Mapping[str, Label]]) -> dict[tuple[tuple[str, Label], ...], int]:
    """Returns the number of items with each combination of labels, in an order independent of the input order."""
    kinds = Counter(tuple(sorted(case.items(), key=lambda item: item[0])) for case in cases)
    return dict(sorted(kinds.items(), key=lambda item: [(rater, str(label)) for rater, label in item[0]]))
