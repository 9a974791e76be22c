"""Standard rules beside pokerkit's state machine: turns, legal raises, calls and chips after every hand."""

import warnings
from typing import Any

import numpy as np
import pytest
from pokerkit import Automation, NoLimitTexasHoldem

from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import Event, Holdem

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)


class Reference:
    """pokerkit's state of the hand that a game has just dealt; its players are numbered from the small blind on.

    With two players it numbers them from the big blind on.
    """

    def __init__(self, game: Holdem, deck: tuple[int, ...]) -> None:
        seats = len(game.agents)
        small, big = game.blinds
        start = big if sum(game.betting.live) == 2 else small
        clockwise = [(start + step) % seats for step in range(seats)]
        self.seats = [seat for seat in clockwise if game.betting.live[seat]]
        stacks = [game.betting.stacks[seat] + game.betting.put_in[seat] for seat in self.seats]
        self.state: Any = NoLimitTexasHoldem.create_state(
            AUTOMATIONS, True, 0, (game.small_blind, game.big_blind), game.big_blind, stacks, len(self.seats)
        )
        for seat in self.seats:
            self.state.deal_hole(card_names(deck[2 * seat : 2 * seat + 2]).replace(" ", ""))
        self.board = list(deck[2 * seats : 2 * seats + 5])
        self.deal()

    def deal(self) -> None:
        while self.state.can_burn_card() or self.state.can_deal_board():
            if self.state.can_burn_card():
                self.state.burn_card("??")
                continue
            cards = self.state.street.board_dealing_count
            self.state.deal_board(card_names(self.board[:cards]).replace(" ", ""))
            del self.board[:cards]

    @property
    def to_act(self) -> int | None:
        return None if self.state.actor_index is None else self.seats[self.state.actor_index]

    def may_raise_by(self, cost: int) -> bool:
        """Says whether pokerkit allows a raise that costs so much, or all chips if there are fewer."""
        state, player = self.state, self.state.actor_index
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a raise without a possible answer gives a warning
            return bool(state.can_complete_bet_or_raise_to(state.bets[player] + min(cost, state.stacks[player])))

    def act(self, action: int, cost: int) -> None:
        if action == Action.FOLD:
            self.state.fold()
        elif action == Action.CHECK_CALL:
            self.state.check_or_call()
        else:
            self.state.complete_bet_or_raise_to(self.state.bets[self.state.actor_index] + cost)
        # pokerkit asks the big blind even if there is nothing to call and all opponents are all-in.
        while self.to_act is not None and not self.state.checking_or_calling_amount and not self.may_raise_by(1000):
            self.state.check_or_call()
        self.deal()


def went_up_by_less_than_the_big_blind(game: Holdem) -> bool:
    """Says whether the bet went up by less than the big blind since the seat to act acted on this street.

    pokerkit takes the first raise of a street for a full one regardless of its size, and lets a short all-in reopen the
    betting. The rules of tournaments (TDA 2024, rule 47) do not.
    """
    events = [event for event in game.history if event.street == game.street]
    last = max(place for place, event in enumerate(events) if event.seat == game.seat)
    blind = game.big_blind if game.street == 0 else 0

    def level(some: list[Event]) -> int:
        return max((event.total for event in some), default=0)

    return max(level(events), blind) - max(level(events[: last + 1]), blind) < game.big_blind


def compare_turn(game: Holdem, reference: Reference) -> None:
    betting, choices = game.betting, game.choices
    assert reference.to_act == game.seat
    assert reference.state.checking_or_calling_amount == choices.costs[Action.CHECK_CALL]
    assert (Action.FOLD in choices.legal) == (choices.costs[Action.CHECK_CALL] > 0)
    stack = betting.stacks[game.seat]
    for action in (Action.RAISE_HALF_POT, Action.RAISE_FULL_POT, Action.ALL_IN):
        cost = choices.costs[action]
        replaced = action != Action.ALL_IN and cost >= stack
        if replaced:
            assert action not in choices.legal
        elif reference.may_raise_by(cost) != (action in choices.legal):
            assert action not in choices.legal
            assert went_up_by_less_than_the_big_blind(game)


def some_action(game: Holdem, rng: np.random.Generator, boldness: float) -> int:
    """Draws an action; folds and all-ins are rare, to get long matches and showdowns."""
    legal = game.choices.legal
    weights = {Action.FOLD: 0.1, Action.CHECK_CALL: 1 - boldness, Action.ALL_IN: 0.15 * boldness}
    chances = np.array([weights.get(Action(action), 0.4 * boldness) for action in legal])
    return int(rng.choice(legal, p=chances / chances.sum()))


def play_beside(game: Holdem, rng: np.random.Generator, boldness: float) -> int:
    """Plays one match hand by hand in both; returns the number of hands compared."""
    game.reset(rng)
    compared = 0
    while game.to_move:
        hand, deck = game.hand, game._decks[game.hand - 1]
        big = game.blinds[1]
        # pokerkit lets several players call a short big blind with its chips; the rest of the table is the same.
        short_blind = game.betting.put_in[big] < game.big_blind and sum(game.betting.live) > 2
        reference = None if short_blind or len(game.history) > 2 else Reference(game, deck)
        while game.to_move and game.hand == hand:
            if reference:
                compare_turn(game, reference)
            action = some_action(game, rng, boldness)
            if reference:
                reference.act(action, game.choices.costs[action])
            game.apply((action,))
        if reference:
            compared += 1
            compare_result(game, hand, reference)
    return compared


def compare_result(game: Holdem, hand: int, reference: Reference) -> None:
    assert not reference.state.status
    net = game.results[hand - 1].net
    expected = [0] * len(game.agents)
    for seat, payoff in zip(reference.seats, reference.state.payoffs, strict=True):
        expected[seat] = payoff
    if list(net) != expected:
        # pokerkit gives all odd chips of a pot to one player, we give them to one each.
        split_among = sum(1 for mine, theirs in zip(net, expected, strict=True) if mine != theirs)
        assert split_among >= 2
        assert sum(game.betting.live) >= 3
        assert all(abs(mine - theirs) <= 1 for mine, theirs in zip(net, expected, strict=True))


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("players", "matches", "options"),
    [
        pytest.param(2, 200, {}, marks=pytest.mark.slow),
        (2, 10, {"hands": 20, "stack": 60, "small_blind": 2, "big_blind": 5}),
        pytest.param(3, 20, {"hands": 15, "stack": 90}, marks=pytest.mark.slow),
        pytest.param(4, 20, {"hands": 15, "stack": 90, "small_blind": 1, "big_blind": 4}, marks=pytest.mark.slow),
        pytest.param(6, 20, {"hands": 15, "stack": 80, "small_blind": 1, "big_blind": 3}, marks=pytest.mark.slow),
        (6, 15, {"hands": 10, "stack": 25, "small_blind": 2, "big_blind": 4}),
    ],
)
def test_same_turns_and_chips_as_pokerkit(players: int, matches: int, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(players * 1000 + matches)
    game = Holdem(players=players, **options)
    hands = sum(play_beside(game, rng, boldness=rng.uniform(0.05, 0.7)) for _ in range(matches))
    assert hands > matches * (1 if game.hands == 1 else 3) - 1
