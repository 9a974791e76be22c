"""Round robins between made-up policies, with what no scale explains on request."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rating.statistics.bradley_terry import ELO_PER_NAT, Comparisons


def circle(size: int, edge: float) -> NDArray[np.float64]:
    """Returns advantages in Elo by which the first three of some policies beat each other in a circle."""
    table = np.zeros((size, size))
    for one, other in ((0, 1), (1, 2), (2, 0)):
        table[one, other], table[other, one] = edge, -edge
    return table


def round_robin(
    rng: np.random.Generator,
    strengths: NDArray[np.float64],
    deals: int,
    *,
    beyond: NDArray[np.float64] | None = None,
    ties: float = 0.0,
    luck: float = 0.0,
    shared: bool = True,
) -> Comparisons:
    """Draws results of all pairs on both seats of every deal.

    Args:
        rng: of the results.
        strengths: in Elo, shape (n,).
        deals: number of them.
        beyond: what pairs have beside their strengths, in Elo, shape (n, n).
        ties: share of ties.
        luck: standard deviation of what a deal gives to a policy in all of its matches, in Elo.
        shared: whether all pairs play the same deals; otherwise every pair has its own.
    """
    size = len(strengths)
    one, other = np.triu_indices(size, 1)
    first, second = np.tile((one, other), (1, deals)), np.tile((other, one), (1, deals))
    lead = np.subtract.outer(strengths, strengths) + (0 if beyond is None else beyond)
    columns = []
    for players in (first, second):
        deal = np.repeat(np.arange(deals), len(one))
        given = rng.normal(0, luck, (deals, size)) if luck else np.zeros((deals, size))
        edge = lead[players[0], players[1]] + given[deal, players[0]] - given[deal, players[1]]
        score = (rng.random(len(deal)) < expit(edge / ELO_PER_NAT)).astype(float)
        score[rng.random(len(deal)) < ties] = 0.5
        columns.append((*players, score, deal if shared else np.arange(len(deal))))
    names = tuple(f"policy {index:02d}" for index in range(size))
    return Comparisons(names, *(np.concatenate(part) for part in zip(*columns, strict=True)))  # type: ignore[arg-type]
