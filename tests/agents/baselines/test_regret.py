"""Regret of moves against known values: mistakes at the board games, and auctions played out in full."""

import itertools

import numpy as np
import pytest

from agents.baselines.regret import regret_of
from llmarena_envs.bid.game import SealedBid, equilibrium_bid
from llmarena_envs.connect_four.game import ConnectFour
from llmarena_envs.holdem.game import Holdem
from llmarena_envs.tictactoe.game import TicTacToe


def after(game, *actions):
    game.reset(np.random.default_rng(0))
    for action in actions:
        game.apply((action,))
    return game.view(game.to_move[0])


def test_regret_of_a_board_move_is_the_fall_of_the_value():
    game = TicTacToe()
    regret = regret_of(game)
    corner = after(game, 0)  # only the centre holds the draw
    assert [regret(corner, action) for action in corner.legal] == [1, 1, 1, 0, 1, 1, 1, 1]
    can_win = after(game, 0, 3, 1, 4)  # cell 2 wins, 5 blocks and draws at least, 6 to 8 let the opponent win
    assert regret(can_win, 2) == 0
    assert {regret(can_win, action) for action in (6, 7, 8)} == {2}


def test_regret_of_connect_four_is_unknown_where_nothing_is_proved():
    game = ConnectFour()
    regret = regret_of(game)
    assert regret(after(game), 3) is None
    both_win_next = after(game, 0, 6, 0, 6, 0, 6)
    assert regret(both_win_next, 0) == 0
    assert regret(both_win_next, 3) == 2


@pytest.mark.parametrize("n_bidders", [2, 3])
def test_regret_of_a_bid_equals_the_auction_played_against_every_valuation(n_bidders):
    game = SealedBid(n_bidders, v_max=0.08)
    regret = regret_of(game)
    shares = {value: (1.0 if value < game.units else 0.5) / (game.units - 0.5) for value in range(1, game.units + 1)}
    for valuation in shares:
        view = game_view(game, valuation)
        gains = []
        for bid in view.legal:
            gain = 0.0
            for others in itertools.product(shares, repeat=n_bidders - 1):
                bids = [equilibrium_bid(value, n_bidders) for value in others]
                if bid >= max(bids):
                    chance = np.prod([shares[value] for value in others]) / (1 + bids.count(bid))
                    gain += chance * (valuation - bid) / 100
            gains.append(gain)
        assert [regret(view, bid) for bid in view.legal] == pytest.approx(
            [max(gains) - gain for gain in gains], abs=1e-12
        )


def game_view(game, valuation):
    game.reset(np.random.default_rng(0))
    game.valuations = ((valuation,) * len(game.agents),)
    return game.view("player_0")


def test_equilibrium_has_no_regret_in_a_fine_auction():
    game = SealedBid(3)
    regret = regret_of(game)
    for valuation in (1, 2, 10, 500, 999, 1000):
        assert regret(game_view(game, valuation), equilibrium_bid(valuation, 3)) < regret.tolerance / 2


def test_other_games_have_no_regret():
    assert regret_of(Holdem()) is None
