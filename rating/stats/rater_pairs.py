"""Agreement of every pair of raters, and means over pairs."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array

from rating.stats.agreement import Agreement, kappa_of_pairs
from rating.stats.estimates import Estimate
from rating.stats.many_raters import Floats, resampled, resampled_share

Label = TypeVar("Label", bound=Hashable)


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
