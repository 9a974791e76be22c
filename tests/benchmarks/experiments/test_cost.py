"""What a row is expected to cost."""

from benchmarks.experiments.cost import expected_costs
from benchmarks.llmarena.random_battles import BATTLES, Options, plan


def test_the_field_of_the_others_is_not_who_costs_most():
    (fixed,) = expected_costs(plan(Options(matches=20))[BATTLES])
    assert (fixed.least, fixed.most) == (20, 20)
    (waiting,) = expected_costs(plan(Options(min_matches=40, max_matches=90))[BATTLES])
    assert (waiting.least, waiting.most) == (60, 90)
