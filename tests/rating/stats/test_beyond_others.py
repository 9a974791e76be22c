"""The effect of a trait beyond the other judges' view: found again, its test holds its level, and little data is refused."""

import numpy as np
import pytest

from rating.stats.judge_bias import Beside, OtherJudgesView, beyond_others


def rows(rng, pull, *, noises=(1.0,) * 5, lead=1.0, n=200):
    """Verdicts of the first judge; the side with the trait is better by ``lead`` logits."""
    trait = np.where(rng.random(n) < 0.4, rng.choice([-1, 1], n), 0)
    quality = lead * trait + rng.logistic(size=n)
    pulls = np.outer([pull, 0, 0, 0, 0], trait)
    scores = np.sign(quality + pulls + np.array(noises)[:, None] * rng.logistic(size=(5, n))) / 2
    others = scores[1:]
    products = (others.sum(axis=0) ** 2 - (others**2).sum(axis=0)) / 12
    return [
        Beside(score, 0.5, kind, OtherJudgesView(mean, product))
        for score, kind, mean, product in zip(scores[0], trait, others.mean(axis=0), products, strict=True)
    ]


@pytest.mark.parametrize("noises", [(1.0,) * 5, (0.5, 1.5, 1.5, 1.5, 1.5), (2, 0.7, 0.7, 0.7, 0.7)])
def test_beyond_others_unbiased_judge_holds_level(noises):
    found = [beyond_others(rows(np.random.default_rng(seed), 0, noises=noises)) for seed in range(400)]
    assert sum(one.p < 0.05 for one in found) <= 0.08 * 400
    assert sum(one.effect.low <= 0 <= one.effect.high for one in found) >= 0.92 * 400


@pytest.mark.parametrize("pull", [1.5, -1.5])
def test_beyond_others_planted_bias_is_found(pull):
    found = [beyond_others(rows(np.random.default_rng(seed), pull)) for seed in range(40)]
    assert sum(one.p < 0.05 and one.effect.value * pull > 0 for one in found) >= 0.9 * 40


def test_beyond_others_exchanged_sides_give_the_same():
    data = rows(np.random.default_rng(1), 1)
    turned = [
        Beside(-one.score, -one.position, -one.trait, OtherJudgesView(-one.others.mean, one.others.product))
        for one in data
    ]
    one, other = beyond_others(data), beyond_others(turned)
    assert (one.p, one.effect.value) == (pytest.approx(other.p), pytest.approx(other.effect.value))


def test_beyond_others_refuses_little_or_equal_data():
    data = rows(np.random.default_rng(2), 0)
    kin = [row for row in data if row.trait]
    assert beyond_others([]) is None
    assert beyond_others(kin[:19]) is None
    assert beyond_others(kin[:20]) is not None
    assert beyond_others([row._replace(others=OtherJudgesView(0.0, -0.1)) for row in data]) is None
    assert beyond_others([Beside(0.5, 0.5, 1, OtherJudgesView(0.5, 0.25))] * 50) is None
