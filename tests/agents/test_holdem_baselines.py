"""Scripted players of hold'em."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.baselines.holdem import Call, Strength, Tight, chen_points, present_strength, win_probability
from agents.registry import make_policy
from llmarena_envs.core.options import OptionError
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.cards import parse_cards
from llmarena_envs.holdem.game import Holdem
from tests.agents.asking import answer


def decide(policy: Any, game: Holdem) -> Action:
    """Returns the action of a fresh policy at the present position."""
    (agent,) = game.to_move
    policy.reset(agent, 0)
    return Action(policy(game.view(agent)))


def dealt(hole: str, other: str, board: str, actions: tuple[Action, ...] = (), **options: Any) -> Holdem:
    """Returns a game after some actions, with ``hole`` in the button's hand."""
    game = Holdem(button=0, deck=f"{hole} {other} {board}", **options)
    game.reset(np.random.default_rng(0))
    for action in actions:
        game.apply((int(action),))
    return game


@pytest.mark.parametrize(
    ("hole", "opponents", "exact"), [("AsAh", 1, 0.852), ("7c2d", 1, 0.346), ("KsKh", 1, 0.824), ("AsAh", 2, 0.734)]
)
def test_win_probability_before_the_flop(hole: str, opponents: int, exact: float) -> None:
    estimate = win_probability(parse_cards(hole), (), opponents, 4000, np.random.default_rng(0))
    assert estimate == pytest.approx(exact, abs=0.02)


def test_win_probability_on_the_river_is_the_present_strength() -> None:
    hole, board = parse_cards("Ac 8d"), parse_cards("8h 2s Jd 5c Kh")
    estimate = win_probability(hole, board, 1, 4000, np.random.default_rng(1))
    assert estimate == pytest.approx(present_strength(hole, board), abs=0.02)


def test_win_probability_for_nuts_and_shared_board() -> None:
    rng = np.random.default_rng(0)
    assert win_probability(parse_cards("AcKc"), parse_cards("QcJcTc2d3d"), 1, 50, rng) == 1
    assert win_probability(parse_cards("2c2d"), parse_cards("AhKhQhJhTh"), 1, 50, rng) == 0.5
    assert win_probability(parse_cards("2c2d"), parse_cards("AhKhQhJhTh"), 4, 50, rng) == pytest.approx(0.2)


def test_present_strength_knows_no_cards_to_come() -> None:
    board = parse_cards("2h 7h Th")
    assert present_strength(parse_cards("AhKh"), board) > 0.99
    assert present_strength(parse_cards("3c4d"), board) < 0.1


@pytest.mark.parametrize(
    ("hole", "points"),
    [("AsAh", 20), ("KsKh", 16), ("AsKs", 12), ("AsKh", 10), ("JsTs", 9), ("2c2d", 5), ("7c2d", -1.5), ("5h7h", 5.5)],
)
def test_chen_points(hole: str, points: float) -> None:
    assert chen_points(parse_cards(hole)) == points


def test_call_never_raises_and_never_folds() -> None:
    game = dealt("7c2d", "AsAh", "Kd Qd Jd 9c 8c")
    assert decide(Call(), game) == Action.CHECK_CALL
    game.apply((int(Action.CHECK_CALL),))
    game.apply((int(Action.ALL_IN),))
    assert decide(Call(), game) == Action.CHECK_CALL


def test_strength_goes_all_in_with_nuts_and_never_folds_them() -> None:
    preflop = (Action.CHECK_CALL, Action.CHECK_CALL, Action.CHECK_CALL)
    assert decide(Strength(samples=200), dealt("AcKc", "2d3d", "QcJcTc 4h 5h", preflop)) == Action.ALL_IN
    facing = (Action.CHECK_CALL, Action.CHECK_CALL, Action.RAISE_FULL_POT)
    assert decide(Strength(samples=200), dealt("3c2d", "AhKh", "QhJhTh 4s 5s", facing)) == Action.FOLD
    assert decide(Strength(samples=200), dealt("3c2d", "AhKh", "QhJhTh 4s 5s", preflop)) == Action.CHECK_CALL


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        ({"raise_half": 0.8, "raise_full": 0.9, "all_in": 0.95}, Action.RAISE_HALF_POT),
        ({"raise_half": 0.5, "raise_full": 0.8, "all_in": 0.95}, Action.RAISE_FULL_POT),
        ({"raise_half": 0.5, "raise_full": 0.6, "all_in": 0.8}, Action.ALL_IN),
        ({"raise_half": 0.9, "raise_full": 0.9, "all_in": 0.95}, Action.CHECK_CALL),
        ({"fold": 0.9, "raise_half": 0.9, "raise_full": 0.9, "all_in": 0.95}, Action.FOLD),
    ],
)
def test_thresholds_of_strength(thresholds: dict[str, float], expected: Action) -> None:
    game = dealt("AsAh", "2c7d", "3h 8d Jc 4s Qc")  # aces win 85 % against a random hand
    assert decide(Strength(samples=400, **thresholds), game) == expected


def test_all_in_replaces_a_raise_of_the_whole_stack() -> None:
    game = dealt("AsAh", "2c7d", "3h 8d Jc 4s Qc", stack=3)
    assert Action.RAISE_HALF_POT not in game.choices.legal
    assert decide(Strength(samples=300), game) == Action.ALL_IN


def test_strength_is_seeded() -> None:
    view = dealt("9s8s", "2c7d", "3h 8d Jc 4s Qc").view("player_0")

    def estimates(seed: int) -> list[float]:
        rng = np.random.default_rng(seed)
        return [win_probability(view.hole, view.board, 1, 100, rng) for _ in range(3)]

    assert estimates(5) == estimates(5)
    assert len(set(estimates(5))) > 1


@pytest.mark.parametrize(
    "options", [{"samples": 0}, {"fold": 0.7}, {"all_in": 1.5}, {"fold": -0.1}, {"raise_half": 0.8, "raise_full": 0.7}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="expected"):
        Strength(**options)


def test_tight_folds_most_hands_and_raises_aces() -> None:
    assert decide(Tight(), dealt("AsAh", "2c7d", "3h 8d Jc 4s Qc")) == Action.RAISE_FULL_POT
    assert decide(Tight(), dealt("2c7d", "AsAh", "3h 8d Jc 4s Qc")) == Action.FOLD
    assert decide(Tight(), dealt("8s7s", "AsAh", "3h 8d Jc 4s Qc")) == Action.CHECK_CALL
    folds = 0
    for seed in range(300):
        game = Holdem(button=0)
        game.reset(np.random.default_rng(seed))
        folds += decide(Tight(), game) == Action.FOLD
    assert 150 < folds < 250


def test_tight_plays_its_hand_after_the_flop() -> None:
    called = (Action.CHECK_CALL, Action.CHECK_CALL, Action.CHECK_CALL)
    bet = (Action.CHECK_CALL, Action.CHECK_CALL, Action.RAISE_HALF_POT)
    assert decide(Tight(), dealt("8s7s", "2c2d", "8h 7d Jc 4s Qc", called)) == Action.RAISE_FULL_POT
    assert decide(Tight(), dealt("8s7s", "2c2d", "Kh Ad Jc 4s Qc", called)) == Action.CHECK_CALL
    assert decide(Tight(), dealt("8s7s", "2c2d", "Kh Ad Jc 4s Qc", bet)) == Action.FOLD


@pytest.mark.parametrize("name", ["call", "tight", "strength:samples=20", "random", "first_legal"])
@pytest.mark.parametrize("options", [{}, {"rules": "rlcard"}, {"players": 5, "hands": 3, "stack": 25}])
def test_every_player_acts_legally_to_the_end(name: str, options: dict[str, Any]) -> None:
    game = Holdem(**options)
    policies: dict[str, Any] = {agent: make_policy(name, "holdem_v0") for agent in game.agents}
    for seed in range(6):
        game.reset(np.random.default_rng(seed))
        for place, (agent, policy) in enumerate(policies.items()):
            policy.reset(agent, 10 * seed + place)
        while game.to_move:
            (agent,) = game.to_move
            action = answer(policies[agent], game, agent)
            assert game.why_illegal(agent, action) is None
            game.apply((action,))


def mean_chips(first: Callable[[], Any], second: Callable[[], Any], deals: int) -> float:
    """Returns the mean chips a hand of the first player; each deal is played from both seats."""
    game = Holdem()
    total = 0.0
    for deal in range(deals):
        for seat in (0, 1):
            policies = [first(), second()] if seat == 0 else [second(), first()]
            for place, policy in enumerate(policies):
                policy.reset(f"player_{place}", 100 * deal + place + seat)
            game.reset(np.random.default_rng(deal))
            while game.to_move:
                game.apply((answer(policies[game.seat], game, game.to_move[0]),))
            total += game.rewards[seat]
    return total / (2 * deals)


def strength() -> Strength:
    return Strength(samples=40)


@pytest.mark.slow
def test_the_ladder() -> None:
    # Over 1,000 deals with 200 samples: strength beats call by 15.4 and random by 8.1, tight beats both by 4.4 chips a hand.
    assert mean_chips(strength, Call, 150) > 8
    assert mean_chips(Tight, Call, 150) > 1.5
    assert mean_chips(strength, Random, 200) > 2
    assert mean_chips(Tight, Random, 200) > 2


@pytest.mark.slow
def test_strength_beats_weak_players_and_tight_does_not_pay_off() -> None:
    # Strength ignores the information in a raise, so it loses a little to a player who raises good hands only.
    assert mean_chips(strength, Tight, 150) < 2
