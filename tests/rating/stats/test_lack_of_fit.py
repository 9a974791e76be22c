from dataclasses import replace

import numpy as np
import pytest

from benchmarks.performance.transitivity import Setting, play
from rating.stats.bradley_terry import Comparisons, compare
from rating.stats.transitivity import lack_of_fit
from tests.rating.made_outcomes import duel

STRENGTHS = np.linspace(-350, 350, 10)


def round_robin(rng, strengths, deals, **made):
    return play(Setting("", strengths, deals, **made), rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deals", "made"),
    [
        (1, {"shared": False}),
        (3, {}),
        (10, {"ties": 0.5}),
        (10, {"luck": 300.0}),
        (10, {"shared": False, "ties": 0.3}),
    ],
)
def test_one_scale_is_flagged_no_oftener_than_the_level(deals, made):
    values = []
    for run in range(200):
        tested = lack_of_fit(round_robin(np.random.default_rng([run, 5]), STRENGTHS, deals, **made), draws=99)
        values.append(tested.p_value)
    # Binomial: at a level of .05 more than 19 of 200 happen once in 300 times.
    assert np.count_nonzero(np.array(values) <= 0.05) <= 19


def test_few_results_of_pairs_of_their_own_are_told_from_chance_as_often_as_they_should_be():
    values = [
        lack_of_fit(round_robin(np.random.default_rng([run, 6]), STRENGTHS, 6, shared=False), draws=99).p_value
        for run in range(200)
    ]
    assert 0.4 < np.mean(values) < 0.65


def test_a_circle_is_found_among_few_policies_and_among_many():
    few = [round_robin(np.random.default_rng(run), np.zeros(3), 20, circle=200) for run in range(20)]
    many = [round_robin(np.random.default_rng(run), STRENGTHS, 20, circle=400) for run in range(20)]
    for made in (few, many):
        assert np.mean([lack_of_fit(one, seed=3).p_value < 0.01 for one in made]) >= 0.8


def test_the_scatter_of_pairs_is_estimated():
    rng = np.random.default_rng(4)
    found = [lack_of_fit(round_robin(rng, STRENGTHS, 30, scatter=120.0)).scatter for _ in range(20)]
    assert 95 < np.mean(found) < 145


def test_the_order_of_the_log_and_the_seats_of_pairs_change_nothing():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 5, ties=0.2)
    order = np.random.default_rng(2).permutation(len(made.score))
    assert lack_of_fit(made) == lack_of_fit(made.select(order))
    turned = Comparisons(made.policies, made.second, made.first, 1 - made.score, made.cluster)
    assert lack_of_fit(turned).p_value == pytest.approx(lack_of_fit(made).p_value, abs=0.005)


def test_results_that_are_written_apart_or_as_a_weight_count_alike():
    made = replace(round_robin(np.random.default_rng(1), STRENGTHS, 5), seated=False)
    twice = made.select(np.repeat(np.arange(len(made.score)), 2))
    doubled = replace(made, weight=np.full(len(made.score), 2.0))
    assert lack_of_fit(twice).statistic == pytest.approx(lack_of_fit(doubled).statistic)


def test_policies_that_are_not_linked_to_the_rest_are_left_out():
    made = round_robin(np.random.default_rng(1), STRENGTHS, 5)
    alone = lack_of_fit(made)
    size, games = len(made.policies), 20
    champion = Comparisons(
        (*made.policies, "zz champion"),
        np.append(made.first, np.full(games, size)),
        np.append(made.second, np.arange(games) % size),
        np.append(made.score, np.ones(games)),
        np.append(made.cluster, 100 + np.arange(games)),
    )
    assert lack_of_fit(champion) == alone


def test_nothing_is_said_of_what_cannot_be_tested():
    assert lack_of_fit(compare([])) is None
    assert lack_of_fit(compare([duel(0, "a", "b", 1), duel(1, "b", "a", 1)])) is None
    circle_of_one_match_each = [duel(0, "a", "b", 1), duel(1, "b", "c", 1), duel(2, "c", "a", 1)]
    tested = lack_of_fit(compare(circle_of_one_match_each))
    assert tested is None or tested.p_value > 0.2
