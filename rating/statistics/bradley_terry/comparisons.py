"""Results of pairs, made ready for a fit: who met whom, what came out, and which results belong together."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rating.records.outcome import Outcome
from rating.statistics.results import finished

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 1 << 16
_PACKED = 1 << 25


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Results of m pairs of n policies.

    Attributes:
        policies: names, sorted, n of them.
        first: index of the policy on the earlier seat, shape (m,).
        second: index of the policy on the later seat, shape (m,).
        score: of the first, shape (m,): 1 if it won, 0.5 for a tie, 0 if it lost; fractions between are kept as they are.
        cluster: number of the deal, shape (m,): entries that share it are not independent.
        weight: how much each counts, shape (m,), above 0; ``None`` if all count alike.
        seated: whether ``first`` and ``second`` are seats. Where a log does not say who sat where they are not, and no seat
            advantage is fitted.
        without_deal: number of results whose deal is not known; each is taken as one of its own.
    """

    policies: tuple[str, ...]
    first: Integers
    second: Integers
    score: Floats
    cluster: Integers
    weight: Floats | None = None
    seated: bool = True
    without_deal: int = 0

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> "Comparisons":
        """Returns some of the results, of the same policies: a mask of shape (m,), or their indices in an order."""
        return replace(
            self,
            first=self.first[chosen],
            second=self.second[chosen],
            score=self.score[chosen],
            cluster=self.cluster[chosen],
            weight=None if self.weight is None else self.weight[chosen],
        )


def compare(outcomes: Iterable[Outcome]) -> Comparisons:
    """Turns finished matches into results of pairs of seats.

    A match of more than two players counts as all pairs of its rank order by reward; equal rewards are a tie. Pairs of a
    policy with itself are left out. The cluster of a pair is the seed of its match, so all pairs of a match and all
    matches of one deal are in one cluster.

    Args:
        outcomes: of one environment, in any order; void ones are skipped.
    """
    pairs = [
        (a.policy, b.policy, 1 + (a.reward > b.reward) - (a.reward < b.reward), outcome.seed)
        for outcome in finished(outcomes)
        for index, a in enumerate(outcome.seats)
        for b in outcome.seats[index + 1 :]
        if a.policy != b.policy
    ]
    policies = tuple(sorted({name for pair in pairs for name in pair[:2]}))
    index_of = {name: index for index, name in enumerate(policies)}
    cluster_of = {seed: index for index, seed in enumerate(sorted({pair[3] for pair in pairs}))}
    columns = [(index_of[first], index_of[second], result, cluster_of[seed]) for first, second, result, seed in pairs]
    first, second, result, cluster = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    return Comparisons(policies, first, second, result / 2, cluster)


def totals(comparisons: Comparisons, ties: str = "half") -> tuple[Floats, Floats]:
    """Returns the sum of the scores of the first seat and the number (or weight) of its games, shape (n, n) each.

    Args:
        comparisons: what is added up.
        ties: ``drop`` leaves ties out; they count as half a win of each otherwise.
    """
    if ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    if comparisons.weight is None and len(comparisons.score) < _PACKED and _are_halves(comparisons.score):
        # One pass adds up both: a game adds so much that the scores of all together are less, and every digit of the sum is kept.
        both = _sums(comparisons, comparisons.score, add=float(_PACKED))
        games = np.floor(both / _PACKED)
        return both - games * _PACKED, games
    ordered = in_order(comparisons)
    weight = weights(ordered)
    return _sums(ordered, ordered.score * weight), _sums(ordered, weight)


def in_order(comparisons: Comparisons) -> Comparisons:
    """Returns the results sorted by deal and pair, so that sums of fractions are the same whatever their order was."""
    keys = (weights(comparisons), comparisons.score, comparisons.second, comparisons.first, comparisons.cluster)
    return comparisons.select(np.lexsort(keys))


def weights(comparisons: Comparisons) -> Floats:
    """Returns how much each result counts, shape (m,)."""
    return np.ones(len(comparisons.score)) if comparisons.weight is None else comparisons.weight


def _sums(comparisons: Comparisons, values: Floats, add: float = 0.0) -> Floats:
    """Returns the sum of ``values + add`` over the games of each pair, shape (n, n)."""
    size = len(comparisons.policies)
    sums = np.zeros(size * size)
    # Blocks stay in the processor's cache.
    block = max(_BLOCK, 4 * size * size)
    for begin in range(0, len(values), block):
        part = slice(begin, begin + block)
        cells = comparisons.first[part] * size + comparisons.second[part]
        sums += np.bincount(cells, values[part] + add, minlength=size * size)
    return sums.reshape(size, size)


def tallies(comparisons: Comparisons) -> Integers:
    """Returns how often the row's policy scored more than half, half and less against the column's, shape (n, n, 3)."""
    size = len(comparisons.policies)
    kind = np.where(comparisons.score > 0.5, 0, np.where(comparisons.score == 0.5, 1, 2))
    cells_of = (comparisons.first * size + comparisons.second) * 3 + kind
    table = np.bincount(cells_of, minlength=size * size * 3).reshape(size, size, 3)
    both: Integers = table + table.transpose(1, 0, 2)[..., ::-1]
    return both


def mean_scores(comparisons: Comparisons) -> Floats:
    """Returns the mean score of each policy over all its results, by weight, 0 to 1, shape (n,)."""
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    mean: Floats = score.sum(axis=1) / most.sum(axis=1)
    return mean


def _are_halves(score: Floats) -> bool:
    parts = (score[begin : begin + _BLOCK] * 2 for begin in range(0, len(score), _BLOCK))
    return all(bool(np.all(part == np.rint(part))) for part in parts)
