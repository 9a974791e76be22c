"""Rules of no-limit Texas hold'em; see ``betting`` for a hand's betting and ``pots`` for winnings."""

from collections.abc import Mapping, Sequence
from operator import add, sub
from typing import NamedTuple

import numpy as np

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.holdem.betting import (
    RIVER,
    RLCARD,
    STANDARD,
    Action,
    Betting,
    Choices,
    blind_seats,
    first_turn,
    longest_hand,
    turn_after,
)
from llmarena_envs.holdem.cards import parse_cards
from llmarena_envs.holdem.pots import split, winnings
from llmarena_envs.holdem.ranks import hand_rank
from llmarena_envs.holdem.resampling import deal_unseen

MAX_PLAYERS = 6
MAX_HANDS = 1000
MAX_STACK = 1_000_000
BOARD_SIZES = (0, 3, 4, 5)
"""Community cards before the flop, on the flop, the turn and the river."""

_KINDS = ("fold", "call", "raise_half_pot", "raise_full_pot", "all_in")


class Event(NamedTuple):
    """One line of the betting history.

    Attributes:
        street: 0 before the flop to 3 on the river.
        seat: the acting seat.
        kind: ``small_blind``, ``big_blind``, ``fold``, ``check``, ``call``, ``raise_half_pot``, ``raise_full_pot`` or
            ``all_in``.
        chips: chips put in by this action.
        total: chips of the seat on this street after it.
    """

    street: int
    seat: int
    kind: str
    chips: int
    total: int


class HandResult(NamedTuple):
    """Public result of a finished hand.

    Attributes:
        net: chips won or lost by each seat.
        board: the community cards dealt.
        shown: the hole cards of each seat in the showdown; empty for other seats.
    """

    net: tuple[int, ...]
    board: tuple[int, ...]
    shown: tuple[tuple[int, ...], ...]


class Table(NamedTuple):
    """The public betting of a hand.

    Attributes:
        hand: number of the hand, counted from 1.
        street: 0 before the flop to 3 on the river.
        button: seat of the dealer button.
        blinds: seats of the small and the big blind.
        stacks: chips left of each seat.
        put_in: chips of each seat in this hand.
        live: whether each seat is in the hand.
        history: the betting history.
    """

    hand: int
    street: int
    button: int
    blinds: tuple[int, int]
    stacks: tuple[int, ...]
    put_in: tuple[int, ...]
    live: tuple[bool, ...]
    history: tuple[Event, ...]

    @property
    def pot(self) -> int:
        """All chips put in during this hand."""
        return sum(self.put_in)


class HoldemView(NamedTuple):
    """A player's view of the match.

    Attributes:
        agent: the player.
        to_move: whether the player must act.
        legal: the legal actions of the player to act, else empty.
        costs: chips for each of the five actions if the player must act, else empty.
        to_call: chips needed to stay, 0 if the player has matched the bet or is out of the hand.
        seat: the player's seat; seats go clockwise, and ``player_2`` has seat 2.
        hole: the player's own two cards; empty if it had no chips when the hand began.
        board: the dealt community cards.
        table: the betting of this hand.
        results: the finished hands of the match.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    costs: tuple[int, ...]
    to_call: int
    seat: int
    hole: tuple[int, ...]
    board: tuple[int, ...]
    table: Table
    results: tuple[HandResult, ...]


class Holdem(Game[int, HoldemView]):
    """A position of no-limit Texas hold'em; an action is a member of ``betting.Action``.

    Args:
        rules: ``standard``, or ``rlcard`` (two players) with the turn order and raises of PettingZoo's environment.
        button: seat of the dealer button in the first hand, or ``random``.
        stack: chips of each player at the beginning, more than the big blind.
        small_blind: chips of the small blind, at most the big blind.
        big_blind: chips of the big blind.
        players: number of players, 2 to 6.
        hands: maximum number of hands; the match ends early if one player has all chips.
        deck_seed: seed of the deals, identical in every match; ``None`` to use the match's seed.
        deck: the cards in dealing order for a match of one hand, as text or a list of texts such as ``Ah``: two for each
            player from ``player_0`` on, then five for the board.
        reward: ``chips`` for the net chips of a match, ``win`` for their sign.

    Attributes:
        hand: number of the hand, counted from 1.
        street: as in ``Table``.
        blinds: as in ``Table``.
        betting: the chips of the hand.
        seat: the seat to act.
        choices: its five actions.
        history: as in ``Table``.
        results: as in ``HoldemView``.
    """

    num_actions = len(Action)
    hand: int
    street: int
    blinds: tuple[int, int]
    betting: Betting
    seat: int
    choices: Choices
    history: tuple[Event, ...]
    results: tuple[HandResult, ...]
    _decks: tuple[tuple[int, ...], ...]
    _dealt_in: tuple[bool, ...]

    def __init__(
        self,
        *,
        rules: str = STANDARD,
        button: str | int = "random",
        stack: int = 100,
        small_blind: int = 1,
        big_blind: int = 2,
        players: int = 2,
        hands: int = 1,
        deck_seed: int | None = None,
        deck: str | Sequence[str] | None = None,
        reward: str = "chips",
    ) -> None:
        check_choice("rules", rules, (STANDARD, RLCARD))
        check_int("players", players, 2, MAX_PLAYERS if rules == STANDARD else 2)
        if button != "random":
            check_int("button", button, 0, players - 1)
        check_int("stack", stack, 2, MAX_STACK)
        check_int("big_blind", big_blind, 1, stack - 1)
        check_int("small_blind", small_blind, 1, big_blind)
        check_int("hands", hands, 1, MAX_HANDS)
        check_choice("reward", reward, ("chips", "win"))
        if deck_seed is not None:
            check_int("deck_seed", deck_seed, 0, 2**63 - 1)
        self.agents = tuple(f"player_{seat}" for seat in range(players))
        self._no_rewards = (0.0,) * players
        self.max_turns = hands * longest_hand(rules, players, stack, big_blind, equal_stacks=hands == 1)
        self.rules = rules
        self.stack = stack
        self.small_blind = small_blind
        self.big_blind = big_blind
        self.hands = hands
        self.reward = reward
        self._first_button = button
        self._deck_seed = deck_seed
        self._cards_needed = 2 * players + BOARD_SIZES[RIVER]
        self._deck = None if deck is None else self._check_deck(deck)

    def _check_deck(self, deck: str | Sequence[str]) -> tuple[int, ...]:
        if self.hands > 1 or self._deck_seed is not None:
            raise OptionError(
                "deck: expected hands=1 and no deck_seed beside it, because it holds the cards of one hand"
            )
        cards = parse_cards(deck)
        if len(cards) < self._cards_needed:
            raise OptionError(
                f"deck: expected at least {self._cards_needed} cards for {len(self.agents)} players, got {len(cards)}"
            )
        return cards

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the button and the deals, and begins the first hand."""
        players = len(self.agents)
        button = int(rng.integers(players)) if self._first_button == "random" else int(self._first_button)
        if self._deck is not None:
            self._decks = (self._deck,)
        else:
            dealer = rng if self._deck_seed is None else np.random.default_rng(self._deck_seed)
            self._decks = tuple(
                [tuple(dealer.permutation(52)[: self._cards_needed].tolist()) for _ in range(self.hands)]
            )
        self.results = ()
        self._begin_hand((self.stack,) * players, button)
        self._pass_turn()

    def apply(self, actions: tuple[int, ...]) -> None:
        """Applies the action, then deals until the next decision or the end of the match."""
        (action,) = actions
        chips = self._record(action)
        self.betting, self.street, self.seat, self.choices = turn_after(
            self.betting, self.street, self.seat, action, chips
        )
        self._pass_turn()

    def hole(self, seat: int) -> tuple[int, ...]:
        """Returns the hole cards of ``seat``; empty if it had no chips when the hand began."""
        return self._decks[self.hand - 1][2 * seat : 2 * seat + 2] if self._dealt_in[seat] else ()

    @property
    def board(self) -> tuple[int, ...]:
        """The dealt community cards."""
        first = 2 * len(self.agents)
        return self._decks[self.hand - 1][first : first + BOARD_SIZES[self.street]]

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why an action is illegal."""
        if agent not in self.to_move:
            return Reason("not_your_turn")
        if not 0 <= action < len(Action):
            return Reason("no_such_action", {"last": len(Action) - 1})
        return self.choices.why_illegal[action]

    def view(self, agent: str) -> HoldemView:
        """Returns the view of ``agent``."""
        seat = self.agents.index(agent)
        betting = self.betting
        to_move = agent in self.to_move
        if to_move:
            costs, _, legal = self.choices
            to_call = costs[Action.CHECK_CALL]
        else:
            costs = legal = ()
            to_call = betting.to_call(seat) if self.to_move and betting.live[seat] else 0
        table = Table(
            self.hand,
            self.street,
            betting.button,
            self.blinds,
            betting.stacks,
            betting.put_in,
            betting.live,
            self.history,
        )
        return HoldemView(agent, to_move, legal, costs, to_call, seat, self.hole(seat), self.board, table, self.results)

    def default_action(self, agent: str) -> int:
        """Checks if free, else folds."""
        return int(Action.FOLD if self.choices.costs[Action.CHECK_CALL] else Action.CHECK_CALL)

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns the rewards after an illegal action of the player to act.

        The offender loses its chips in this hand, at least one, and as many more as needed to end below its initial stack and not
        above any other player. Folded players lose their chips in this hand. Players still in the hand take their own chips back
        and share the lost chips equally, odd chips as in ``pots.split``.
        """
        offender = self.agents.index(offenders[0])
        left, put_in = self.betting.stacks[offender], self.betting.put_in[offender]
        keeps = min(left, left + put_in - 1, self.stack - 1)
        stacks = self._after_forfeit(offender, keeps)
        if min(stacks) < keeps:
            stacks = self._after_forfeit(offender, min(stacks))
        return self._rewards(stacks)

    def _after_forfeit(self, offender: int, keeps: int) -> list[int]:
        """Returns all stacks if ``offender`` keeps ``keeps`` chips."""
        betting = self.betting
        stacks = [
            left + put_in if live else left
            for left, put_in, live in zip(betting.stacks, betting.put_in, betting.live, strict=True)
        ]
        stacks[offender] = keeps
        heirs = [seat for seat, live in enumerate(betting.live) if live and seat != offender]
        lost = len(stacks) * self.stack - sum(stacks)
        shares = split(lost, heirs, betting.button, len(stacks))
        return [chips + share for chips, share in zip(stacks, shares, strict=True)]

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns ``chips``, the remaining chips, and ``hands``, the number of finished hands."""
        return {"chips": self.betting.stacks[self.agents.index(agent)], "hands": len(self.results)}

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the cards unseen by ``agent``: others' hole cards, the remaining deck, and future hands.

        All cards are equally likely, regardless of the betting. Its own cards of earlier hands and shown cards are kept. A fixed
        deck, or a fixed seed of the deals, does not restrict the redraw.
        """
        seat = self.agents.index(agent)
        self._decks = tuple(
            [deal_unseen(deck, self._seen(hand, seat), rng) for hand, deck in enumerate(self._decks, start=1)]
        )

    def _seen(self, hand: int, seat: int) -> set[int]:
        """Returns the deck positions of a hand's cards known to a seat."""
        if hand > self.hand:
            return set()
        holes, board = {seat}, self.board
        if hand <= len(self.results):
            _, board, shown = self.results[hand - 1]
            holes |= {other for other, hole in enumerate(shown) if hole}
        first = 2 * len(self.agents)
        return {2 * other + card for other in holes for card in range(2)} | {*range(first, first + len(board))}

    def _record(self, action: int) -> int:
        """Adds the action of the seat to act to the history, and returns its chips."""
        street, seat = self.street, self.seat
        chips = self.choices.costs[action]
        kind = _KINDS[action] if chips or action != Action.CHECK_CALL else "check"
        self.history += (Event(street, seat, kind, chips, self.betting.bets[seat] + chips),)
        return chips

    def _begin_hand(self, stacks: tuple[int, ...], button: int) -> None:
        self.hand = len(self.results) + 1
        small, big = self.blinds = blind_seats(self.rules, button, stacks)
        self.betting, self.street, self.seat, self.choices = first_turn(
            self.rules, button, self.blinds, self.small_blind, self.big_blind, stacks
        )
        put_in = self.betting.put_in
        self._dealt_in = self.betting.live
        self.history = (
            Event(0, small, "small_blind", put_in[small], put_in[small]),
            Event(0, big, "big_blind", put_in[big], put_in[big]),
        )

    def _pass_turn(self) -> None:
        """Gives the turn to ``seat``; if no seat can act, ends the hand and begins the next one or ends the match."""
        while self.seat < 0:
            stacks = self._end_hand()
            if self.hand == self.hands or max(stacks) == sum(stacks):
                self._end_match(stacks)
                return
            self._begin_hand(stacks, _next_with_chips(stacks, self.betting.button))
        self.to_move = (self.agents[self.seat],)
        self.rewards = self._no_rewards

    def _end_hand(self) -> tuple[int, ...]:
        """Divides the pot, records the result and returns all stacks."""
        betting, board = self.betting, self.board
        shown: tuple[tuple[int, ...], ...] = ((),) * len(self.agents)
        if sum(betting.live) > 1:
            holes = [self.hole(seat) if live else () for seat, live in enumerate(betting.live)]
            ranks = [hand_rank(hole + board) if hole else None for hole in holes]
            won = winnings(betting.put_in, ranks, betting.button)
            shown = tuple(holes)
        else:
            won = [sum(betting.put_in) if live else 0 for live in betting.live]
        net = tuple(map(sub, won, betting.put_in))
        self.results += (HandResult(net, board, shown),)
        return tuple(map(add, betting.stacks, won))

    def _end_match(self, stacks: tuple[int, ...]) -> None:
        self.betting = self.betting.settled(stacks)
        self.to_move = ()
        self.rewards = self._rewards(stacks)

    def _rewards(self, stacks: Sequence[int]) -> tuple[float, ...]:
        if self.reward == "win":
            return tuple([float((stack > self.stack) - (stack < self.stack)) for stack in stacks])
        return tuple([float(stack - self.stack) for stack in stacks])


def _next_with_chips(stacks: Sequence[int], seat: int) -> int:
    """Returns the next seat after ``seat`` with chips."""
    seats = len(stacks)
    return next(other for step in range(1, seats + 1) if stacks[other := (seat + step) % seats])
