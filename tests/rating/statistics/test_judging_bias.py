"""Biases of judges: the biased one is found, the unbiased ones are not, and strength is not taken for either."""

import numpy as np
import pytest

from rating.statistics.judging_bias import Choice, Measured, changes, kin_bias, length_bias, place_bias
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


def length_study(rng, lean, n=400):
    """What five judges say of texts of which the longer ones are better; ``lean`` is the pull of a word on the first judge."""
    quality = rng.normal(0, 1.5, size=n)
    more = 100 * quality + rng.normal(0, 120, size=n)
    pulls = np.array([[lean], [0], [0], [0], [0]])
    scores = (rng.random((5, n)) < 1 / (1 + np.exp(-(quality + pulls * more)))).astype(float)
    biases = []
    for judge in range(5):
        one, other = (np.mean([scores[k] for k in range(5) if k != judge][half::2], axis=0) for half in (0, 1))
        rows = zip(scores[judge].tolist(), more.tolist(), zip(one.tolist(), other.tolist(), strict=True), strict=True)
        biases.append(length_bias([Measured(*row) for row in rows]))
    return biases


def test_the_judge_that_favours_length_is_found_and_the_others_are_not():
    found = np.zeros(5)
    for seed in range(80):
        biases = length_study(np.random.default_rng(seed), 0.015)
        assert np.mean([bias.longer.value for bias in biases]) > 0.6  # for all of them, since longer texts are better
        # Beside a judge that leans to the longer side the others lean to the shorter one, a little.
        leaning = [bias.effect.value > 0 for bias in biases]
        found += (np.array(holm([bias.p for bias in biases])) < 0.05) & leaning
        assert biases[0].effect.value == max(bias.effect.value for bias in biases)
    assert found[0] >= 0.6 * 80
    assert found[1:].sum() <= 0.1 * 80


def test_without_a_bias_the_interval_covers_0():
    effects = [bias.effect for seed in range(60) for bias in length_study(np.random.default_rng(seed), 0.0)]
    assert np.mean([effect.low <= 0 <= effect.high for effect in effects]) > 0.92


def test_length_without_others_or_where_all_cases_are_alike():
    alone = length_bias([Measured(1.0, 10.0, None), Measured(0.0, -10.0, None), Measured(0.5, 10.0, None)] * 9)
    assert (alone.longer.value, alone.longer.n, alone.effect, alone.p) == (1.0, 18, None, None)
    assert length_bias([Measured(1.0, 5.0, (1.0, 1.0))] * 50)[1:] == (None, None)
    assert length_bias([Measured(1.0, 0.0, (1.0, 0.0)), Measured(0.0, 0.0, (0.0, 1.0))] * 50) == (None, None, None)
    assert length_bias([]) == (None, None, None)


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
