"""Nash averaging."""

import numpy as np
import pytest
from scipy.special import expit

from rating.stats.bradley_terry import ELO_PER_NAT, fit_totals
from rating.stats.nash import nash_average

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])


def antisymmetric(rng, size, digits=0.0):
    """Entries that differ by up to this number of digits."""
    upper = np.triu(rng.normal(0, 200, (size, size)) * 10 ** rng.uniform(-digits, 0, (size, size)), 1)
    return upper - upper.T


@pytest.mark.parametrize(
    ("advantage", "weights"),
    [
        (ROCK_PAPER_SCISSORS, [1 / 3, 1 / 3, 1 / 3]),
        # The mix leaves all three at 0: weights are proportional to the edge of the other two.
        ([[0, -1, 2], [1, 0, -3], [-2, 3, 0]], [1 / 2, 1 / 3, 1 / 6]),
        ([[0, 100, 300], [-100, 0, 200], [-300, -200, 0]], [1, 0, 0]),
        (np.zeros((4, 4)), [1 / 4] * 4),
        (np.zeros((1, 1)), [1]),
    ],
)
def test_nash_average_textbook_games_match(advantage, weights):
    average = nash_average(np.array(advantage, dtype=float))
    assert average.weights == pytest.approx(weights)
    assert average.skills == pytest.approx(np.array(advantage) @ weights)


@pytest.mark.parametrize(("size", "digits"), [(2, 0), (5, 0), (14, 0), (40, 0), (8, 6)])
def test_nash_average_mix_is_unbeaten(size, digits):
    rng = np.random.default_rng(size)
    for _ in range(10):
        advantage = antisymmetric(rng, size, digits)
        weights, skills = nash_average(advantage)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)
        assert (advantage @ weights).max() < 1e-7
        assert skills == pytest.approx(advantage @ weights, abs=1e-7)
        assert np.all((weights == 0) | (skills == 0))


@pytest.mark.slow
def test_nash_average_has_maximum_entropy():
    rng = np.random.default_rng(2)
    for _ in range(60):
        size = int(rng.integers(2, 8))
        upper = np.triu(rng.integers(-1, 2, (size, size)), 1).astype(float)
        advantage = upper - upper.T
        weights, _ = nash_average(advantage)
        assert (advantage @ weights).max() < 1e-8
        support = weights > 0
        # First-order condition: no mix that the optimum could be moved to has more entropy. Others are drawn as mixtures with it.
        slope = -np.log(weights[support]) - 1
        for _ in range(5):
            other = nash_average_of_a_vertex(advantage, rng)
            assert np.all(other[~support] < 1e-9)
            assert slope @ (other[support] - weights[support]) < 1e-6


def nash_average_of_a_vertex(advantage, rng):
    """An equilibrium that a linear programme finds for a random goal."""
    from scipy.optimize import linprog

    size = len(advantage)
    found = linprog(
        rng.normal(size=size), A_ub=advantage, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1], method="highs"
    )
    assert found.status == 0
    return found.x


def test_nash_average_copies_leave_skills():
    # Rock, paper and scissors of unlike edges, and two more that are on one scale with them.
    advantage = np.zeros((5, 5))
    advantage[:3, :3] = 150 * ROCK_PAPER_SCISSORS * np.array([[1, 1, 2], [1, 1, 3], [2, 3, 1]])
    advantage[3, :3], advantage[4, :4] = (-120, -80, -300), (-310, -250, -420, -150)
    advantage[:3, 3], advantage[:4, 4] = -advantage[3, :3], -advantage[4, :4]

    copied = np.array([0, 1, 2, 3, 4, 2, 2, 2, 2, 2, 2])
    pool, larger = nash_average(advantage), nash_average(advantage[np.ix_(copied, copied)])
    assert larger.skills == pytest.approx(pool.skills[copied], abs=1e-6)
    assert np.bincount(copied, larger.weights) == pytest.approx(pool.weights, abs=1e-9)
    assert np.ptp(larger.weights[copied == 2]) < 1e-9

    alone, with_copies = (ratings(advantage[np.ix_(chosen, chosen)])[:3] for chosen in (np.arange(5), copied))
    shift = (with_copies - with_copies.mean()) - (alone - alone.mean())
    assert np.abs(shift).max() > 50


def ratings(advantage):
    """Bradley-Terry of results that came out exactly as expected."""
    games = np.full(advantage.shape, 1000.0)
    np.fill_diagonal(games, 0)
    names = [f"{index:02d}" for index in range(len(advantage))]
    return fit_totals(names, games * expit(advantage / ELO_PER_NAT), games).ratings


@pytest.mark.parametrize(
    "advantage", [np.ones((2, 2)), np.zeros((2, 3)), np.zeros((0, 0)), [[0, np.nan], [np.nan, 0]], [0.0]]
)
def test_nash_average_bad_matrix_is_refused(advantage):
    with pytest.raises(ValueError, match="advantage: expected"):
        nash_average(np.array(advantage))
