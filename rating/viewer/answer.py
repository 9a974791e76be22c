"""The answer of a run in two lines: its size and cost, and which policy is best."""

from collections.abc import Iterable, Sequence

from rating.schemes import formatting
from rating.schemes.leaderboard import Leaderboard, Ranks
from rating.schemes.summary import Summary
from rating.viewer.report.costs import Costs, money_cell

MOST_NAMED = 3
"""Maximum number of policies named as the best."""


def size(tables: Iterable[Leaderboard | Summary], spent: Costs | None) -> str:
    """Returns the number of policies, games and matches, and the cost of models if prices are known."""
    boards = [table for table in tables if isinstance(table, Leaderboard)]
    policies = {row.policy for board in boards for row in board.rows}
    parts = [
        formatting.counted(len(policies), "policy", "policies"),
        formatting.counted(len(boards), "game"),
        formatting.counted(sum(board.matches for board in boards), "match", "matches"),
    ]
    if spent is not None and spent.currency:
        parts.append(f"{money_cell(spent.total)} {spent.currency}")
    return ", ".join(parts)


def answers(tables: Iterable[Leaderboard | Summary]) -> list[str]:
    """Returns which policy is best over all games, or in each game if there is no score over several games."""
    found = []
    for table in tables:
        ranks = [(row.policy, row.rank) for row in table.rows if row.rank is not None]
        if len(ranks) < 2:
            continue
        if isinstance(table, Summary):
            return [f"Over all games, {best(ranks)}"]
        found.append(f"{table.environment}: {best(ranks)}")
    return found


def best(ranks: Sequence[tuple[str, Ranks]]) -> str:
    """Returns which policies can be the best, as a clause.

    Args:
        ranks: two or more policies with the ranks that the results leave open, 95 % confidence for all pairs together.
    """
    first = [name for name, own in ranks if own.best == 1]
    if len(first) == 1:
        return f"{first[0]} is best (95 % confidence)"
    if len(first) == len(ranks):
        return f"no difference between the {len(ranks)} policies is established yet (95 % confidence)"
    if len(first) > MOST_NAMED:
        return f"{len(first)} of {len(ranks)} policies can be the best; their order is not established yet"
    return f"{', '.join(first[:-1])} or {first[-1]} is best; their order is not established yet (95 % confidence)"
