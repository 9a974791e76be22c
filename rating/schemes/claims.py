"""Sentences on the established and the unresolved parts of a ranking."""

from collections.abc import Sequence

from rating.schemes import cells
from rating.schemes.leaderboard import Ranks

_ESTABLISHED = "Established with 95 % confidence, all pairs together"


def claims(ranks: Sequence[tuple[str, Ranks]]) -> str:
    """Returns which ranks the data separate.

    Args:
        ranks: every policy with ranks, best first, and the ranks compatible with its intervals.

    Returns:
        One or two sentences; empty with fewer than two policies.
    """
    if len(ranks) < 2:
        return ""
    groups = _groups(ranks)
    if len(groups) == len(ranks):
        return f"{_ESTABLISHED}: {_order(groups)}."
    if len(groups) > 1:
        opened = [group for group in groups if len(group) > 1]
        places = " and of ".join(_places(group) for group in opened)
        return f"{_ESTABLISHED}: {_order(groups)}. Not established: the order of {places}."
    name, best = next((row for row in ranks if row[1].worst < len(ranks)), ranks[0])
    below = len(ranks) - best.worst
    if not below:
        which = "the two policies" if len(ranks) == 2 else f"any two of the {len(ranks)} policies"
        return f"These data do not tell {which} apart with 95 % confidence."
    return f"{_ESTABLISHED}: {name} is above {below} of the {len(ranks) - 1} others. Not established: the order as a whole."


Group = list[tuple[int, str]]
"""Positions in the table, from 1, and their policies, whose order is not fully established."""


def _groups(ranks: Sequence[tuple[str, Ranks]]) -> list[Group]:
    """Splits the order at every position where all policies before are established above all policies after.

    A policy is above ``n - worst`` and below ``best - 1`` others. Pairs within the policies before the split cancel in the sum of
    these differences, which leaves the number of established pairs across the split.
    """
    groups: list[Group] = [[]]
    told_apart, before = 0, 0
    for place, (name, own) in enumerate(ranks, 1):
        if before and told_apart == before * (len(ranks) - before):
            groups.append([])
        groups[-1].append((place, name))
        told_apart, before = told_apart + (len(ranks) - own.worst) - (own.best - 1), place
    return groups


def _order(groups: Sequence[Group]) -> str:
    names = [group[0][1] if len(group) == 1 else _places(group) for group in groups]
    return " above ".join(names)


def _places(group: Group) -> str:
    return f"ranks {cells.ranks(group[0][0], group[-1][0])}"
