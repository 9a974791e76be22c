"""Biases of judges: the biased one is found, the unbiased ones are not, and strength is not taken for either."""

import numpy as np
import pytest

from rating.statistics.beyond_others import Beside
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


@pytest.mark.slow
def test_the_biased_judge_is_found_and_the_others_are_not():
    found = np.zeros(5)
    for seed in range(80):
        rng = np.random.default_rng(seed)
        leans = [place_bias(drawn(rng, 300, bias=bias)) for bias in (0.9, 0, 0, 0, 0)]
        found += np.array(holm([lean.p for lean in leans])) < 0.05
        assert all(lean.basis == "same players" for lean in leans)
    assert found[0] >= 0.95 * 80
    assert found[1:].sum() <= 0.09 * 80  # 5 % over all four, corrected


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
    lean = place_bias([Choice("a", "b", True), Choice("b", "a", True)] * 3)
    assert lean.share.value == 1
    assert lean.share.low < 0.7
    assert lean.p > 0.05


def judged_family(rng, pull, noises, strength=1.5, n=300):
    """What the first of five judges says, and the others; its family has part in two of five cases, on either side."""
    kin = np.where(rng.random(n) < 0.4, rng.choice([-1, 1], n), 0)
    worth = np.where(kin != 0, kin * strength, rng.normal(size=n)) + rng.logistic(size=n)
    noise = np.array(noises)[:, None] * rng.logistic(size=(5, n)) * np.sqrt(3) / np.pi
    scores = (worth + np.outer([pull, 0, 0, 0, 0], kin) + noise > 0).astype(float)
    groups = zip(scores[1:3].mean(axis=0).tolist(), scores[3:].mean(axis=0).tolist(), strict=True)
    return [Beside(*row) for row in zip(scores[0].tolist(), kin.tolist(), groups, strict=True)]


@pytest.mark.parametrize("noises", [(0.5,) * 5, (0.5, 2, 2, 2, 2), (2, 0.5, 0.5, 0.5, 0.5)])
def test_a_strong_family_is_no_bias_of_judges_who_err_less_or_more(noises):
    biases = [kin_bias(judged_family(np.random.default_rng(seed), 0, noises)) for seed in range(100)]
    assert sum(bias.p < 0.05 for bias in biases) <= 0.13 * 100  # judges who err more are a little off: it is linear
    biased = [kin_bias(judged_family(np.random.default_rng(seed), 1.5, noises)) for seed in range(30)]
    assert sum(bias.p < 0.05 and bias.excess.low > 0 for bias in biased) >= 0.9 * 30


def test_scores_of_the_own_family_and_what_is_left_out():
    own = [Beside(1.0, 1, (0.5, 1.0)), Beside(0.5, -1, (0.0, 0.5))]
    rows = [*own, Beside(0.0, 0, (0.0, 0.0)), Beside(0.0, 0, (0.5, 0.5)), Beside(1.0, 0, (0.5, 0.5))] * 20
    bias = kin_bias(rows)
    assert (bias.own, bias.others, bias.excess.n) == (0.75, 0.75, 40)
    assert kin_bias([]) is None
    assert kin_bias(rows[:46]) is None  # 19 cases with the family
    assert kin_bias([row._replace(others=None) for row in rows]) is None
    assert kin_bias([Beside(1.0, 1, (0.5, 0.5))] * 50) is None


def test_changes_and_where_they_went():
    found = changes([("A", "A", "B"), ("A", "B", "B"), ("B", "A", "B"), ("tie", "A", None), ("A", "tie", "B")])
    assert (found.changed.value, found.changed.n) == (0.8, 5)
    assert (found.towards.value, found.away.value, found.towards.n) == (pytest.approx(1 / 3), pytest.approx(1 / 3), 3)
    nothing = changes([("A", "A", "B")] * 5)
    assert (nothing.changed.value, nothing.towards) == (0, None)
    assert nothing.changed.high > 0.4
