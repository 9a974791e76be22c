"""Comparison of two players' answers to the same tasks in both orders: wins, ties and losses, and their difference.

Verdicts are scores of the first player: 1 if its answer is preferred, 0 if the other one is, 0.5 for a tie.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from rating.stats.estimates import Estimate, bounded_mean, signed_mean

VERDICTS = (0.0, 0.5, 1.0)


class PairwiseShares(NamedTuple):
    """Shares of verdicts for the first player.

    Attributes:
        wins: share of tasks with its answer preferred in both orders; ``None`` if nothing was compared.
        ties: share with neither answer preferred in both orders.
        losses: share with the other answer preferred in both orders.
        delta: wins minus losses, -1 to 1, with an interval for paired shares.
        consistent: share of tasks with the same verdict in both orders.
        left_out: number of tasks without a verdict in one of the orders.
    """

    wins: Estimate | None
    ties: Estimate | None
    losses: Estimate | None
    delta: Estimate | None
    consistent: Estimate | None
    left_out: int


def both_orders(one: float, swapped: float) -> float:
    """Returns the combined verdict of both orders: a preference counts only if both orders agree, otherwise it is a tie.

    Source: SimulBench (arXiv 2409.07641, section 2.5).

    Args:
        one: the verdict in one order.
        swapped: the verdict in the other order, about the same players.

    Raises:
        ValueError: if a value is not a verdict.
    """
    for verdict in (one, swapped):
        if verdict not in VERDICTS:
            raise ValueError(f"expected a verdict of {', '.join(map(str, VERDICTS))}, got {verdict}")
    return one if one == swapped else 0.5


def compare(
    verdicts: Sequence[tuple[float | None, float | None]], clusters: Sequence[Hashable] | None = None
) -> PairwiseShares:
    """Returns wins, ties and losses of the first player; intervals are from ``bounded_mean``.

    Args:
        verdicts: for each task the verdicts in both orders; ``None`` for a missing one.
        clusters: group of each task, e.g. its dialogue; by default each is its own group.

    Raises:
        ValueError: if a value is not a verdict, or the lengths differ.
    """
    groups = range(len(verdicts)) if clusters is None else clusters
    if len(groups) != len(verdicts):
        raise ValueError(f"clusters: expected one for each of {len(verdicts)} tasks, got {len(groups)}")
    judged = [
        (both_orders(one, swapped), one == swapped, group)
        for (one, swapped), group in zip(verdicts, groups, strict=True)
        if one is not None and swapped is not None
    ]
    results, labels = [result for result, _, _ in judged], [group for _, _, group in judged]

    def share(of: float) -> Estimate | None:
        return bounded_mean([float(result == of) for result in results], labels)

    return PairwiseShares(
        share(1.0),
        share(0.5),
        share(0.0),
        signed_mean([2 * result - 1 for result in results], labels),
        bounded_mean([float(same) for _, same, _ in judged], labels),
        len(verdicts) - len(judged),
    )
