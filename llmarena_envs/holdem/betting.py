"""Betting of one hand: turns and costs of actions.

Players are numbered by seat, clockwise. Chips are whole numbers.
"""

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple, TypeVar

from llmarena_envs.core.failures import Reason

STANDARD = "standard"
RLCARD = "rlcard"
RIVER = 3
"""The last street; 0 is before the flop."""

_KEPT_TURNS = 1024
"""Cache size for turns, as most hands share their first actions."""

_T = TypeVar("_T")


class Action(IntEnum):
    """The five actions."""

    FOLD = 0
    CHECK_CALL = 1
    RAISE_HALF_POT = 2
    RAISE_FULL_POT = 3
    ALL_IN = 4


_NO_BET = Reason("no_bet")
_CALL_TAKES_ALL = Reason("call_takes_all")
_NOBODY_CAN_ANSWER = Reason("nobody_can_answer")
_NOT_REOPENED = Reason("not_reopened")
_TOO_SMALL = Reason("too_small")


class Choices(NamedTuple):
    """The five actions of the seat to act, in the order of ``Action``.

    Attributes:
        costs: chips for each action.
        why_illegal: why each is illegal, ``None`` if legal.
        legal: the legal actions.
    """

    costs: tuple[int, ...]
    why_illegal: tuple[Reason | None, ...]
    legal: tuple[int, ...]


_NO_CHOICES = Choices((0,) * len(Action), (Reason("betting_over"),) * len(Action), ())


class Betting(NamedTuple):
    """The chips of one hand.

    Attributes:
        rules: ``STANDARD`` or ``RLCARD``.
        button: seat of the dealer button.
        big_blind: the smallest bet.
        stacks: chips left of each seat.
        put_in: chips put in during this hand.
        bets: chips put in on this street.
        live: whether each seat was dealt in and has not folded.
        level: the bet to match on this street.
        min_raise: minimum increase of a raise over ``level``.
        answered: ``level`` after each seat's last action on this street, -1 if it has not acted yet.
    """

    rules: str
    button: int
    big_blind: int
    stacks: tuple[int, ...]
    put_in: tuple[int, ...]
    bets: tuple[int, ...]
    live: tuple[bool, ...]
    level: int
    min_raise: int
    answered: tuple[int, ...]

    def bet(self, seat: int, chips: int) -> "Betting":
        """Returns the betting after ``seat`` puts in ``chips``: 0 to check, ``to_call`` to call, more to raise."""
        bet = self.bets[seat] + chips
        level = max(self.level, bet)
        return Betting(
            self.rules,
            self.button,
            self.big_blind,
            _with(self.stacks, seat, self.stacks[seat] - chips),
            _with(self.put_in, seat, self.put_in[seat] + chips),
            _with(self.bets, seat, bet),
            self.live,
            level,
            # An all-in below the minimum raise increases the level but not the minimum raise.
            max(self.min_raise, bet - self.level) if self.rules == STANDARD else self.min_raise,
            _with(self.answered, seat, level),
        )

    def fold(self, seat: int) -> "Betting":
        """Returns the betting after ``seat`` folds."""
        return self._replace(live=_with(self.live, seat, False))

    def next_street(self) -> "Betting":
        """Returns the betting at the beginning of the next street."""
        seats = len(self.stacks)
        return self._replace(
            bets=(0,) * seats,
            level=0,
            min_raise=_smallest_raise(self.rules, self.big_blind),
            answered=(-1,) * seats,
        )

    def settled(self, stacks: tuple[int, ...]) -> "Betting":
        """Returns the betting after the pot is paid out, with the new ``stacks``."""
        nothing = (0,) * len(stacks)
        return Betting(
            self.rules,
            self.button,
            self.big_blind,
            stacks,
            nothing,
            nothing,
            self.live,
            0,
            self.min_raise,
            self.answered,
        )

    def next_to_act(self, seat: int) -> int:
        """Returns the next seat after ``seat`` with a decision on this street, else -1."""
        if sum(self.live) > 1:
            seats = len(self.stacks)
            for step in range(1, seats + 1):
                other = (seat + step) % seats
                if self._has_to_act(other):
                    return other
        return -1

    def to_call(self, seat: int) -> int:
        """Returns the chips ``seat`` must put in to stay, at most its stack."""
        level = self.level
        if level > max(self.bets):
            # A short big blind does not reduce the bet, unless all others are all-in.
            others = [other for other, live in enumerate(self.live) if live and other != seat]
            if not any(self.stacks[other] for other in others):
                level = max([self.bets[other] for other in others], default=0)
        return min(max(level - self.bets[seat], 0), self.stacks[seat])

    def choices(self, seat: int) -> Choices:
        """Returns the five actions for ``seat``, the seat to act."""
        call = self.to_call(seat)
        pot = sum(self.put_in)
        if self.rules == STANDARD:
            half, full = call + (pot + call) // 2, call + pot + call
            why_no_fold = None if call else _NO_BET
        else:
            half, full, why_no_fold = pot // 2, pot, None
        why_no_raise = self._why_no_raise(seat, call)
        why_illegal = (
            why_no_fold,
            None,
            why_no_raise or self._why_wrong_size(seat, half),
            why_no_raise or self._why_wrong_size(seat, full),
            why_no_raise,
        )
        legal = tuple([action for action, reason in enumerate(why_illegal) if not reason])
        return Choices((0, call, half, full, self.stacks[seat]), why_illegal, legal)

    def _has_to_act(self, seat: int) -> bool:
        if not self.live[seat] or not self.stacks[seat]:
            return False
        return self.to_call(seat) > 0 or (self.answered[seat] < 0 and self._somebody_can_answer(seat))

    def _somebody_can_answer(self, seat: int) -> bool:
        """Returns whether another seat can put in more than ``level``."""
        for other, live in enumerate(self.live):
            if live and other != seat and self.stacks[other] + self.bets[other] > self.level:
                return True
        return False

    def _why_no_raise(self, seat: int, call: int) -> Reason | None:
        if self.stacks[seat] <= call:
            return _CALL_TAKES_ALL
        if not self._somebody_can_answer(seat):
            return _NOBODY_CAN_ANSWER
        if self.answered[seat] >= 0 and self.level - self.answered[seat] < self.min_raise:
            return _NOT_REOPENED
        return None

    def _why_wrong_size(self, seat: int, cost: int) -> Reason | None:
        stack = self.stacks[seat]
        if cost > stack or (cost == stack and self.rules == STANDARD):
            return Reason("too_large", {"cost": cost, "stack": stack})
        if self.bets[seat] + cost < self.level + self.min_raise:
            return _TOO_SMALL
        return None


class Turn(NamedTuple):
    """A betting turn of a hand.

    Attributes:
        betting: the chips.
        street: 0 before the flop to 3 on the river.
        seat: the seat to act, -1 when the betting of the hand is over.
        choices: its five actions.
    """

    betting: Betting
    street: int
    seat: int
    choices: Choices


@lru_cache(maxsize=_KEPT_TURNS)
def first_turn(
    rules: str, button: int, blinds: tuple[int, int], small_blind: int, big_blind: int, stacks: tuple[int, ...]
) -> Turn:
    """Returns the first turn of a hand; see ``post_blinds`` for arguments."""
    return _next_turn(post_blinds(rules, button, blinds, small_blind, big_blind, stacks), 0, blinds[1])


@lru_cache(maxsize=_KEPT_TURNS)
def turn_after(betting: Betting, street: int, seat: int, action: int, chips: int) -> Turn:
    """Returns the next turn after ``seat`` takes ``action`` and puts in ``chips``."""
    return _next_turn(betting.fold(seat) if action == Action.FOLD else betting.bet(seat, chips), street, seat)


def _next_turn(betting: Betting, street: int, seat: int) -> Turn:
    """Passes the turn to the next seat with a decision, on this street or a later one."""
    seat = betting.next_to_act(seat)
    while seat < 0 and street < RIVER and sum(betting.live) > 1:
        street += 1
        betting = betting.next_street()
        seat = betting.next_to_act(betting.button)
    return Turn(betting, street, seat, _NO_CHOICES if seat < 0 else betting.choices(seat))


@lru_cache(maxsize=_KEPT_TURNS)
def blind_seats(rules: str, button: int, stacks: tuple[int, ...]) -> tuple[int, int]:
    """Returns the seats of the small and the big blind among those with chips.

    With two players the button posts the small blind under the standard rules, and the big blind under RLCard's.
    """
    seats = len(stacks)
    after_button = [seat for step in range(1, seats + 1) if stacks[seat := (button + step) % seats]]
    if len(after_button) == 2 and rules == STANDARD:
        return button, after_button[0]
    return after_button[0], after_button[1]


def post_blinds(
    rules: str, button: int, blinds: tuple[int, int], small_blind: int, big_blind: int, stacks: tuple[int, ...]
) -> Betting:
    """Returns the betting after the blinds; a seat with less than the blind posts its whole stack.

    Args:
        rules: ``STANDARD`` or ``RLCARD``.
        button: seat of the dealer button, which has chips.
        blinds: seats of the small and the big blind.
        small_blind: chips of the small blind.
        big_blind: chips of the big blind.
        stacks: chips of each seat; a seat without any is not dealt in.
    """
    seats = len(stacks)
    small, big = blinds
    posts = [0] * seats
    posts[small] = min(small_blind, stacks[small])
    posts[big] = min(big_blind, stacks[big])
    posted = tuple(posts)
    return Betting(
        rules,
        button,
        big_blind,
        stacks=tuple([stack - post for stack, post in zip(stacks, posted, strict=True)]),
        put_in=posted,
        bets=posted,
        live=tuple([stack > 0 for stack in stacks]),
        level=big_blind,
        min_raise=_smallest_raise(rules, big_blind),
        answered=(-1,) * seats,
    )


def longest_hand(rules: str, players: int, stack: int, big_blind: int, *, equal_stacks: bool) -> int:
    """Returns an upper bound on the number of turns of one hand.

    A street without a raise has at most one turn per player, and a raise adds at most one turn for each other player: r raises
    make at most ``4 * players + r * (players - 1)`` turns on four streets. The number of raises is bounded as follows:

    * Standard rules: after calling, the raiser has put as many chips into the pot as the player it answers, and no player has
      put in more. A raise adds at least half the pot, so this number at least doubles. It starts at the big blind, and raises
      end when it reaches the second largest stack.
    * RLCard's rules, two players: after the first turn the pot is at least two big blinds, each raise increases it by at least
      half, and raises end when it reaches twice the smaller stack. (A raise in the first turn adds no turn.)

    An all-in can be a smaller raise. The last raise is always counted. Before it, all-ins are impossible with equal stacks;
    otherwise all players except the last raiser and one opponent can be all-in.

    Args:
        rules: ``STANDARD`` or ``RLCARD``.
        players: number of players.
        stack: chips of each player at the beginning of the match.
        big_blind: chips of the big blind.
        equal_stacks: whether all stacks are still equal.
    """
    second_largest = stack if equal_stacks else players * stack // 2
    raises = 0 if equal_stacks else players - 2
    chips = big_blind if rules == STANDARD else 2 * big_blind
    while chips < (second_largest if rules == STANDARD else 2 * second_largest):
        raises += 1
        chips += chips if rules == STANDARD else chips // 2
    return 4 * players + raises * (players - 1)


def _smallest_raise(rules: str, big_blind: int) -> int:
    return big_blind if rules == STANDARD else 1


def _with(values: tuple[_T, ...], seat: int, value: _T) -> tuple[_T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])
