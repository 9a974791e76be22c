"""Who sits at a table: the policies whose games with each other tell most for what they cost."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_ROUNDING = 1e-12


def ring(policies: int, seats: int) -> list[tuple[int, ...]]:
    """Returns tables that link everybody with everybody: neighbours around a circle, each table sharing one with the next."""
    tables = -(-policies // (seats - 1)) if policies > seats else 1
    return [
        tuple((begin + seat) % policies for seat in range(seats)) for begin in range(0, tables * (seats - 1), seats - 1)
    ]


def best_table(
    gains: Floats, costs: Floats, seats: int, *, allowed: Booleans, wanted: Booleans, required: Booleans
) -> tuple[int, ...] | None:
    """Returns the table of greatest gain for its cost: the sum of the gains of its pairs over the sum of its costs.

    A table of two is the best one. A larger one begins with the best pair and takes in one after the other whoever adds most;
    then somebody is exchanged for somebody outside as long as that is better. So it is one that no exchange improves.

    Args:
        gains: of each pair, symmetric, 0 or more, 0 on the diagonal, shape (n, n).
        costs: of a game of each policy, above 0, shape (n,).
        seats: of the table, 2 or more.
        allowed: who may sit there, shape (n,).
        wanted: of whom one must sit there, shape (n,).
        required: those of the allowed and wanted ones who all must, no more than there are seats, shape (n,).

    Returns:
        Indices, ascending; ``None`` if there are not enough.
    """
    allowed_ones, wanted_ones = np.flatnonzero(allowed), np.flatnonzero(allowed & wanted)
    if len(allowed_ones) < seats or not len(wanted_ones):
        return None
    possible = np.outer(allowed, allowed) & (wanted[:, None] | wanted[None, :])
    np.fill_diagonal(possible, False)
    scores = np.where(possible, gains / (costs[:, None] + costs[None, :]), -1.0)
    table = np.flatnonzero(required).tolist()
    table = table or [int(index) for index in np.unravel_index(np.argmax(scores), scores.shape)]
    while len(table) < seats:
        joined = (_total(gains, table) + gains[table].sum(axis=0)) / (costs[table].sum() + costs)
        joined[table] = -1.0
        table.append(int(np.argmax(np.where(allowed, joined, -1.0))))
    for _ in range(len(gains) * seats if seats > 2 else 0):  # each exchange improves; more are not worth the time
        with_each = gains[table].sum(axis=0)
        totals = _total(gains, table) - with_each[table, None] + with_each - gains[table]
        exchanged = totals / (costs[table].sum() - costs[table, None] + costs)
        exchanged[:, table] = -1.0
        exchanged[:, ~allowed] = -1.0
        exchanged[required[table]] = -1.0
        if wanted[table].sum() == 1:
            exchanged[np.ix_(wanted[table], ~wanted)] = -1.0
        place, index = np.unravel_index(np.argmax(exchanged), exchanged.shape)
        if exchanged[place, index] <= (1 + _ROUNDING) * _total(gains, table) / costs[table].sum():
            break
        table[place] = int(index)
    return tuple(sorted(table))


def _total(gains: Floats, table: list[int]) -> float:
    return float(gains[np.ix_(table, table)].sum()) / 2
