"""Comparisons in both orders: the published counts, verdicts that do not hold, and the interval of the difference."""

import numpy as np
import pytest

from benchmarks.experiments.proportions import paired_change
from benchmarks.simulbench.both_orders import both_orders, compare
from rating.stats.estimates import rate_estimate


@pytest.mark.parametrize(
    ("one", "swapped", "both"),
    [(1, 1, 1), (0, 0, 0), (1, 0, 0.5), (0, 1, 0.5), (1, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0.5)],
)
def test_a_win_has_to_hold_in_both_orders(one, swapped, both):
    assert both_orders(one, swapped) == both


def test_tasks_are_counted_once_and_missing_verdicts_named():
    found = compare([(1, 1), (1, 0), (0.5, 0.5), (0, 0), (1, None), (None, None)])
    assert (found.wins, found.ties, found.losses) == (rate_estimate(1, 4), rate_estimate(2, 4), rate_estimate(1, 4))
    assert (found.delta.value, found.consistent, found.left_out) == (0, rate_estimate(3, 4), 2)
    assert compare([(None, 1)]) == (None, None, None, None, None, 1)
    assert compare([]) == (None, None, None, None, None, 0)


def test_the_interval_of_delta_is_about_newcombes():
    # SimulBench (arXiv 2409.07641, Table 1): wins, ties and losses of 275.
    for wins, ties, losses in ((111, 98, 66), (107, 112, 56), (98, 90, 87)):
        found = compare([(1, 1)] * wins + [(1, 0)] * ties + [(0, 0)] * losses)
        before, after = [False] * (wins + ties) + [True] * losses, [True] * wins + [False] * (ties + losses)
        theirs = paired_change(before, after)
        assert found.delta[:3] == pytest.approx(theirs[:3], abs=0.002)
        assert found.consistent.value == pytest.approx((wins + losses) / 275)


def test_the_interval_of_delta_covers():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(300):
        scores = rng.choice([1, 0.5, 0], 40, p=[0.3, 0.5, 0.2])
        delta = compare([(score, score) for score in scores.tolist()]).delta
        covered += delta.low <= 0.1 <= delta.high
    assert covered >= 0.93 * 300


def test_few_or_equal_tasks_are_no_certainty():
    all_won, all_tied = compare([(1, 1)] * 8).delta, compare([(0.5, 0.5)] * 5).delta
    assert all_won[:3] == pytest.approx([2 * end - 1 for end in rate_estimate(8, 8)[:3]])
    assert all_tied.low < -0.6
    # Scripts of one dialogue are one case.
    assert compare([(1, 1)] * 8, list("aabbccde")).delta.low < all_won.low
    assert compare([(1, 1)] * 8, ["a"] * 8).delta.low is None


def test_invalid_verdict_is_refused():
    with pytest.raises(ValueError, match=r"expected a verdict of 0.0, 0.5, 1.0, got -1"):
        compare([(1, -1)])
    with pytest.raises(ValueError, match="clusters: expected one for each of 1 tasks, got 0"):
        compare([(1, 1)], [])
