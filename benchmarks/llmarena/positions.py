"""Positions of a recorded board game, replayed from its moves."""

from collections.abc import Iterator

from agents.records import Turn
from benchmarks.experiments.replays import begun
from llmarena_envs.core.board import BoardView
from rating.errors import RunError
from rating.store.records import Record


def positions(record: Record) -> Iterator[tuple[Turn, BoardView]]:
    """Yields every turn of a match with the position before the move; a random opening is already on the board.

    Args:
        record: of a match of tic-tac-toe or connect four.

    Raises:
        RunError: if a move is illegal or not in such a match.
    """
    env = begun(record.match)
    for turn in record.turns:
        view = env.view(turn.agent) if turn.agent in env.possible_agents else None
        if view is None or not view.to_move or not _is_move(turn, view):
            raise RunError(
                f"match {record.match.id}: turn {turn.index}: expected a legal move of the player to move, got"
                f" {turn.action!r} of {turn.agent}; `llmarena replay RUN --verify` compares every match with its record"
            )
        yield turn, view
        env.step(turn.action)


def _is_move(turn: Turn, view: BoardView) -> bool:
    if turn.fallback == "forfeit":
        return turn.action is None
    return type(turn.action) is int and turn.action in view.legal
