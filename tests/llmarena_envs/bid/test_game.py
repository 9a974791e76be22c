"""The rules of the sealed-bid auction."""

import numpy as np
import pytest
from scipy import stats

from llmarena_envs.bid.game import PastRound, SealedBid, equilibrium_bid, to_cents, write_cents
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError


def auction(*values, **options):
    game = SealedBid(n_bidders=len(values[0]), rounds=len(values), values=[list(row) for row in values], **options)
    game.reset(np.random.default_rng(0))
    return game


def test_the_highest_bid_wins_and_pays_itself():
    game = auction((7.0, 9.0))
    game.apply((350, 349))
    assert game.rewards == (3.5, 0.0)
    assert game.to_move == ()
    assert game.view("player_1").history == (PastRound(900, 349, "player_0", 350),)


def test_equal_bids_are_decided_by_a_seeded_fair_coin():
    def winner(seed, bidders):
        game = SealedBid(bidders)
        game.reset(np.random.default_rng(seed))
        game.apply((0,) * bidders)
        return int(np.argmax(game.rewards))

    for bidders in (2, 3):
        winners = [winner(seed, bidders) for seed in range(600)]
        assert winners == [winner(seed, bidders) for seed in range(600)]
        assert stats.chisquare(np.bincount(winners, minlength=bidders)).pvalue > 0.001


def test_a_coin_is_tossed_among_the_highest_bidders_only():
    winners = set()
    for seed in range(40):
        game = SealedBid(4, values=[[5, 5, 5, 5]])
        game.reset(np.random.default_rng(seed))
        game.apply((100, 300, 200, 300))
        winners.add(game.rewards.index(2.0))
    assert winners == {1, 3}


def test_valuations_are_uniform_cents_without_zero():
    game = SealedBid()
    rng = np.random.default_rng(7)
    drawn = []
    for _ in range(10_000):
        game.reset(rng)
        drawn += game.valuations[0]
    assert min(drawn) >= 1 and max(drawn) <= 1000
    assert all(isinstance(units, int) for units in drawn)
    assert stats.kstest(np.array(drawn) / 1000, "uniform").pvalue > 0.001
    assert abs(np.mean(drawn) - 500) < 5


def test_rounding_halves_the_ends_and_redraws_zero():
    game = SealedBid(v_max=0.04)
    rng = np.random.default_rng(1)
    counts = np.zeros(5, dtype=int)
    for _ in range(10_000):
        game.reset(rng)
        for units in game.valuations[0]:
            counts[units] += 1
    assert counts[0] == 0
    expected = np.array([2, 2, 2, 1]) / 7 * 20_000
    assert stats.chisquare(counts[1:], expected).pvalue > 0.001


def test_legal_bids_are_all_below_the_valuation():
    game = auction((0.01, 10.0))
    assert list(game.view("player_0").legal) == [0]
    assert list(game.view("player_1").legal) == list(range(1000))
    assert game.why_illegal("player_0", 0) is None
    assert game.why_illegal("player_0", 1) == Reason("too_high", {"valuation": "$0.01"})
    assert game.why_illegal("player_0", -1) == Reason("below_zero")
    assert game.why_illegal("player_1", 999) is None
    assert game.why_illegal("player_1", 1000)
    assert game.why_illegal("player_1", 10**30)


def test_rounds_have_fresh_valuations_and_show_winning_bid_only():
    game = auction((7.0, 3.0), (2.0, 8.0))
    assert game.max_turns == 4
    game.apply((300, 150))
    assert game.to_move == ("player_0", "player_1")
    loser = game.view("player_1")
    assert loser.round == 2 and loser.valuation == 800
    assert loser.history == (PastRound(300, 150, "player_0", 300),)
    winner = game.view("player_0")
    assert 150 not in winner.history[0] and 300 in winner.history[0]
    game.apply((100, 500))
    assert game.rewards == (0.0, 3.0)
    assert game.to_move == ()
    assert game.view("player_0").round == 2 and game.view("player_0").legal == ()


def test_the_score_is_zero_at_half_and_a_mean_over_rounds():
    game = auction((8.0, 4.0), (8.0, 4.0))
    assert game.statistics("player_0") == {"score": 0.0, "bid": 0.0, "valuation": 0.0}
    game.apply((400, 0))
    assert game.statistics("player_0") == {"score": 0.0, "bid": 4.0, "valuation": 8.0}
    assert game.statistics("player_1") == {"score": -1.0, "bid": 0.0, "valuation": 4.0}
    game.apply((600, 399))
    assert game.statistics("player_0") == {"score": 0.25, "bid": 5.0, "valuation": 8.0}
    assert -1 <= game.statistics("player_1")["score"] < 1


def test_forfeit_costs_one_and_pays_no_other_player():
    assert auction((7.0, 3.0)).forfeit(("player_1",)) == (0.0, -1.0)
    assert auction((7.0, 3.0)).forfeit(("player_0", "player_1")) == (-1.0, -1.0)


def test_equilibrium_bids():
    assert equilibrium_bid(701, 2) == 350
    assert equilibrium_bid(900, 3) == 600
    assert equilibrium_bid(1, 2) == 0


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("bidders", [2, 3])
def test_equilibrium_play_earns_the_theoretical_value(bidders):
    rng = np.random.default_rng(5)
    game = SealedBid(bidders)
    paid = []
    for _ in range(8_000):
        game.reset(rng)
        game.apply(tuple(equilibrium_bid(valuation, bidders) for valuation in game.valuations[0]))
        paid.append(game.rewards)
    expected = 10 / bidders / (bidders + 1)
    standard_error = np.std(paid) / len(paid) ** 0.5
    assert abs(np.mean(paid) - expected) < 4 * standard_error


@pytest.mark.needs("pyspiel")
def test_the_same_play_as_in_open_spiel():
    import pyspiel

    rng = np.random.default_rng(2)
    for bidders, highest in ((2, 10), (3, 6), (4, 20)):
        peer = pyspiel.load_game("first_sealed_auction", {"players": bidders, "max_value": highest})
        ties = 0
        for _ in range(150):
            values = rng.integers(1, highest + 1, bidders).tolist()
            game = SealedBid(bidders, v_max=highest, grid=1, values=[values])
            game.reset(rng)
            state = peer.new_initial_state()
            for value in values:
                state.apply_action(
                    next(a for a, _ in state.chance_outcomes() if state.action_to_string(a).endswith(f" {value}"))
                )
            bids = []
            for agent in game.agents:
                legal = game.view(agent).legal
                assert list(legal) == state.legal_actions()
                bids.append(legal[int(rng.integers(len(legal)))])
                state.apply_action(bids[-1])
            game.apply(tuple(bids))
            if state.is_chance_node():
                ties += 1
                best = [seat for seat, bid in enumerate(bids) if bid == max(bids)]
                assert sorted(action for action, _ in state.chance_outcomes()) == best
                state.apply_action(
                    next(seat for seat in best if game.view("player_0").history[0].winner == game.agents[seat])
                )
            assert state.is_terminal() and state.returns() == list(game.rewards)
        assert ties > 3


def test_amounts_are_whole_cents():
    assert [to_cents("grid", amount) for amount in (0.01, 1, 10.0, "0.25", 1e2)] == [1, 100, 1000, 25, 10000]
    assert [write_cents(cents) for cents in (0, 5, 108, 1000)] == ["$0.00", "$0.05", "$1.08", "$10.00"]


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_bidders": 1}, "n_bidders"),
        ({"n_bidders": 2.0}, "n_bidders"),
        ({"rounds": 0}, "rounds"),
        ({"grid": 0}, "grid"),
        ({"grid": 0.001}, "grid"),
        ({"grid": -0.01}, "grid"),
        ({"grid": True}, "grid"),
        ({"grid": float("nan")}, "grid"),
        ({"grid": "cheap"}, "grid"),
        ({"v_max": float("inf")}, "v_max"),
        ({"v_max": None}, "v_max"),
        ({"v_max": 1, "grid": 0.3}, "v_max"),
        ({"v_max": 1, "grid": 1}, "v_max"),
        ({"v_max": 1000}, "v_max"),
        ({"values": [7, 3]}, "values"),
        ({"values": [[7, 3, 1]]}, "values"),
        ({"values": [[7, 3], [7, 3]]}, "values"),
        ({"values": [[7, 0]]}, "values"),
        ({"values": [[7, 10.01]]}, "values"),
        ({"values": [[7, "much"]]}, "values"),
        ({"values": [[7, 3.3]], "grid": 0.5}, "values"),
        ({"values": "7, 3"}, "values"),
    ],
)
def test_bad_options_are_named(options, name):
    with pytest.raises(OptionError, match=f"^{name}: expected"):
        SealedBid(**options)
