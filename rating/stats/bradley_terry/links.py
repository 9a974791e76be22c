"""Links between policies by wins and ties, which order them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rating.stats.estimates import Floats

ANCHOR_SHARE = 0.1
"""Minimum share of the games of the busiest policy for an anchor."""


class ComparisonGraph(NamedTuple):
    """Links between n policies.

    Attributes:
        reaches: whether the row policy has beaten or tied the column policy, directly or through a chain, shape (n, n); false
            on the diagonal.
        linked: whether a policy is in the largest group of policies that all reach each other, shape (n,); false for all
            without a group of two.
        anchors: policies whose mean rating is fixed, shape (n,): the linked ones, or all if none is linked, except those with
            few games.
    """

    reaches: NDArray[np.bool_]
    linked: NDArray[np.bool_]
    anchors: NDArray[np.bool_]

    @property
    def bounded_below(self) -> NDArray[np.bool_]:
        """Whether results bound a policy from below, relative to the group (or, without one, any other policy), shape (n,)."""
        return np.any(self.reaches[:, self._others], axis=1)

    @property
    def bounded_above(self) -> NDArray[np.bool_]:
        """Whether results bound a policy from above, relative to the same policies, shape (n,)."""
        return np.any(self.reaches[self._others], axis=0)

    @property
    def _others(self) -> NDArray[np.bool_]:
        return self.linked if self.linked.any() else np.ones_like(self.linked)


def is_connected(wins: Floats, games: Floats) -> bool:
    """Returns whether the graph of wins and ties is strongly connected."""
    return _components(_beats(wins, games))[0] == 1


def links_of(wins: Floats, games: Floats) -> ComparisonGraph:
    """Returns the links; among the largest groups the one with more games counts, then the one with the first name.

    Args:
        wins: as for ``fit_totals``, shape (n, n).
        games: as for ``fit_totals``, shape (n, n).
    """
    beats = _beats(wins, games)
    count, label = _components(beats)
    played = games.sum(axis=0) + games.sum(axis=1)
    members, weight = np.bincount(label, minlength=count), np.bincount(label, played, minlength=count)
    first = np.array([int(np.argmax(label == group)) for group in range(count)])
    chosen = np.lexsort((first, -weight, -members))[0]
    linked = (label == chosen) & (members[chosen] > 1)
    candidates = linked if linked.any() else np.ones_like(linked)
    anchors = candidates & (played >= ANCHOR_SHARE * played[candidates].max())
    # A single anchor, e.g. a policy that has met each of many others, would fix only its own rating.
    return ComparisonGraph(_closure(beats), linked, anchors if anchors.sum() > 1 else candidates)


def _beats(wins: Floats, games: Floats) -> NDArray[np.bool_]:
    return (wins > 0) | (games - wins > 0).T


def _components(beats: NDArray[np.bool_]) -> tuple[int, NDArray[np.int32]]:
    count, label = connected_components(sparse.csr_matrix(beats), connection="strong")
    return int(count), label


def _closure(beats: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns the transitive closure, by squaring: each step doubles the length of the chains."""
    reaches = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        chains = reaches.astype(np.float32)
        reaches = chains @ chains > 0
    return reaches & ~np.eye(len(beats), dtype=bool)
