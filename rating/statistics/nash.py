"""Nash averaging: skills that no copy of a policy can move (Balduzzi, Tuyls, Perolat and Graepel 2018, arXiv 1806.02643).

Two players choose a policy each; one gets what the other loses. No mix of policies does better than all others on average, and
the mixes that nobody beats are the equilibria. Of those the one with the greatest entropy is unique. A policy's weight is its
share in that mix, its skill what it gets against it: 0 for all of the mix, less for the others.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from rating.statistics.bradley_terry import Floats

_EQUAL = 1e-9
"""Share of the greatest entry below which entries are 0 and singular values count as none."""

_SHARE = 1e-3
"""Of the weight, divided by the policies: what is enough to show that a policy is in the mix, or is beaten by it."""


class NashAverage(NamedTuple):
    """The equilibrium.

    Attributes:
        weights: share of each policy in the mix, shape (n,), sum 1.
        skills: what each policy gets against the mix, shape (n,), in the unit of the matrix, at most 0.
    """

    weights: Floats
    skills: Floats


def nash_average(advantage: Floats) -> NashAverage:
    """Returns the equilibrium of greatest entropy.

    Copies of a policy share its weight, and leave the skills of all others as they are where there is one equilibrium.

    Args:
        advantage: of the policy of the row over that of the column, shape (n, n), n at least 1: antisymmetric, finite.

    Raises:
        ValueError: if the matrix is not like that.
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
    """Returns an equilibrium with all policies that any equilibrium has.

    By Tucker's theorem (1956) an antisymmetric matrix A has ``p >= 0`` with ``A p <= 0`` and ``p - A p > 0``; as ``p'A p = 0``,
    of each policy either the weight or what it lacks is positive, and the other is 0. The programme adds up ``p - A p``, a small
    share of each at most, so that it is positive for all.
    """
    size = len(advantage)
    nothing, one = np.zeros((size, size)), np.eye(size)
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
    """Returns the equilibrium of greatest entropy, from one within the set of all.

    They are ``start + Z y`` with ``Z`` a basis of the changes that leave all of the mix at 0. Where there are such changes,
    Newton's method is used, with a barrier, going down to nothing, that keeps those outside of the mix from getting more than 0.
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
