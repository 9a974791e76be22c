"""Results of pairs, prepared for a fit."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rating.stats.estimates import Floats, Integers
from rating.stats.results import Battle, check_battle, finished
from rating.store.records import Outcome

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Results of m pairs of n policies.

    Attributes:
        policies: names, sorted, n of them.
        first: index of the policy on the earlier seat, shape (m,).
        second: index of the policy on the later seat, shape (m,).
        score: score of the first policy, shape (m,): 1 for a win, 0.5 for a tie, 0 for a loss; other fractions are allowed.
        cluster: number of the deal, shape (m,): results of one deal are not independent.
        weight: weight of each result, shape (m,), above 0; ``None`` if all are equal.
        seated: whether ``first`` and ``second`` are seats; if not, e.g. for a log without seats, no seat advantage is fitted.
        without_deal: number of results with an unknown deal; each counts as a deal of its own.
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
        """Returns the results selected by a mask of shape (m,) or by indices, with the same policies."""
        return replace(
            self,
            first=self.first[chosen],
            second=self.second[chosen],
            score=self.score[chosen],
            cluster=self.cluster[chosen],
            weight=None if self.weight is None else self.weight[chosen],
        )


def compare(outcomes: Iterable[Outcome]) -> Comparisons:
    """Converts finished matches to results of pairs of seats.

    A match of more than two players counts as all pairs of its rank order by reward; equal rewards are a tie. Pairs of a policy
    with itself are left out. The cluster of a pair is the seed of its match, so all pairs of a match and all matches of one
    deal are in one cluster.

    Args:
        outcomes: outcomes of one environment, in any order; void ones are skipped.
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
        comparisons: results to sum.
        ties: ``drop`` leaves ties out; otherwise a tie is half a win for each.
    """
    if ties == "drop":
        comparisons = comparisons.select(comparisons.score != 0.5)
    if comparisons.weight is None and _are_halves(comparisons.score):  # exact in any order
        return _sums(comparisons, comparisons.score), _sums(comparisons)
    ordered = in_order(comparisons)
    weight = weights(ordered)
    return _sums(ordered, ordered.score * weight), _sums(ordered, weight)


def in_order(comparisons: Comparisons) -> Comparisons:
    """Returns the results sorted by deal and pair, so sums of fractions do not depend on the input order."""
    keys = (weights(comparisons), comparisons.score, comparisons.second, comparisons.first, comparisons.cluster)
    return comparisons.select(np.lexsort(keys))


def weights(comparisons: Comparisons) -> Floats:
    """Returns the weight of each result, shape (m,)."""
    return np.ones(len(comparisons.score)) if comparisons.weight is None else comparisons.weight


def _sums(comparisons: Comparisons, values: Floats | None = None) -> Floats:
    """Returns the sum of the values over the games of each pair, by default the number of games, shape (n, n)."""
    size = len(comparisons.policies)
    sums = np.zeros(size * size)
    # Blocks fit in the processor cache.
    block = max(_BLOCK, 4 * size * size)
    for begin in range(0, len(comparisons.first), block):
        part = slice(begin, begin + block)
        cells = comparisons.first[part] * size + comparisons.second[part]
        sums += np.bincount(cells, None if values is None else values[part], minlength=size * size)
    return sums.reshape(size, size)


def win_tie_loss_counts(comparisons: Comparisons) -> Integers:
    """Returns how often the row policy scored above, at and below one half against the column policy, shape (n, n, 3)."""
    size = len(comparisons.policies)
    kind = np.where(comparisons.score > 0.5, 0, np.where(comparisons.score == 0.5, 1, 2))
    cells_of = (comparisons.first * size + comparisons.second) * 3 + kind
    table = np.bincount(cells_of, minlength=size * size * 3).reshape(size, size, 3)
    both: Integers = table + table.transpose(1, 0, 2)[..., ::-1]
    return both


def mean_scores(comparisons: Comparisons) -> Floats:
    """Returns the weighted mean score of each policy over all its results, 0 to 1, shape (n,)."""
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    mean: Floats = score.sum(axis=1) / most.sum(axis=1)
    return mean


def _are_halves(score: Floats) -> bool:
    parts = (score[begin : begin + _BLOCK] * 2 for begin in range(0, len(score), _BLOCK))
    return all(bool(np.all(part == np.rint(part))) for part in parts)


def comparisons_of(battles: Iterable[Battle], *, seated: bool = False) -> Comparisons:
    """Converts battles to comparisons, in their order; battles of a policy with itself are left out.

    Args:
        battles: in any order.
        seated: whether the first and the second are seats with an advantage to fit. Leave it out if the log may list winners
            first.

    Raises:
        ValueError: as ``check_battle``.
    """
    kept = [battle for battle in battles if battle.first != battle.second]
    for battle in kept:
        check_battle(battle)
    policies = tuple(sorted({name for battle in kept for name in battle[:2]}))
    index_of = {name: index for index, name in enumerate(policies)}
    first = np.array([index_of[battle.first] for battle in kept], dtype=np.int64)
    second = np.array([index_of[battle.second] for battle in kept], dtype=np.int64)
    score = np.array([battle.score for battle in kept], dtype=float)
    weight = np.array([battle.weight for battle in kept], dtype=float)
    deals = {deal: index for index, deal in enumerate(sorted({battle.deal for battle in kept if battle.deal}))}
    cluster = np.array([deals.get(battle.deal, -1) for battle in kept], dtype=np.int64)
    # Number battles without a deal by content, not by their position in the log.
    alone = np.flatnonzero(cluster < 0)
    order = np.lexsort((weight[alone], score[alone], second[alone], first[alone]))
    cluster[alone[order]] = len(deals) + np.arange(len(alone))
    weights = None if np.all(weight == 1) else weight
    return Comparisons(policies, first, second, score, cluster, weights, seated, len(alone))
