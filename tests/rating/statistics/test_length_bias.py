"""Length bias: the biased judge is found with its log odds, fair ones are not, and better texts that are longer are no bias.

Judges are as scripted ones: what they decide by is the difference in worth, logistic between two players, the pull of words, and
noise of their own. Figures of longer simulations stand in ``docs/judges.md``.
"""

import numpy as np
import pytest

from rating.statistics.length_bias import LengthBias, Measured, length_bias
from rating.statistics.permutation import holm

NOISES = (0.5, 0.5, 1.0, 1.5, 2.0, 0.5)
RUNS = 30


def tournament(rng, pulls, *, across=0.0, within=0.0, players=6, cases=400):
    """Returns the verdicts of each judge, five of whom judge a case.

    Args:
        rng: draws.
        pulls: of each judge, in logits per 100 words.
        across: words, in hundreds, by which a player writes more for each logit of its strength.
        within: words by which its text is longer for each logit that it is better than its others.
    """
    strengths = np.linspace(-1.5, 1.5, players)
    verdicts = [[] for _ in pulls]
    for _ in range(cases):
        pair = rng.choice(players, 2, replace=False)
        luck = rng.gumbel(size=2)
        words = across * strengths[pair] + within * luck + rng.normal(0, 0.5, size=2)
        worth, more = np.subtract(*(strengths[pair] + luck)), np.subtract(*words)
        seated = np.sort(rng.choice(len(pulls), 5, replace=False))
        noise = np.array(NOISES)[seated] * rng.logistic(size=5) * np.sqrt(3) / np.pi
        leads = worth + np.array(pulls)[seated] * more + noise
        scores = np.where(np.abs(leads) < 0.125, 0.5, leads > 0)
        for place, judge in enumerate(seated):
            others = [np.delete(scores, place)[half::2].mean() for half in (0, 1)]
            names = f"p{pair[0]}", f"p{pair[1]}"
            verdicts[judge].append(Measured(names, float(scores[place]), 100 * float(more), (others[0], others[1])))
    return verdicts


def named(found):
    return np.array(holm([bias.p for bias in found])) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pull", "across", "within", "power"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (0.5, 0.0, 0.0, 0.1),
        (1.0, 0.7, 0.0, 0.9),
        (0.0, 0.0, 0.2, 0.0),
        (1.0, 0.0, 0.2, 0.9),
    ],
)
def test_the_biased_judge_is_named_and_the_fair_ones_are_not(pull, across, within, power):
    found_it = found_others = covered = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        found = [length_bias(rows) for rows in tournament(rng, (pull, 0, 0, 0, 0, 0), across=across, within=within)]
        names = named(found)
        found_it += names[0]
        found_others += any(names[1:]) or (not pull and names[0])
        covered += found[0].log_odds.low <= pull <= found[0].log_odds.high
        assert not names[0] or np.sign(found[0].log_odds.value) == np.sign(pull) or not pull
    assert found_others <= 0.1 * RUNS
    assert found_it >= power * RUNS
    if not within:
        assert covered >= 0.9 * RUNS  # 0.95 but for chance


def test_who_prefers_the_shorter_side():
    found = [length_bias(rows) for rows in tournament(np.random.default_rng(1), (-1.5, 0, 0, 0, 0, 0))]
    assert named(found).tolist() == [True, False, False, False, False, False]
    assert found[0].log_odds.high < 0
    assert found[0].beyond.high < 0


def test_where_all_longer_texts_are_better_nobody_is_named_but_odds_are_high():
    found = [length_bias(rows) for rows in tournament(np.random.default_rng(2), (0,) * 6, within=0.3)]
    assert not any(named(found))
    assert all(bias.log_odds.low > 0 for bias in found)
    assert all(bias.longer.low > 0.5 for bias in found)


def test_what_is_left_out_without_names_without_others_and_with_few_cases():
    rows = tournament(np.random.default_rng(3), (1, 0, 0, 0, 0, 0))[0]
    whole = length_bias(rows)
    nameless = length_bias([row._replace(players=("", "")) for row in rows])
    assert (nameless.log_odds, nameless.p, nameless.beyond) == (None, None, whole.beyond)
    alone = length_bias([row._replace(others=None) for row in rows])
    assert (alone.beyond, alone.p, alone.log_odds) == (None, None, whole.log_odds)
    assert length_bias(rows[:15])[1:] == (None, None, None)
    assert length_bias([]) == LengthBias(None, None, None, None)


def test_cases_that_are_all_alike_tell_nothing():
    same = [Measured(("a", "b"), float(n % 2), 5.0, (1.0, 1.0)) for n in range(50)]
    assert length_bias(same)[1:] == (None, None, None)
    equal = [Measured(("a", "b"), float(n % 2), 0.0, (1.0, n % 2)) for n in range(50)]
    assert length_bias(equal) == LengthBias(None, None, None, None)
    once = [Measured((f"a{n}", f"b{n}"), float(n % 2), float(n), None) for n in range(50)]
    assert length_bias(once).log_odds is None  # two players who met once tell nothing of length


def test_a_judge_that_goes_by_length_alone_has_finite_odds():
    rng = np.random.default_rng(4)
    more = rng.normal(0, 80, size=60).round() + 0.5
    rows = [
        Measured(("a", "b") if n % 2 else ("b", "a"), float(words > 0), words, None) for n, words in enumerate(more)
    ]
    odds = length_bias(rows).log_odds
    assert 2 < odds.low < odds.value < odds.high < 100


def test_the_order_of_the_places_makes_no_difference():
    rows = tournament(np.random.default_rng(5), (1, 0, 0, 0, 0, 0))[0]
    turned = [Measured(row.players[::-1], 1 - row.score, -row.more, None) for row in rows]
    one, other = length_bias(rows).log_odds, length_bias(turned).log_odds
    assert one[:3] == pytest.approx(other[:3], abs=1e-3)
