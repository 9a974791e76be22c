"""The rules of the public goods game."""

import copy
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError
from llmarena_envs.public_goods.game import PastRound, PublicGoods, shown

# DeepEval, Figure 6: what GPT-4, PaLM, Claude 2 and ChatGPT invested in five rounds.
PUBLISHED = ((5, 5, 5, 5), (6, 10, 7, 10), (7, 8, 8, 6), (8, 9, 9, 8), (10, 10, 10, 10))


def begun(**options):
    game = PublicGoods(**options)
    game.reset(np.random.default_rng(0))
    return game


def payoffs(game, rounds):
    """Plays the rounds and returns what each player was paid in all."""
    paid = [0.0] * len(game.agents)
    for investments in rounds:
        game.apply(tuple(investments))
        paid = [before + reward for before, reward in zip(paid, game.rewards, strict=True)]
    return paid


def model(rounds, n, alpha, endowment, initial):
    """An independent account in fractions of coins: the players' final balances."""
    owned = [Fraction(endowment if initial else 0)] * n
    for investments in rounds:
        share = Fraction(str(alpha)) * sum(investments) / n
        new = 0 if initial else endowment
        owned = [coins + new - own + share for coins, own in zip(owned, investments, strict=True)]
    return owned


def test_one_round():
    game = begun()
    game.apply((0, 10, 4, 6))
    assert game.rewards == (16.0, 6.0, 12.0, 10.0)  # 20 coins become 24, 6 for each
    assert game.view("player_2").history == (PastRound(4, 20, 6.0, ()),)
    assert game.view("player_2").coins == 12.0


def test_the_published_five_rounds():
    # Pools of 20, 33, 29, 34 and 40 coins pay 6, 9.9, 8.7, 10.2 and 12 coins: 46.8 for each; GPT-4 invested 36 of its 50
    # coins, PaLM 42, Claude 2 39 and ChatGPT 39.
    game = begun(mode=2)
    assert payoffs(game, PUBLISHED) == pytest.approx([60.8, 54.8, 57.8, 57.8], abs=1e-12)
    assert [game.coins(agent) for agent in game.agents] == [60.8, 54.8, 57.8, 57.8]
    view = game.view("player_1")
    assert [past.income for past in view.history] == [6.0, 9.9, 8.7, 10.2, 12.0]
    assert [past.investment for past in view.history] == [5, 10, 8, 9, 10]
    assert view.history[1].investments == (10, 10, 7, 6)
    assert game.to_move == ()


@pytest.mark.parametrize(
    ("n", "alpha", "endowment"), [(2, 1.5, 4), (3, 1.2, 3), (3, 2.9, 3), (4, 1.2, 2), (2, 2.5, 3), (2, 0.5, 3)]
)
def test_return_of_an_invested_coin(n, alpha, endowment):
    """Every profile of a round: one coin more changes the own profit by alpha / n - 1, and each other's by alpha / n."""
    profit = {}
    for profile in itertools.product(range(endowment + 1), repeat=n):
        game = begun(n_players=n, alpha=alpha, endowment=endowment, rounds=1)
        game.apply(profile)
        profit[profile] = game.rewards
        assert sum(game.rewards) == pytest.approx(n * endowment + (alpha - 1) * sum(profile), abs=1e-9)
    for profile, paid in profit.items():
        for seat in range(n):
            if profile[seat] < endowment:
                more = profit[(*profile[:seat], profile[seat] + 1, *profile[seat + 1 :])]
                gains = [after - before for after, before in zip(more, paid, strict=True)]
                assert gains == pytest.approx([alpha / n - (player == seat) for player in range(n)], abs=1e-9)
                assert (more[seat] < paid[seat]) == (alpha < n)  # free riding is dominant


@pytest.mark.parametrize("initial", [False, True])
def test_free_riding_is_a_best_answer_in_every_round_left(initial):
    """By backward induction over all play of two rounds: nothing else than 0 is ever a best last investment, nor a first."""
    options = {"n_players": 2, "rounds": 2, "endowment": 2, "alpha": 1.5}
    game = begun(**options, endowment_mode="initial" if initial else "per_round")

    def best_replies(position):
        """Returns for each seat its best investments if 0 is invested in all later rounds, over all play of the other."""
        for seat, agent in enumerate(game.agents):
            for other in position.view(game.agents[1 - seat]).legal:
                value = {}
                for own in position.view(agent).legal:
                    after = copy.copy(position)
                    after.apply((own, other) if seat == 0 else (other, own))
                    while after.to_move:
                        after.apply((0, 0))
                    value[own] = after.coins(agent)
                yield [own for own in value if value[own] == max(value.values())]

    assert all(best == [0] for best in best_replies(game))
    for first in itertools.product(range(3), repeat=2):
        later = copy.copy(game)
        later.apply(first)
        assert all(best == [0] for best in best_replies(later))


@given(st.data())
def test_the_same_accounts_as_an_independent_model(data):
    n = data.draw(st.integers(2, 6))
    step = data.draw(st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(5, 2), Fraction(1, 10_000)]))
    alpha = data.draw(st.sampled_from([0.7, 1, 1.2, 1.25, 1.3333, 2]))
    rounds, steps = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 12))
    initial = data.draw(st.booleans())
    game = begun(
        n_players=n,
        rounds=rounds,
        endowment=str(float(steps * step)),
        alpha=alpha,
        mode=data.draw(st.sampled_from([1, 2])),
        coin_step=str(float(step)),
        endowment_mode="initial" if initial else "per_round",
    )
    played, paid = [], [0.0] * n
    while game.to_move:
        owned = model(played, n, alpha, steps * step, initial)
        for seat, agent in enumerate(game.agents):
            view = game.view(agent)
            assert view.coins == float(owned[seat])
            assert view.legal == range((owned[seat] // step if initial else steps) + 1)
            assert view.legal[-1] < game.num_actions
        chosen = [data.draw(st.integers(0, view.highest)) for view in map(game.view, game.agents)]
        game.apply(tuple(chosen))
        played.append([own * step for own in chosen])
        paid = [before + reward for before, reward in zip(paid, game.rewards, strict=True)]
    owned = model(played, n, alpha, steps * step, initial)
    assert [game.coins(agent) for agent in game.agents] == [float(coins) for coins in owned]
    assert paid == pytest.approx([float(coins) for coins in owned], rel=1e-12)
    given_out = n * steps * step * (1 if initial else rounds)
    assert sum(owned) == given_out + (Fraction(str(alpha)) - 1) * sum(map(sum, played))
    assert sum(map(float, owned)) <= game.most_coins() * (1 + 1e-12)


def test_initial_endowment_bounds_later_investments():
    game = begun(endowment_mode="initial", rounds=3, n_players=2, alpha=1.5)
    assert game.num_actions == 68  # 2 * 10 * 1.5 ** 3 = 67.5
    game.apply((10, 3))
    assert game.rewards == (9.75, 16.75)  # the coins given count in the first round
    assert [game.view(agent).highest for agent in game.agents] == [9, 16]
    assert game.why_illegal("player_0", 9) is None
    assert game.why_illegal("player_0", 10) == Reason("too_high", {"highest": 9})
    game.apply((9, 0))
    assert game.rewards == (-2.25, 6.75)
    assert [game.coins(agent) for agent in game.agents] == [7.5, 23.5]


def test_coins_of_a_round_cannot_be_kept_for_the_next():
    game = begun()
    game.apply((0, 0, 0, 0))
    assert game.view("player_0").highest == 10
    assert game.why_illegal("player_0", 11) == Reason("too_high", {"highest": 10})
    assert game.why_illegal("player_0", -1) == Reason("below_zero")
    assert game.why_illegal("player_0", 10**30)


def test_steps_of_a_tenth_are_exact():
    game = begun(coin_step=0.1)
    assert game.num_actions == 101
    for _ in range(5):
        game.apply((1, 2, 3, 0))  # 0.6 coins become 0.72, 0.18 for each
    assert [game.coins(agent) for agent in game.agents] == [50.4, 49.9, 49.4, 50.9]


def test_modes_show_own_income_or_sorted_list():
    for mode, told in ((1, ()), (2, (9, 4, 4, 0))):
        game = begun(mode=mode)
        game.apply((4, 9, 0, 4))
        for agent, own in zip(game.agents, (4, 9, 0, 4), strict=True):
            assert game.view(agent).history == (PastRound(own, 17, 5.1, told),)
    # The others' investments are not in the view of mode 1: who invested what can change without a difference to be seen.
    views = []
    for investments in ((4, 9, 0, 4), (4, 1, 7, 5)):
        game = begun()
        game.apply(investments)
        views.append(game.view("player_0"))
    assert views[0] == views[1]


def test_mode_2_seats_are_exchangeable():
    views = []
    for order in itertools.permutations((9, 0, 4)):
        game = begun(mode=2)
        game.apply((4, *order))
        views.append(game.view("player_0"))
    assert len(set(views)) == 1


def test_statistics_are_means_of_the_own_investment_and_income():
    game = begun()
    assert game.statistics("player_0") == {"investment": 0.0, "income": 0.0}
    game.apply((4, 9, 0, 7))
    game.apply((6, 9, 0, 5))
    assert game.statistics("player_0") == {"investment": 5.0, "income": 6.0}


def test_copies_are_independent_and_the_log_only_grows():
    game = begun()
    game.apply((1, 2, 3, 4))
    twin = copy.copy(game)
    twin.apply((5, 5, 5, 5))
    assert game.investments == ((1, 2, 3, 4),) and len(game.view("player_0").history) == 1
    assert twin.investments == ((1, 2, 3, 4), (5, 5, 5, 5))
    game.reset(np.random.default_rng(1))
    assert game.investments == () and game.view("player_3").coins == 0.0


def test_forfeit_costs_one_and_pays_no_other_player():
    assert begun(n_players=2).forfeit(("player_1",)) == (0.0, -1.0)
    assert begun().forfeit(("player_0", "player_3")) == (-1.0, 0.0, 0.0, -1.0)


@pytest.mark.parametrize("alpha", [1, 4, 0.5, 7.5])
def test_dilemma_needs_alpha_between_one_and_player_count(alpha):
    assert not begun(alpha=alpha).is_dilemma()
    assert begun(alpha=1.0001).is_dilemma() and begun(alpha=3.9999).is_dilemma()


def test_amounts_are_formatted():
    assert [shown(amount) for amount in (8.0, 8.4, 12 / 7, Fraction(1, 10), 1e-9)] == [8, 8.4, 1.7143, 0.1, 0]
    assert isinstance(shown(8.0), int)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_players": 1}, "n_players"),
        ({"n_players": 4.0}, "n_players"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": True}, "rounds"),
        ({"mode": 3}, "mode"),
        ({"mode": "1"}, "mode"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": -1.2}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": float("inf")}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"alpha": "much"}, "alpha"),
        ({"alpha": "1e999999999"}, "alpha"),
        ({"endowment": 0}, "endowment"),
        ({"endowment": 10.5}, "endowment"),
        ({"endowment": 10, "coin_step": 3}, "endowment"),
        ({"endowment": 10_001}, "endowment"),
        ({"endowment": None}, "endowment"),
        ({"coin_step": 0}, "coin_step"),
        ({"coin_step": 0.00001}, "coin_step"),
        ({"coin_step": -1}, "coin_step"),
        ({"coin_step": 20}, "endowment"),
        ({"endowment_mode": "once"}, "endowment_mode"),
        ({"endowment_mode": "initial", "rounds": 100}, "endowment_mode"),
    ],
)
def test_bad_options_are_named(options, name):
    with pytest.raises(OptionError, match=f"^{name}: expected"):
        PublicGoods(**options)
