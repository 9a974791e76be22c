"""Pools of known strength, and the games drawn between them."""

import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from research.pools import POOLS, play, play_adaptively, round_robin, spearman, win


def test_win_is_the_expected_score_of_elo():
    assert win(np.array([-400.0, 0.0, 100.0])) == pytest.approx([1 / 11, 0.5, 0.640065])


def test_play_scores_have_the_chance_and_the_ties():
    score = play(np.random.default_rng(0), np.full(40_000, 100.0), ties=0.3)
    assert np.mean(score == 0.5) == pytest.approx(0.3, abs=0.01)
    assert np.mean(score[score != 0.5]) == pytest.approx(0.64, abs=0.01)


def test_spearman_equals_scipy():
    ratings, strengths = np.random.default_rng(0).normal(size=(2, 5, 9))
    expected = [spearmanr(*pair).statistic for pair in zip(ratings, strengths, strict=True)]
    assert spearman(ratings, strengths) == pytest.approx(expected)


def test_round_robin_has_every_pair_once():
    assert sorted(map(sorted, round_robin(5))) == [list(pair) for pair in itertools.combinations(range(5), 2)]


@pytest.mark.parametrize("under_way", [0, 3])
def test_play_adaptively_plays_each_pair_from_both_seats(under_way):
    first, second, score = play_adaptively(np.random.default_rng(0), POOLS["outlier"], 40, under_way=under_way)
    assert (first[::2] == second[1::2]).all() and (second[::2] == first[1::2]).all()
    assert (first != second).all() and set(score) == {0.0, 1.0}
