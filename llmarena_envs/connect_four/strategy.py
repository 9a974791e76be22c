"""The strategic reward for discs in a row (LLMArena, arXiv 2402.16499, Figure 2)."""

from collections.abc import Sequence

import numpy as np

from llmarena_envs.connect_four.game import DIRECTIONS, ConnectFour

REWARD_MODES = ("between_turns", "own_move", "cumulative_value")
COUNTS = ("windows", "maximal")

_WEIGHTS = (2, 5, 10)  # for two, three and four in a row


def windows(discs: int) -> tuple[int, int, int]:
    """Counts windows of two, three and four adjacent discs in a line.

    A row of four is one four, two threes and three twos.

    Args:
        discs: discs of one player, as in ``ConnectFour``.
    """
    twos, threes, fours, _ = _windows(discs)
    return twos, threes, fours


def maximal_rows(discs: int) -> tuple[int, int, int]:
    """Counts maximal rows of exactly two, exactly three, and at least four discs.

    Args:
        discs: discs of one player, as in ``ConnectFour``.
    """
    twos, threes, fours, fives = _windows(discs)
    # A row of n discs has n - k + 1 windows of k and n - k of k + 1: it counts once in the difference if n >= k.
    two_or_more, three_or_more, four_or_more = twos - threes, threes - fours, fours - fives
    return two_or_more - three_or_more, three_or_more - four_or_more, four_or_more


def position_value(mine: int, theirs: int, count: str) -> int:
    """Returns V of a position: 10, 5 and 2 for every own row of four, three and two, minus the same for the opponent.

    Args:
        mine: discs of the player, as in ``ConnectFour``.
        theirs: discs of the opponent.
        count: ``"windows"`` or ``"maximal"``; see ``windows`` and ``maximal_rows``.
    """
    rows = windows if count == "windows" else maximal_rows
    return sum(weight * (own - other) for weight, own, other in zip(_WEIGHTS, rows(mine), rows(theirs), strict=True))


def values_of(moves: Sequence[int], count: str) -> list[int]:
    """Returns V for ``player_0`` of the empty board and after every move; negated for ``player_1``.

    Args:
        moves: columns from 0, starting at the empty board, including a random opening.
        count: as in ``position_value``.

    Raises:
        ValueError: if a move is illegal.
    """
    game = ConnectFour()
    game.reset(np.random.default_rng(0))  # draws nothing without an opening
    values = [position_value(*game.discs, count)]
    for ply, column in enumerate(moves):
        if not game.to_move or game.why_illegal(game.to_move[0], column):
            raise ValueError(f"moves: expected legal ones, got {column!r} as move {ply} of {list(moves)}")
        game.apply((column,))
        values.append(position_value(*game.discs, count))
    return values


def match_reward(values: Sequence[int], seat: int, opening: int, mode: str) -> int:
    """Returns the sum of the strategic rewards of one player in a match.

    Args:
        values: see ``values_of``.
        seat: 0 or 1.
        opening: number of random plies before play, without reward.
        mode: as in ``strategic_reward``.
    """
    own = [value if seat == 0 else -value for value in values[opening:]]
    return strategic_reward(own, 1 if seat == opening % 2 else 2, mode)


def strategic_reward(values: Sequence[int], first: int, mode: str) -> int:
    """Returns the sum of a player's strategic rewards, one for each own move.

    Args:
        values: V, for this player, of the initial position and after every later move.
        first: index in ``values`` of the position after the player's first move, 1 or 2.
        mode: reward of a move: ``"between_turns"`` V minus V after the player's previous move (first move: at the
            start), ``"own_move"`` V minus V right before the move, ``"cumulative_value"`` V itself.
    """
    after = values[first::2]
    if mode == "cumulative_value":
        return sum(after)
    if mode == "own_move":
        return sum(after) - sum(values[first - 1 : -1 : 2])
    return after[-1] - values[0] if after else 0  # telescoping sum


def _windows(discs: int) -> tuple[int, int, int, int]:
    """Counts the windows of two to five discs over all directions."""
    counts = [0, 0, 0, 0]
    for step in DIRECTIONS:
        window = discs
        for index in range(4):
            window &= discs >> (index + 1) * step
            counts[index] += window.bit_count()
    twos, threes, fours, fives = counts
    return twos, threes, fours, fives
