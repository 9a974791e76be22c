"""Resampling of the valuations and bids that are hidden from a bidder."""

import copy

import numpy as np
import pytest

from llmarena_envs.bid.game import SealedBid
from tests.llmarena_envs.draws import check_frequencies, redrawn


def started(seed=0, **options):
    game = SealedBid(**{"v_max": 10, "grid": 1, **options})
    game.reset(np.random.default_rng(seed))
    return game


def valuations(least=1):
    """Returns how likely each valuation of ``least`` or more is; the greatest is rounded up to from half as far."""
    return {**dict.fromkeys(range(least, 10), 1.0), 10: 0.5}


def test_the_other_valuation_is_drawn_as_in_a_match():
    game = started(values=[[7, 5]])
    drawn = redrawn(game, "player_0", lambda other: other.valuations[0])
    check_frequencies(drawn, {(7, valuation): weight for valuation, weight in valuations().items()})
    assert game.valuations == ((7, 5),)


def test_own_valuations_of_later_rounds_are_drawn_too():
    game = started(rounds=3, values=[[7, 5], [6, 6], [5, 7]])
    game.apply((3, 4))
    assert {other[1][0] for other in redrawn(game, "player_0", lambda other: other.valuations)} == {6}
    check_frequencies(redrawn(game, "player_0", lambda other: other.valuations[2][0]), valuations())


def test_a_winner_values_more_than_it_paid_and_a_loser_bid_less():
    game = started(n_bidders=3, values=[[7, 5, 9]])
    game.apply((3, 4, 2))
    check_frequencies(redrawn(game, "player_0", lambda other: other.histories[1][0].valuation), valuations(least=5))
    # A valuation above 4 leaves five bids from 0 to 4, a smaller one as many as it is.
    bids = dict.fromkeys(range(5), 0.0)
    for valuation, weight in valuations().items():
        for bid in range(min(valuation, 5)):
            bids[bid] += weight / min(valuation, 5)
    check_frequencies(redrawn(game, "player_0", lambda other: other.histories[2][0].bid), bids)
    check_frequencies(
        redrawn(game, "player_0", lambda other: other.rewards[1]),
        dict(zip(range(1, 7), valuations(5).values(), strict=True)),
    )


def test_resampling_keeps_the_winner_of_equal_bids():
    for seed in range(20):
        game = started(seed, n_bidders=3, values=[[7, 5, 9]])
        game.apply((4, 4, 4))
        winner = game.histories[0][0].winner
        rng = np.random.default_rng(seed)
        for agent in game.agents:
            other = copy.copy(game)
            other.resample(agent, rng)
            assert {history[0].winner for history in other.histories} == {winner}


@pytest.mark.parametrize("agent", ["player_0", "player_2"])
def test_the_redrawn_valuations_allow_the_redrawn_bids(agent):
    game, rng = started(n_bidders=4, rounds=6), np.random.default_rng(2)
    for _ in range(6):
        game.apply(tuple(game.random_action(bidder, rng) for bidder in game.agents))
        other = copy.copy(game)
        other.resample(agent, rng)
        for history in zip(*other.histories, strict=True):
            assert all(past.bid < past.valuation for past in history)
            assert max(past.bid for past in history) == history[0].winning_bid
