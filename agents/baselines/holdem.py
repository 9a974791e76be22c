"""Policies for no-limit Texas hold'em."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from agents.policy import ScriptedPolicy
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.game import HoldemView
from llmarena_envs.holdem.ranks import hand_rank

DECK = frozenset(range(52))
BOARD_CARDS = 5


def first_legal(view: HoldemView, *wanted: Action) -> int:
    """Returns the first of the wanted actions that is legal, else Check and Call."""
    return int(next((action for action in wanted if action in view.legal), Action.CHECK_CALL))


def fold_or_check(view: HoldemView) -> int:
    """Returns Check if it is free, else Fold."""
    return int(Action.FOLD if view.to_call else Action.CHECK_CALL)


def win_probability(
    hole: Sequence[int], board: Sequence[int], opponents: int, samples: int, rng: np.random.Generator
) -> float:
    """Estimates the probability of winning against random hands at showdown.

    Args:
        hole: the own two cards.
        board: the community cards dealt so far.
        opponents: number of opponents with a random hand each.
        samples: number of random deals.
        rng: the generator.

    Returns:
        The share of deals won, 0 to 1; a tie of k players counts 1 / k.
    """
    unseen = np.array(sorted(DECK.difference(hole, board)))
    to_come = BOARD_CARDS - len(board)
    drawn = np.argsort(rng.random((samples, len(unseen))), axis=1)[:, : to_come + 2 * opponents]
    won = 0.0
    for cards in unseen[drawn].tolist():
        full_board = [*board, *cards[:to_come]]
        mine = hand_rank([*hole, *full_board])
        theirs = [hand_rank([*cards[start : start + 2], *full_board]) for start in range(to_come, len(cards), 2)]
        if mine <= min(theirs):
            won += 1 / (1 + theirs.count(mine))
    return won / samples


def present_strength(hole: Sequence[int], board: Sequence[int]) -> float:
    """Returns the share of all hands of one opponent that the own hand beats on the current board; ties count one half.

    Source: the hand strength of Billings, Davidson, Schaeffer and Szafron, The challenge of poker (2002), section 5.2.1.

    Args:
        hole: the own two cards.
        board: at least three community cards.
    """
    mine = hand_rank([*hole, *board])
    points = 0.0
    hands = 0
    for other in combinations(sorted(DECK.difference(hole, board)), 2):
        theirs = hand_rank([*other, *board])
        points += 1.0 if mine < theirs else 0.5 if mine == theirs else 0.0
        hands += 1
    return points / hands


def chen_points(hole: Sequence[int]) -> float:
    """Returns the value of two hole cards by Bill Chen's formula, without rounding: -1.5 to 20.

    Source: Krieger, Hold'em Excellence (1995).
    """
    low, high = sorted(card // 4 for card in hole)
    points = {12: 10.0, 11: 8.0, 10: 7.0, 9: 6.0}.get(high, (high + 2) / 2)
    if low == high:
        return max(2 * points, 5.0)
    if hole[0] % 4 == hole[1] % 4:
        points += 2
    gap = high - low - 1
    points -= (0, 1, 2, 4, 5)[min(gap, 4)]
    if gap <= 1 and high < 10:
        points += 1
    return points


class Call(ScriptedPolicy):
    """Always checks or calls."""

    def __call__(self, view: HoldemView) -> int:
        """Returns Check and Call."""
        return int(Action.CHECK_CALL)


class Tight(ScriptedPolicy):
    """Plays few hands and bets strong ones: raises and calls by fixed thresholds, and never bluffs.

    Thresholds are in Chen points before the flop, later in the share of all hands that its own currently beats.
    """

    RAISE_POINTS, CALL_POINTS = 8.0, 6.0
    RAISE_STRENGTH, CALL_STRENGTH = 0.85, 0.6

    def __call__(self, view: HoldemView) -> int:
        """Returns the action."""
        if view.board:
            worth = present_strength(view.hole, view.board)
            raise_at, call_at = self.RAISE_STRENGTH, self.CALL_STRENGTH
        else:
            worth = chen_points(view.hole)
            raise_at, call_at = self.RAISE_POINTS, self.CALL_POINTS
        if worth >= raise_at:
            return first_legal(view, Action.RAISE_FULL_POT, Action.ALL_IN)
        return int(Action.CHECK_CALL) if worth >= call_at else fold_or_check(view)


class Strength(ScriptedPolicy):
    """Bets by the sampled probability of winning against random hands of the remaining players.

    Args:
        samples: random deals per decision.
        fold: probability below which it folds when facing a bet.
        raise_half: probability above which it raises half the pot.
        raise_full: the same for the full pot.
        all_in: the same for all-in.
    """

    def __init__(
        self,
        samples: int = 1000,
        fold: float = 0.35,
        raise_half: float = 0.6,
        raise_full: float = 0.75,
        all_in: float = 0.9,
    ) -> None:
        check_int("samples", samples, 1, 1_000_000)
        if not 0 <= fold <= raise_half <= raise_full <= all_in <= 1:
            raise OptionError(
                "thresholds: expected 0 <= fold <= raise_half <= raise_full <= all_in <= 1, "
                f"got {fold}, {raise_half}, {raise_full}, {all_in}"
            )
        self.samples = samples
        self.fold = fold
        self.raise_half = raise_half
        self.raise_full = raise_full
        self.all_in = all_in

    def __call__(self, view: HoldemView) -> int:
        """Returns the action; an unavailable raise is replaced by the next larger one, finally by a call."""
        probability = win_probability(view.hole, view.board, sum(view.table.live) - 1, self.samples, self.rng)
        if probability > self.all_in:
            return first_legal(view, Action.ALL_IN)
        if probability > self.raise_full:
            return first_legal(view, Action.RAISE_FULL_POT, Action.ALL_IN)
        if probability > self.raise_half:
            return first_legal(view, Action.RAISE_HALF_POT, Action.RAISE_FULL_POT, Action.ALL_IN)
        return fold_or_check(view) if probability < self.fold else int(Action.CHECK_CALL)


BASELINES = {"call": Call, "tight": Tight, "strength": Strength}
