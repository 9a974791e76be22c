"""Biases of judges: the biased one is found, the unbiased ones are not, and strength is not taken for either."""

import numpy as np
import pytest

from rating.statistics.judging_bias import Choice, changes, kin_bias, place_bias
from rating.statistics.permutation import holm


def drawn(rng, n, *, bias=0.0, strengths=(0.0, 0.8, 1.6), stronger_first=0.5):
    """Decided verdicts on players of different strengths; ``bias`` is an advantage of the first place, in logits."""
    choices = []
    for _ in range(n):
        weak, strong = sorted(rng.choice(len(strengths), 2, replace=False))
        first, second = (strong, weak) if rng.random() < stronger_first else (weak, strong)
        lead = strengths[first] - strengths[second] + bias
        choices.append(Choice(f"p{first}", f"p{second}", bool(rng.random() < 1 / (1 + np.exp(-lead)))))
    return choices


def test_the_biased_judge_is_found_and_the_others_are_not():
    found = np.zeros(5)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        leans = [place_bias(drawn(rng, 300, bias=bias)) for bias in (0.9, 0, 0, 0, 0)]
        found += np.array(holm([lean.p for lean in leans])) < 0.05
        assert all(lean.basis == "same players" for lean in leans)
    assert found[0] >= 0.95 * 150
    assert found[1:].sum() <= 0.09 * 150  # 5 % over all four, corrected


@pytest.mark.parametrize("stronger_first", [0.3, 0.5, 0.8])
def test_strength_is_no_bias_and_the_interval_covers(stronger_first):
    covered = rejected = 0
    for seed in range(200):
        lean = place_bias(drawn(np.random.default_rng(seed), 150, stronger_first=stronger_first))
        covered += lean.share.low <= 0.5 <= lean.share.high
        rejected += lean.p < 0.05
    assert covered >= 0.94 * 200
    assert rejected <= 0.08 * 200


def test_players_that_always_sat_the_same_way_tell_nothing():
    choices = [Choice("strong", "weak", True)] * 50
    assert place_bias(choices) == (None, None, "same players")
    anonymous = place_bias([Choice("", "", True)] * 50)
    assert (anonymous.share.value, anonymous.basis) == (1.0, "all")
    assert anonymous.p < 1e-9
    assert place_bias([]).p is None


def test_both_orders_of_the_same_texts():
    pairs = [(True, True)] * 12 + [(True, False), (False, True)] * 20 + [(False, False)] * 2
    lean = place_bias([Choice("", "", True)] * 4, pairs)
    assert (lean.basis, lean.share.n) == ("both orders", 54)
    assert lean.share.value == pytest.approx((12 + 20) / 54)
    assert lean.p == pytest.approx(2 * sum((1, 14, 91)) / 2**14)
    assert place_bias([], [(True, False)] * 9).p == 1


def test_few_verdicts_for_one_side_are_no_certainty():
    lean = place_bias([Choice("a", "b", True), Choice("b", "a", True)] * 2)
    assert lean.share.value == 1
    assert lean.share.low < 0.6
    assert lean.p > 0.05


def test_own_family_beside_the_other_judges():
    rng = np.random.default_rng(3)
    worth = rng.random(120)
    own = (rng.random(120) < np.minimum(1, worth + 0.25)).astype(float)
    others = np.mean(rng.random((4, 120)) < worth, axis=0)
    biased = kin_bias(own.tolist(), others.tolist())
    assert biased.p < 0.05
    assert biased.excess.low > 0
    fair = kin_bias((rng.random(120) < worth).astype(float).tolist(), others.tolist())
    assert fair.p > 0.05
    assert kin_bias([], []) is None
    assert kin_bias([1.0, 1.0], [0.5, 0.5]).excess.low is None


def test_changes_and_where_they_went():
    found = changes([("A", "A", "B"), ("A", "B", "B"), ("B", "A", "B"), ("tie", "A", None), ("A", "tie", "B")])
    assert (found.changed.value, found.changed.n) == (0.8, 5)
    assert (found.towards.value, found.away.value, found.towards.n) == (pytest.approx(1 / 3), pytest.approx(1 / 3), 3)
    nothing = changes([("A", "A", "B")])
    assert (nothing.changed.value, nothing.towards) == (0, None)
    assert nothing.changed.high > 0.5
