"""Pairing: who meets whom in one round of a Swiss tournament."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from llmarena_envs.core.options import OptionError

_STEPS = 1_000_000
"""Steps between the lowest and the highest rating: differences are compared in whole steps, so that nothing is rounded later."""


class Round(NamedTuple):
    """One round.

    Attributes:
        pairs: who meets whom, each with the better one first, in the order of the better ones.
        bye: who does not play; empty if everybody does.
    """

    pairs: tuple[tuple[str, str], ...]
    bye: str


def ranked(ratings: Mapping[str, float]) -> list[str]:
    """Returns names by rating, best first, equals by name; differences below rounding are none."""
    return sorted(ratings, key=lambda name: (-round(ratings[name], 6), name))


def pair_up(ratings: Mapping[str, float], met: Mapping[frozenset[str], int], byes: Mapping[str, int]) -> Round:
    """Pairs everybody with somebody of similar rating whom it has not met.

    Of an odd number the lowest-ranked of those with the fewest byes does not play. Among all ways of pairing the others, one
    with the fewest repeated pairs is taken; among those, the one with the smallest sum of squared differences of ratings;
    among equals, the one that gives the highest-ranked the best opponent, then the next one, and so on. So there is exactly
    one answer, whatever order the names come in. It is a matching of greatest weight (Edmonds 1965), in whole numbers.

    Args:
        ratings: of everybody who is there; only their differences count, on whatever scale.
        met: how often two have met; pairs that have not may be missing.
        byes: how often somebody has not played; those who always have may be missing.

    Raises:
        OptionError: if there are fewer than two.
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
    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    graph.add_weighted_edges_from((first, second, most - cost) for (first, second), cost in costs.items())
    chosen = sorted(tuple(sorted(pair)) for pair in nx.max_weight_matching(graph, maxcardinality=True))
    return Round(tuple((names[first], names[second]) for first, second in chosen), bye)


def _costs(
    names: Sequence[str], ratings: Mapping[str, float], met: Mapping[frozenset[str], int]
) -> dict[tuple[int, int], int]:
    """Returns what it costs to pair two, by rank: one number whose leading part is the more important one."""
    size = len(names)
    low, high = ratings[names[-1]], ratings[names[0]]
    step = (high - low) / _STEPS or 1.0
    places = [round((ratings[name] - low) / step) for name in names]
    order = size**size  # more than all places of opponents written side by side
    distance = order * (size * _STEPS**2 + 1)
    return {
        (first, second): bool(met.get(frozenset((names[first], names[second])), 0)) * distance
        + (places[first] - places[second]) ** 2 * order
        + second * size ** (size - 1 - first)
        for first in range(size)
        for second in range(first + 1, size)
    }
