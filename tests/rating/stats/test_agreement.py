"""Agreement of raters: textbook tables, cases in which kappa says nothing, and how often its interval covers it."""

import numpy as np
import pytest

from rating.stats.agreement import cohens_kappa, plurality
from rating.stats.estimates import rate_estimate


def labels(both_yes, yes_no, no_yes, both_no):
    first = ["yes"] * (both_yes + yes_no) + ["no"] * (no_yes + both_no)
    second = ["yes"] * both_yes + ["no"] * yes_no + ["yes"] * no_yes + ["no"] * both_no
    return first, second


@pytest.mark.parametrize(
    ("table", "kappa"), [((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593), ((20, 5, 10, 15), 0.4)]
)
def test_kappa_of_textbook_tables(table, kappa):
    found = cohens_kappa(*labels(*table))
    assert found.n == found.kappa.n == sum(table)
    assert found.kappa.value == pytest.approx(kappa, abs=5e-5)
    assert found.observed.value == pytest.approx((table[0] + table[3]) / sum(table))
    assert found.kappa.low < kappa < found.kappa.high
    first, second = labels(*table)
    assert cohens_kappa(second, first) == found


def test_kappa_of_three_labels_of_any_kind():
    # Rows (2, 1, 0), (0, 2, 1), (1, 0, 3): observed 0.7, expected (3 * 3 + 3 * 3 + 4 * 4) / 100.
    first = [1, 1, 1, (2,), (2,), (2,), "c", "c", "c", "c"]
    second = [1, 1, (2,), (2,), (2,), "c", 1, "c", "c", "c"]
    found = cohens_kappa(first, second)
    assert found.expected == pytest.approx(0.34)
    assert found.kappa.value == pytest.approx((0.7 - 0.34) / (1 - 0.34))


def test_cases_that_one_rater_left_out_are_left_out():
    first, second = labels(20, 5, 10, 15)
    assert cohens_kappa([None, *first, "yes"], ["yes", *second, None]) == cohens_kappa(first, second)
    nothing = cohens_kappa(["yes", None], [None, "no"])
    assert nothing == (0, None, None, None)
    with pytest.raises(ValueError, match="2 and 1"):
        cohens_kappa(["yes", "no"], ["yes"])


def test_kappa_is_undefined_where_chance_alone_agrees():
    found = cohens_kappa(["yes"] * 7, ["yes"] * 7)
    assert (found.n, found.expected, found.kappa) == (7, 1.0, None)
    assert found.observed.value == 1
    one_sided = cohens_kappa(["yes"] * 7, ["no"] * 7)
    assert one_sided.kappa.value == 0


def test_few_cases_that_all_agree_are_no_certainty():
    found = cohens_kappa(["yes", "no"] * 3, ["yes", "no"] * 3)
    assert (found.kappa.value, found.kappa.high) == (1, 1)
    assert found.kappa.low == pytest.approx(2 * rate_estimate(6, 6).low - 1)
    against = cohens_kappa(["yes", "no"] * 3, ["no", "yes"] * 3)
    assert (against.kappa.value, against.kappa.low) == (-1, -1)
    assert cohens_kappa(["yes", "no"] * 2, ["yes", "no"] * 2).kappa[:3] == (1, None, None)


@pytest.mark.parametrize(("n", "yes", "known"), [(30, 0.5, 0.4), (60, 0.8, 0.6), (100, 0.9, 0.8)])
def test_the_interval_covers_kappa(n, yes, known):
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(600):
        # Both know the same label of some cases and draw the others independently, so kappa is the share that they know.
        common, one, other = rng.random((3, n)) < yes
        both = rng.random(n) < known
        kappa = cohens_kappa(np.where(both, common, one).tolist(), np.where(both, common, other).tolist()).kappa
        covered += kappa is not None and kappa.low <= known <= kappa.high
    assert covered >= 0.92 * 600


def test_plurality():
    assert plurality(["yes", "no", "yes"]) == "yes"
    assert plurality([False, None, None]) is False
    assert plurality(["yes", "no", None]) is None
    assert plurality([None]) is None
    assert plurality(["a", "b", "b", "a", "c"]) is None
