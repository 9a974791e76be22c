"""Who is linked with whom: what wins and ties say of the order of any two policies."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from rating.statistics.bradley_terry.comparisons import Floats

ANCHOR_SHARE = 0.1
"""A policy with less than this share of the games of the busiest one does not shift the ratings of others."""


class ComparisonGraph(NamedTuple):
    """What results link, of n policies.

    Attributes:
        reaches: whether the row's policy has beaten or tied the column's, or somebody who has, and so on, shape (n, n); false on
            the diagonal.
        linked: whether a policy belongs to the largest group of which each reaches every other, shape (n,); false for all where
            there is no group of two.
        anchors: the policies whose mean rating is fixed, shape (n,): those of the group, or all without one, but for those that
            have played little.
    """

    reaches: NDArray[np.bool_]
    linked: NDArray[np.bool_]
    anchors: NDArray[np.bool_]

    @property
    def bounded_below(self) -> NDArray[np.bool_]:
        """Whether results keep a policy from being far below the group (or, without one, any other policy), shape (n,)."""
        return np.any(self.reaches[:, self._others], axis=1)

    @property
    def bounded_above(self) -> NDArray[np.bool_]:
        """Whether results keep a policy from being far above them, shape (n,)."""
        return np.any(self.reaches[self._others], axis=0)

    @property
    def _others(self) -> NDArray[np.bool_]:
        return self.linked if self.linked.any() else np.ones_like(self.linked)


def is_connected(wins: Floats, games: Floats) -> bool:
    """Says whether the graph of wins and ties is strongly connected."""
    beats = _beats(wins, games)
    return _reaches_all(beats) and _reaches_all(beats.T)


def links_of(wins: Floats, games: Floats) -> ComparisonGraph:
    """Returns what results link; of groups equally large the one with more games counts, then the one whose name is first.

    Args:
        wins: as for ``fit_totals``, shape (n, n).
        games: the same.
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
    # Where one has met each of many, its own rating would be all that is fixed.
    return ComparisonGraph(_closure(beats), linked, anchors if anchors.sum() > 1 else candidates)


def _beats(wins: Floats, games: Floats) -> NDArray[np.bool_]:
    return (wins > 0) | (games - wins > 0).T


def _reaches_all(beats: NDArray[np.bool_]) -> bool:
    """Says whether the first policy reaches every other."""
    reached = np.arange(len(beats)) == 0
    for _ in range(len(beats)):
        further = reached | beats[reached].any(axis=0)
        if np.array_equal(further, reached):
            break
        reached = further
    return bool(reached.all())


def _components(beats: NDArray[np.bool_]) -> tuple[int, NDArray[np.int32]]:
    count, label = connected_components(sparse.csr_matrix(beats), connection="strong")
    return int(count), label


def _closure(beats: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns who reaches whom, by squaring: each step doubles the length of the chains."""
    reaches = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        chains = reaches.astype(np.float32)
        reaches = chains @ chains > 0
    return reaches & ~np.eye(len(beats), dtype=bool)
