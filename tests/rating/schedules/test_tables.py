"""Who sits at a table."""

import itertools

import numpy as np
import pytest

from rating.schedules.adaptive import best_table, ring


@pytest.mark.parametrize(("policies", "seats"), [(3, 2), (14, 2), (7, 3), (6, 5), (12, 5), (4, 4)])
def test_ring_links_all_policies(policies, seats):
    tables = ring(policies, seats)
    assert all(len(set(table)) == seats for table in tables)
    linked = set(tables[0])
    for table in tables[1:]:
        assert linked & set(table)
        linked |= set(table)
    assert linked == set(range(policies))


def everybody(size):
    return np.ones(size, dtype=bool)


def nobody(size):
    return np.zeros(size, dtype=bool)


def made(size, seed=0):
    rng = np.random.default_rng(seed)
    gains = rng.random((size, size))
    gains += gains.T
    np.fill_diagonal(gains, 0)
    return gains, 0.5 + rng.random(size)


def score(gains, costs, table):
    return sum(gains[pair] for pair in itertools.combinations(table, 2)) / sum(costs[list(table)])


@pytest.mark.parametrize("seed", range(5))
def test_best_table_of_two_is_optimal(seed):
    gains, costs = made(7, seed)
    best = max(itertools.combinations(range(7), 2), key=lambda pair: score(gains, costs, pair))
    assert best_table(gains, costs, 2, allowed=everybody(7), wanted=everybody(7), required=nobody(7)) == best


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_best_table_is_a_local_optimum(seats):
    shares = []
    for seed in range(10):
        gains, costs = made(9, seed)
        table = best_table(gains, costs, seats, allowed=everybody(9), wanted=everybody(9), required=nobody(9))
        assert table is not None and len(set(table)) == seats
        own = score(gains, costs, table)
        for place, other in itertools.product(range(seats), set(range(9)) - set(table)):
            assert score(gains, costs, (*table[:place], other, *table[place + 1 :])) <= own + 1e-12
        shares.append(own / max(score(gains, costs, t) for t in itertools.combinations(range(9), seats)))
    assert np.mean(shares) > 0.98


@pytest.mark.parametrize("seats", [2, 3])
def test_best_table_keeps_allowed_and_wanted(seats):
    gains, costs = made(6)
    gains[4:, :] *= 0.01  # those who are wanted add least
    gains[:, 4:] *= 0.01
    allowed, wanted = everybody(6), np.arange(6) >= 4
    allowed[[0, 5]] = False
    table = best_table(gains, costs, seats, allowed=allowed, wanted=wanted, required=nobody(6))
    assert table is not None and 4 in table and not {0, 5} & set(table)
    allowed[4] = False
    assert best_table(gains, costs, seats, allowed=allowed, wanted=wanted, required=nobody(6)) is None
    assert best_table(gains, costs, 4, allowed=allowed, wanted=everybody(6), required=nobody(6)) is None


@pytest.mark.parametrize("seats", [2, 3, 5])
@pytest.mark.parametrize("count", [1, 2])
def test_best_table_seats_required_policies(seats, count):
    gains, costs = made(9)
    gains[:count, :] *= 0.01
    gains[:, :count] *= 0.01
    required = np.arange(9) < count
    table = best_table(gains, costs, seats, allowed=everybody(9), wanted=everybody(9), required=required)
    assert table is not None and len(set(table)) == seats and set(range(count)) <= set(table)
    for place, other in itertools.product(range(count, seats), set(range(9)) - set(table)):
        exchanged = (*table[:place], other, *table[place + 1 :])
        assert score(gains, costs, exchanged) <= score(gains, costs, table) + 1e-12
