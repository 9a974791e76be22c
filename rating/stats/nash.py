"""Nash averaging: skills that are invariant to copies of policies.

In a zero-sum game, two players choose a policy each. A mix of policies is an equilibrium if no policy has a positive payoff
against it. The equilibrium of maximum entropy is unique. The weight of a policy is its share in this mix, its skill is its
payoff against the mix: 0 for policies in the mix, at most 0 for others.

Source: Balduzzi, Tuyls, Perolat and Graepel 2018 (arXiv 1806.02643).
"""

from typing import NamedTuple

import numpy as np

from rating.stats.estimates import Floats

_EQUAL = 1e-9
"""Tolerance, relative to the largest entry, for entries and singular values of 0."""

_SHARE = 1e-3
"""Cap, divided by the number of policies, on the evidence that a policy is in the mix or beaten by it."""


class NashAverage(NamedTuple):
    """The equilibrium.

    Attributes:
        weights: share of each policy in the mix, shape (n,), sum 1.
        skills: payoff of each policy against the mix, shape (n,), in the unit of the matrix, at most 0.
    """

    weights: Floats
    skills: Floats


def nash_average(advantage: Floats) -> NashAverage:
    """Returns the equilibrium of maximum entropy.

    Copies of a policy share its weight. If the equilibrium is unique, they do not change the skills of other policies.

    Args:
        advantage: advantage of the row policy over the column policy, shape (n, n), n at least 1: antisymmetric, finite.

    Raises:
        ValueError: if the matrix is not square, finite and antisymmetric.
    """
    advantage = np.asarray(advantage, dtype=float)
    if advantage.ndim != 2 or advantage.shape[0] != advantage.shape[1] or not advantage.size:
        raise ValueError(f"advantage: expected a square matrix of one policy or more, got shape {advantage.shape}")
    size, unit = len(advantage), float(np.abs(advantage).max())
    if not np.isfinite(unit) or np.abs(advantage + advantage.T).max() > _EQUAL * unit:
        raise ValueError("advantage: expected finite numbers, each the negative of the one of the same two policies")
    if not unit:
        return NashAverage(np.full(size, 1 / size), np.zeros(size))
    scaled = advantage / unit
    scaled[np.abs(scaled) < _EQUAL] = 0.0
    start = _inner_equilibrium(scaled)
    weights = _most_even(scaled, start)
    skills = advantage @ weights
    skills[start > 0] = 0.0
    return NashAverage(weights, skills)


def _inner_equilibrium(advantage: Floats) -> Floats:
    """Returns an equilibrium with all policies that are part of any equilibrium.

    By Tucker's theorem (1956) an antisymmetric matrix A has ``p >= 0`` with ``A p <= 0`` and ``p - A p > 0``. As ``p'A p = 0``,
    each policy has either a positive weight and payoff 0, or weight 0 and a negative payoff. The linear programme maximises the
    sum of ``p - A p``, each capped at a small value, which makes all of them positive.
    """
    size = len(advantage)
    nothing, one = np.zeros((size, size)), np.eye(size)
    from scipy.optimize import linprog  # slow to import

    found = linprog(
        np.concatenate((np.zeros(size), -np.ones(size))),
        A_ub=np.block([[advantage, nothing], [advantage - one, one]]),
        b_ub=np.zeros(2 * size),
        A_eq=np.concatenate((np.ones(size), np.zeros(size)))[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(0, _SHARE / size)] * size,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status:
        raise ArithmeticError(f"no equilibrium was found: {found.message}")
    weights = found.x[:size]
    weights = np.where(weights > np.maximum(-advantage @ weights, _EQUAL), weights, 0.0)
    return weights / weights.sum()


def _most_even(advantage: Floats, start: Floats) -> Floats:
    """Returns the equilibrium of maximum entropy, from an inner one.

    Equilibria are ``start + Z y`` with ``Z`` a basis of the changes that keep all payoffs in the mix at 0. If there are such
    changes, Newton's method is used with a vanishing barrier, which keeps the payoffs outside of the mix from exceeding 0.
    """
    inside = start > 0
    outside = -advantage @ start > _EQUAL
    mixed = start[inside]
    conditions = np.vstack((advantage[np.ix_(inside, inside)], np.ones(len(mixed))))
    _, values, directions = np.linalg.svd(conditions)
    basis = directions[np.count_nonzero(values > _EQUAL * len(mixed)) :].T
    gap = -advantage[np.ix_(outside, inside)]
    for barrier in 10.0 ** -np.arange(1, 13) if basis.size else ():
        for _ in range(100):
            lacks = gap @ mixed
            gradient = basis.T @ (-np.log(mixed) - 1 + barrier * gap.T @ (1 / lacks))
            curvature = basis.T @ ((1 / mixed)[:, None] * basis)
            curvature += barrier * (gap @ basis).T @ ((gap @ basis) / lacks[:, None] ** 2)
            change = basis @ np.linalg.solve(curvature, gradient)
            loss = np.concatenate((-change / mixed, -(gap @ change) / lacks))
            mixed = mixed + change * min(1.0, 0.9 / max(float(loss.max()), 1e-300))
            if np.abs(change).max() < 1e-13:
                break
    weights = np.zeros(len(advantage))
    weights[inside] = mixed / mixed.sum()
    return weights
