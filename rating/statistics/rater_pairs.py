"""All pairs of raters: how each two agree, and the means over pairs."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from rating.statistics.agreement import Agreement, kappa_of_pairs
from rating.statistics.estimates import Estimate
from rating.statistics.many_raters import Floats, resampled, resampled_share

Label = TypeVar("Label", bound=Hashable)


class RaterPair(NamedTuple):
    """Two raters.

    Attributes:
        raters: their names, in alphabetical order.
        plain: their agreement.
        linear: the same where a disagreement counts by the steps between the labels; ``None`` for labels without an order.
        quadratic: where it counts by the square of that.
    """

    raters: tuple[str, str]
    plain: Agreement
    linear: Agreement | None = None
    quadratic: Agreement | None = None


class PairMeans(NamedTuple):
    """Means over pairs of raters, with intervals by case.

    Attributes:
        agreement: share of equal labels; ``None`` without a pair.
        kappa: Cohen's kappa; ``None`` without a pair that has one.
        pairs: number of pairs in the mean of the agreement.
        defined: number of those whose kappa is defined.
        left_out: number of pairs with too few cases.
    """

    agreement: Estimate | None
    kappa: Estimate | None
    pairs: int
    defined: int
    left_out: int


def rater_pairs(cases: Iterable[Mapping[str, Label]], order: Sequence[Label] = ()) -> list[RaterPair]:
    """Returns how each two raters agree who have a case in common, in alphabetical order.

    Args:
        cases: the label that each rater gave, by name.
        order: all labels from one end of their scale to the other, for the weighted forms; empty for none.
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

    Pairs weigh alike, whatever the number of their cases. A pair whose kappa is undefined is left out of the mean of kappas.

    Args:
        cases: the label that each rater gave, by name.
        labels: all labels.
        least: cases below which a pair is left out.
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
        """Returns how often each pair of raters gave each pair of labels, for each sample (samples, pairs, labels, labels)."""
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
    """Returns the mean of the values of each sample that are known."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    sums = np.where(known, values, 0).sum(axis=1)
    return np.divide(sums, count, out=np.full(len(values), np.nan), where=count > 0)


def _kinds(cases: Iterable[Mapping[str, Label]]) -> dict[tuple[tuple[str, Label], ...], int]:
    """Returns how many cases have each combination of labels, in an order that does not depend on that of the cases."""
    kinds = Counter(tuple(sorted(case.items(), key=lambda item: item[0])) for case in cases)
    return dict(sorted(kinds.items(), key=lambda item: [(rater, str(label)) for rater, label in item[0]]))
