"""Permutation tests: small ones by hand, drawn ones beside exact ones."""

import itertools
from statistics import NormalDist

import numpy as np
import pytest

from benchmarks.experiments.permutation import DRAWS, EXACT, paired_permutation_test


def test_three_cases_by_hand():
    # Differences 1, 2, 3: of the eight sums only 6 and -6 are as large.
    assert paired_permutation_test([2, 4, 6], [1, 2, 3]) == (2.0, 0.25, 3, True)
    # Differences 3, -1: of 4, 2, -2, -4 all are as large as 2.
    assert paired_permutation_test([3, 0], [0, 1]).p == 1.0


def test_equal_players():
    assert paired_permutation_test([1.0] * 40, [1.0] * 40) == (0.0, 1.0, 40, True)
    assert paired_permutation_test([], []) is None


def test_values_of_a_group_are_exchanged_together():
    alone = paired_permutation_test([1] * 6, [0] * 6)
    grouped = paired_permutation_test([1] * 6, [0] * 6, ["a", "a", "b", "b", "c", "c"])
    assert (alone.p, alone.n) == (2 / 64, 6)
    assert (grouped.p, grouped.n, grouped.difference) == (2 / 8, 3, 1.0)


def test_permutation_enumerates_and_ignores_rounding_differences():
    rng = np.random.default_rng(5)
    first, second = rng.random(9).round(1), rng.random(9).round(1)
    differences = first - second
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=9)
    ]
    expected = np.mean([value >= abs(differences.sum()) - 1e-9 for value in sums])
    assert paired_permutation_test(first, second).p == pytest.approx(expected)


def test_sampled_permutations_agree_with_normal_limit_and_order():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.2, 1, 100), rng.normal(0, 1, 100)
    result = paired_permutation_test(first, second)
    assert not result.exact
    z = abs((first - second).sum()) / np.sqrt(((first - second) ** 2).sum())
    assert result.p == pytest.approx(2 * (1 - NormalDist().cdf(z)), abs=0.02)
    assert paired_permutation_test(first[::-1], second[::-1]) == result
    assert paired_permutation_test(second, first).p == result.p


def test_a_drawn_p_is_never_zero():
    many = EXACT + 40
    assert paired_permutation_test([1.0] * many, [0.0] * many).p == 1 / (DRAWS + 1)


@pytest.mark.parametrize(("first", "second", "message"), [([1], [1, 2], "every case"), ([float("nan")], [0], "finite")])
def test_bad_values(first, second, message):
    with pytest.raises(ValueError, match=message):
        paired_permutation_test(first, second)
