"""Commissions: the next request, kept replies and counts."""

from benchmarks.experiments.commission import Commission, most_calls


def test_what_is_missing_is_asked_for_again_and_then_left_out():
    begun = Commission.begun(5, batch=3, calls=2)
    assert (begun.wanted, begun.left, most_calls(5, 3, 2)) == (3, 2, 4)
    again = begun.taken(["a"], ["dull", "dull"])
    assert (again.wanted, again.asked, again.accepted) == (2, 1, ("a",))
    second = again.taken([], ["long"])
    assert (second.wanted, second.left, second.asked) == (2, 0, 0)
    done = second.taken(["b", "c", "d"], [])
    assert (done.wanted, done.accepted, done.surplus) == (0, ("a", "b", "c"), 1)
    told = done.statistics({"dull": "refused_dull", "rude": "refused_rude"})
    assert told == {"calls": 3, "drafted": 7, "accepted": 3, "surplus": 1, "refused_dull": 2, "refused_rude": 0}
    assert begun.accepted == ()


def test_a_commission_smaller_than_a_batch():
    begun = Commission.begun(2, batch=10, calls=1)
    assert (begun.wanted, begun.left) == (2, 0)
    assert begun.taken(["a"], []).wanted == 0
