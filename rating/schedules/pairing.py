"""Pairing of one round of a Swiss tournament."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llmarena_envs.core.options import OptionError

_STEPS = 1_000_000
"""Steps between the lowest and the highest rating. Rating differences are whole steps, which avoids rounding errors."""


class Round(NamedTuple):
    """One round.

    Attributes:
        pairs: pairs with the higher-rated policy first, sorted by that policy's rank.
        bye: policy that does not play; empty for none.
    """

    pairs: tuple[tuple[str, str], ...]
    bye: str


def ranked(ratings: Mapping[str, float]) -> list[str]:
    """Returns names by rating, best first, ties by name; ratings are rounded to 6 decimals."""
    return sorted(ratings, key=lambda name: (-round(ratings[name], 6), name))


def pair_up(ratings: Mapping[str, float], met: Mapping[frozenset[str], int], byes: Mapping[str, int]) -> Round:
    """Pairs policies of similar rating that have not met.

    With an odd number, the lowest-ranked policy among those with the fewest byes does not play. The pairing of the others has the
    fewest repeated pairs; then the smallest sum of squared rating differences; then the best opponent for the highest-ranked
    policy, then for the next one, and so on. The result is unique and does not depend on the order of names. It is a maximum
    weight matching (Edmonds 1965) in integers.

    Args:
        ratings: of all policies present; only differences count, on any scale.
        met: number of meetings of each pair; a missing pair has not met.
        byes: number of byes of each policy; a missing policy has none.

    Raises:
        OptionError: if there are fewer than two policies.
    """
    names = ranked(ratings)
    if len(names) < 2:
        raise OptionError(f"expected two players or more to pair, got {names}")
    bye = ""
    if len(names) % 2:
        fewest = min(byes.get(name, 0) for name in names)
        bye = [name for name in names if byes.get(name, 0) == fewest][-1]
        names.remove(bye)
    costs = _costs(names, ratings, met)
    most = 1 + max(costs.values())
    import networkx as nx  # slow to import

    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    graph.add_weighted_edges_from((first, second, most - cost) for (first, second), cost in costs.items())
    chosen = sorted(tuple(sorted(pair)) for pair in nx.max_weight_matching(graph, maxcardinality=True))
    return Round(tuple((names[first], names[second]) for first, second in chosen), bye)


def _costs(
    names: Sequence[str], ratings: Mapping[str, float], met: Mapping[frozenset[str], int]
) -> dict[tuple[int, int], int]:
    """Returns the cost of each pair, by rank: one integer, the more important criteria in its higher digits."""
    size = len(names)
    low, high = ratings[names[-1]], ratings[names[0]]
    step = (high - low) / _STEPS or 1.0
    places = [round((ratings[name] - low) / step) for name in names]
    order = size**size  # exceeds the sum of all opponent terms
    distance = order * (size * _STEPS**2 + 1)
    return {
        (first, second): bool(met.get(frozenset((names[first], names[second])), 0)) * distance
        + (places[first] - places[second]) ** 2 * order
        + second * size ** (size - 1 - first)
        for first in range(size)
        for second in range(first + 1, size)
    }
