"""Caveats of ratings, as sentences."""

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry.comparisons import Comparisons
from rating.stats.bradley_terry.fitting import BradleyTerryFit
from rating.stats.bradley_terry.links import ComparisonGraph

_SHOWN = 5


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
            f"Nobody has both beaten and lost to another, not even through others{without}: results give an order, if any, but no"
            " distances; those shown are an assumption (the prior)."
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
