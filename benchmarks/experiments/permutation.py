"""Paired permutation tests between players: exact for few cases, by random exchanges otherwise."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

EXACT = 16
"""Maximum number of differing cases for an exact test, 65536 exchanges."""

DRAWS = 10_000
"""Random exchanges above that limit."""

_TOLERANCE = 1e-9


class PermutationTest(NamedTuple):
    """The result of a test.

    Attributes:
        difference: mean of the first player's values minus the mean of the second's.
        p: two-sided share of the exchanges with a difference at least as large.
        n: number of independent cases.
        exact: whether all exchanges were enumerated.
    """

    difference: float
    p: float
    n: int
    exact: bool


def paired_permutation_test(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
) -> PermutationTest | None:
    """Tests whether two players differ, by exchanging their values case by case (Fisher's randomisation test, two-sided).

    The result does not depend on the order of the cases.

    Args:
        first: values of one player.
        second: values of the other player in the same cases.
        clusters: group of each case; the values of a group are exchanged together. By default each case is its own group.

    Returns:
        ``None`` if there are no cases. Random exchanges are counted together with the observed one, hence p is never 0.

    Raises:
        ValueError: if the lengths differ or a value is not finite.
    """
    groups = range(len(first)) if clusters is None else clusters
    if not len(first) == len(second) == len(groups):
        raise ValueError(
            f"expected a value of each player in every case, got {len(first)} and {len(second)} in {len(groups)} cases"
        )
    if not len(first):
        return None
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    if not np.all(np.isfinite(differences)):
        raise ValueError("values: expected finite numbers; leave missing ones out")
    sums: dict[Hashable, float] = defaultdict(float)
    for group, difference in zip(groups, differences.tolist(), strict=True):
        sums[group] += difference
    sizes = np.sort(np.abs(np.array(list(sums.values()))))
    scale = _TOLERANCE * max(1.0, float(sizes.sum()))
    moving = sizes[sizes > scale]  # exchanging equal values has no effect
    limit = abs(sum(sums.values())) - scale
    exact = len(moving) <= EXACT
    if exact:
        p = float(np.mean(np.abs(_all_sums(moving)) >= limit))
    else:
        rng = np.random.default_rng(0)
        signs = rng.integers(2, size=(DRAWS, len(moving)), dtype=np.int8) * 2 - 1
        p = float((np.count_nonzero(np.abs(signs @ moving) >= limit) + 1) / (DRAWS + 1))
    return PermutationTest(float(differences.mean()), p, len(sums), exact)


def _all_sums(sizes: np.ndarray) -> np.ndarray:
    """Returns the sums under all combinations of signs."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums
