"""Grouping of two policies' battles into units, and the units' scores."""

import pytest

from rating.stats.results import Battle
from rating.stats.units import BATTLES, DEALS, MATCHED, PAIRS, units_of


def units(battles, seated=True):
    found = units_of(battles, "a", "b", seated=seated, ordered=True)
    weights = None if found.weights is None else found.weights.tolist()
    return found.kind, found.scores.tolist(), weights, found.left_out


def test_units_deal_from_both_seats_is_a_pair():
    battles = [
        Battle("a", "b", 1, "one"),
        Battle("a", "b", 1, "two"),
        Battle("a", "c", 1, "two"),
        Battle("b", "a", 0, "two"),  # two is complete first
        Battle("b", "a", 0.75, "one"),
        Battle("b", "a", 1, "three"),
        Battle("a", "a", 0.5, "one"),
    ]
    assert units(battles) == (PAIRS, [1, 0.625], None, 1)
    assert units([]) == (MATCHED, [], None, 0)


def test_units_pair_weighs_both_seats_equally():
    battles = [Battle("a", "b", 1, "one"), Battle("a", "b", 1, "one"), Battle("b", "a", 1, "one")]
    assert units(battles) == (PAIRS, [0.5], None, 0)


def test_units_deals_played_once_are_matched():
    battles = [Battle("a", "b", score, str(deal)) for deal, score in enumerate((1, 0, 1))]
    battles += [Battle("b", "a", score, str(deal)) for deal, score in enumerate((1, 0), 3)]
    assert units(battles) == (MATCHED, [0.5, 0.5], None, 1)


def test_units_mostly_single_deals_are_matched():
    battles = [
        Battle("a", "b", 1, "one"),
        Battle("a", "b", 0, "two"),
        Battle("a", "b", 1, "two"),
        Battle("b", "a", 0, "three"),
    ]
    both = [Battle("a", "b", 1, "four"), Battle("b", "a", 1, "four")]
    assert units([*battles, *both]) == (MATCHED, [1, 0.5], None, 2)
    assert units([*both, *battles[:2], *battles[3:]])[:2] == (MATCHED, [0.5, 1])


def test_units_without_seats_are_deals():
    winners_first = [
        Battle("a", "b", 1, "one"),
        Battle("a", "b", 1, "one"),
        Battle("b", "a", 1, "one"),
        Battle("a", "b", 1, "two"),
    ]
    assert units(winners_first, seated=False) == (DEALS, [pytest.approx(2 / 3), 1], None, 0)
    assert units([Battle("a", "b", 1), Battle("b", "a", 0.25)], seated=False) == (BATTLES, [1, 0.75], None, 0)


def test_units_weights_within_and_between():
    battles = [Battle("b", "a", 0, "one", 8), Battle("a", "b", 1, "two", 3), Battle("a", "b", 0, "two", 1)]
    assert units(battles, seated=False) == (DEALS, [1, 0.75], [1, 0.25], 0)


@pytest.mark.parametrize("battle", [Battle("a", "b", 1.5), Battle("b", "a", float("nan")), Battle("a", "b", 1, "", 0)])
def test_units_bad_score_or_weight_is_refused(battle):
    with pytest.raises(ValueError, match="expected"):
        units([battle])


def test_units_unordered_log_is_shuffled():
    names = [("a", "b", 1)] * 400 + [("a", "b", 0)] * 400 + [("b", "a", 0)] * 400 + [("b", "a", 1)] * 400
    battles = [Battle(*name, str(deal)) for deal, name in enumerate(names)]
    found = units_of(battles, "a", "b", seated=True, ordered=False)
    assert (found.kind, found.ordered, found.scores.mean()) == (MATCHED, False, 0.5)
    assert 0.4 < (found.scores == 0.5).mean() < 0.6
    assert 0.4 < found.scores[:200].mean() < 0.6


def test_units_later_weight_leaves_earlier_weights():
    played = [Battle("x", "y", 1.0, "", weight) for weight in (1.0, 0.5, 4.0, 2.0)]
    for seen, weights in [(2, [1, 0.5]), (3, [1, 0.5, 1]), (4, [1, 0.5, 1, 0.5])]:
        found = units_of(played[:seen], "x", "y", seated=False, ordered=True).weights
        assert found is not None and found.tolist() == weights
    log = units_of(played, "x", "y", seated=False, ordered=False).weights
    assert log is not None and sorted(log.tolist()) == [0.125, 0.25, 0.5, 1]
