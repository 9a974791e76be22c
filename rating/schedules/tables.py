"""Selection of the policies at a table by information gain per cost."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_ROUNDING = 1e-12


def ring(policies: int, seats: int) -> list[tuple[int, ...]]:
    """Returns tables that connect all policies: neighbours around a circle, with one policy shared by adjacent tables."""
    tables = -(-policies // (seats - 1)) if policies > seats else 1
    return [
        tuple((begin + seat) % policies for seat in range(seats)) for begin in range(0, tables * (seats - 1), seats - 1)
    ]


def best_table(
    gains: Floats, costs: Floats, seats: int, *, allowed: Booleans, wanted: Booleans, required: Booleans
) -> tuple[int, ...] | None:
    """Returns the table with the greatest ratio of gain to cost: the sum of its pair gains over the sum of its policy costs.

    For two seats the result is optimal. Larger tables start with the best pair and add policies greedily; then members are
    exchanged while this improves the ratio. The result is a local optimum.

    Args:
        gains: gain of each pair, symmetric, 0 or more, 0 on the diagonal, shape (n, n).
        costs: cost of a game of each policy, above 0, shape (n,).
        seats: table size, 2 or more.
        allowed: mask of eligible policies, shape (n,).
        wanted: mask of policies; at least one of them must be at the table, shape (n,).
        required: mask of policies that must all be at the table, allowed and wanted, at most ``seats`` of them, shape (n,).

    Returns:
        Indices, ascending; ``None`` if too few policies are eligible.
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
    for _ in range(len(gains) * seats if seats > 2 else 0):  # each exchange improves; the limit bounds the time
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
