"""Standings: ratings with intervals, possible ranks, and caveats."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry.comparisons import Comparisons, in_order, totals
from rating.stats.bradley_terry.errors import clustered
from rating.stats.bradley_terry.links import ComparisonGraph, links_of
from rating.stats.bradley_terry.model import (
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryFit,
    BradleyTerryOptions,
    fit,
    probability,
)
from rating.stats.estimates import Floats, Rating
from rating.stats.simultaneous import Pair, difference_errors, established_above

_Z_ONE_SIDED = NormalDist().inv_cdf(0.95)

_SHOWN = 5


@dataclass(frozen=True)
class Standing:
    """Standing of a policy.

    Attributes:
        policy: its name.
        rating: its rating. The lower end is ``None`` without a win against the linked policies, directly or through a chain, the
            upper end e.g. for an unbeaten policy, both if all results are of one deal. An interval with one end is one-sided,
            also at 95 %. ``is_linked`` is whether it is in the largest group linked by wins and ties in both directions,
            directly or through a chain.
        best_rank: best possible rank, from 1: one more than the number of policies established above it. All rank claims of a
            pool hold together with 95 % (``rating.stats.simultaneous``).
        worst_rank: worst possible rank: the number of policies minus the number established below it.
        games: number of its results.
        is_anchor: whether it is one of the policies with mean rating 1000: the linked ones, except those with far fewer games
            than the busiest one.
    """

    policy: str
    rating: Rating
    best_rank: int
    worst_rank: int
    games: int
    is_anchor: bool = True


@dataclass(frozen=True, eq=False)
class Standings:
    """Standings of all policies.

    Attributes:
        rows: best first, ties by name.
        fitted: fit with the ratings of the rows and clustered errors.
        notes: caveats, as sentences.
        established: pairs (better, worse) with an established difference, corrected for multiple comparisons.
    """

    rows: tuple[Standing, ...]
    fitted: BradleyTerryFit
    notes: tuple[str, ...]
    established: tuple[Pair, ...]


def standings(
    comparisons: Comparisons, options: BradleyTerryOptions | None = None, *, growth: float = 1.0
) -> Standings:
    """Fits ratings and returns the standings.

    Errors are clustered by deal (``clustered``). The distance of an unlinked policy from the others is bounded by a fit in
    which each pair counts once per deal.

    Args:
        comparisons: results of one or more policies.
        options: options of the fit; by default with a fitted prior width.
        growth: see ``null_draws``: ranks hold at all looks while the results grow by this factor, as under a stopping rule.
    """
    options = options or BradleyTerryOptions(prior_sd="fitted")
    links = links_of(*totals(comparisons, options.ties))
    fitted = _about(clustered(fit(comparisons, options), comparisons), links.anchors)
    once, once_a_deal = fitted, None
    if not links.linked.all():
        once_a_deal = _once_a_deal(comparisons)
        once = _about(fit(once_a_deal, options), links.anchors)
        wider = np.where(links.linked, 1.0, np.maximum(1.0, once.errors / np.maximum(fitted.errors, 1e-9)))
        fitted = replace(fitted, covariance=fitted.covariance * np.outer(wider, wider))
    above = _established(fitted, once_a_deal, links, growth)
    order = sorted(range(len(fitted.policies)), key=lambda index: (-round(float(fitted.ratings[index]), 6), index))
    rows = tuple(_standing(index, fitted, once, links, comparisons, above) for index in order)
    pairs = tuple(Pair(fitted.policies[one], fitted.policies[other]) for one, other in np.argwhere(above))
    return Standings(rows, fitted, caveats(fitted, comparisons, links), pairs)


def _about(fitted: BradleyTerryFit, anchors: NDArray[np.bool_]) -> BradleyTerryFit:
    """Returns the fit with the mean rating of the anchors fixed."""
    mean = anchors / anchors.sum()
    covariance = fitted.covariance
    if np.isfinite(covariance).all():
        across = covariance @ mean
        covariance = covariance - across[:, None] - across[None, :] + mean @ across
    ratings = fitted.ratings - fitted.ratings[anchors].mean() + MEAN_RATING
    return replace(fitted, ratings=ratings, covariance=covariance)


def _once_a_deal(comparisons: Comparisons) -> Comparisons:
    """Returns one result per pair and deal: the mean score."""
    data, size = in_order(comparisons), len(comparisons.policies)
    low, high = np.minimum(data.first, data.second), np.maximum(data.first, data.second)
    keys, group = np.unique((data.cluster * size + low) * size + high, return_inverse=True)
    sums = np.bincount(group, np.where(data.first == low, data.score, 1 - data.score), len(keys))
    deal, pair = np.divmod(keys, size * size)
    score = sums / np.bincount(group, minlength=len(keys))
    return Comparisons(data.policies, pair // size, pair % size, score, deal, seated=False)


def _established(
    fitted: BradleyTerryFit, once_a_deal: Comparisons | None, links: ComparisonGraph, growth: float
) -> NDArray[np.bool_]:
    """Returns whether the row policy is established above the column policy; unlinked policies need ``once_a_deal``."""
    if fitted.clusters < 2:
        return np.zeros(links.reaches.shape, dtype=bool)
    one, other = np.nonzero(np.triu(links.reaches | links.reaches.T, 1))
    lead = (fitted.ratings[one] - fitted.ratings[other]) / difference_errors(fitted.covariance, one, other)
    if once_a_deal is not None:
        apart = ~(links.linked[one] & links.linked[other])
        lead[apart] = _score_tests(fitted, once_a_deal, links)[one[apart], other[apart]]
    degrees = fitted.clusters - 1
    return established_above(lead, fitted.covariance, one, other, degrees=degrees, growth=growth) & links.reaches


def _score_tests(fitted: BradleyTerryFit, once: Comparisons, links: ComparisonGraph) -> Floats:
    """Returns score-test statistics for equality with an unlinked policy, shape (n, n), antisymmetric.

    The prior determines the rating of an unlinked policy, and so Wald's tests of it. The score test compares its results with
    those expected at the other policy's strength; if both are unlinked, only their own games count.
    """
    wins, games = totals(once)
    score, most = wins + (games - wins).T, games + games.T
    direct = (2 * score - most) / np.sqrt(np.maximum(most, 1))
    x = fitted.ratings / ELO_PER_NAT
    p = probability(x[:, None] - x)
    variance = np.diag(fitted.covariance) / ELO_PER_NAT**2
    result = np.where(links.linked[:, None] | links.linked, 0.0, direct)
    for index in np.flatnonzero(~links.linked):
        information = np.maximum((most[index] * p * (1 - p)).sum(axis=1), 1e-12)
        lead = (score[index] - most[index] * p).sum(axis=1) / information
        against = lead / np.sqrt(1 / information + variance)
        result[index, links.linked] = against[links.linked]
        result[links.linked, index] = -against[links.linked]
    return result


def _standing(
    index: int,
    fitted: BradleyTerryFit,
    once: BradleyTerryFit,
    links: ComparisonGraph,
    comparisons: Comparisons,
    above: NDArray[np.bool_],
) -> Standing:
    """Returns the standing of a policy, from the matrix of established pairs."""
    is_bounded = fitted.clusters > 1
    has_low, has_high = bool(links.bounded_below[index]), bool(links.bounded_above[index])
    one_sided = has_low != has_high
    centre, half = float(fitted.ratings[index]), fitted.reach * float(fitted.errors[index])
    if one_sided:
        centre, half = float(once.ratings[index]), _Z_ONE_SIDED * float(once.errors[index])
    return Standing(
        fitted.policies[index],
        Rating(
            float(fitted.ratings[index]),
            centre - half if is_bounded and has_low else None,
            centre + half if is_bounded and has_high else None,
            bool(links.linked[index]),
        ),
        1 + int(above[:, index].sum()),
        len(fitted.policies) - int(above[index].sum()),
        int(((comparisons.first == index) | (comparisons.second == index)).sum()),
        bool(links.anchors[index]),
    )


def caveats(fitted: BradleyTerryFit, comparisons: Comparisons, links: ComparisonGraph) -> tuple[str, ...]:
    """Returns the caveats for a reader of the ratings.

    Args:
        fitted: the ratings, with clustered errors.
        comparisons: the fitted results.
        links: links between the policies.
    """
    names = np.array(fitted.policies)
    if len(names) == 1:
        return ("There is one policy: nothing is compared.",)
    notes = []
    tied = comparisons.score == 0.5
    without = " (without ties)" if fitted.options.ties == "drop" and tied.any() else ""
    if len(tied) and tied.all():
        notes.append("Every result is a tie: nothing tells the policies apart.")
    elif without:
        notes.append(f"{int(tied.sum())} of {len(tied)} results are ties and left out.")
    if not links.linked.any():
        notes.append(
            f"No two policies have beaten each other, not even through others{without}: the results give an order, if any, but no"
            " distances; those shown come from the prior."
        )
    else:
        notes += _unlinked(names, links, without)
    if fitted.clusters == 1 and len(tied) > 1:
        notes.append("All results are of one deal: they establish nothing about other deals.")
    if comparisons.without_deal:
        notes.append(
            f"{comparisons.without_deal} of {len(tied)} results name no deal (item): the intervals assume that they are"
            " independent."
        )
    return tuple(notes)


def _unlinked(names: NDArray[np.str_], links: ComparisonGraph, without: str) -> list[str]:
    """Returns caveats for policies with an unbounded distance from the linked ones."""
    below, above = links.bounded_below, links.bounded_above
    kinds = (
        (below & ~above, f"unbeaten by the others{without}: how far above them is open"),
        (~below & above, f"without a win against the others{without}: how far below them is open"),
        (
            ~below & ~above,
            f"never compared with the others, directly or through anybody{without}: neither rank nor rating says anything",
        ),
    )
    return [f"{_list(names[chosen])}: {text}." for chosen, text in kinds if chosen.any()]


def _list(names: NDArray[np.str_]) -> str:
    shown = [str(name) for name in names[:_SHOWN]]
    return ", ".join(shown) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
