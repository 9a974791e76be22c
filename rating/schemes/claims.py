"""What the ranks of a leaderboard establish and what they leave open, in plain words."""

from collections.abc import Sequence

from rating.schemes import cells
from rating.schemes.leaderboard import Ranks

_ESTABLISHED = "Established with 95 % confidence, all pairs together"


def claims(ranks: Sequence[tuple[str, Ranks]]) -> str:
    """Says which ranks the data tell apart.

    Args:
        ranks: every policy that has any, best first, with the ranks that the intervals leave open to it.

    Returns:
        A sentence or two; nothing where there are not two policies.
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
"""Places in the table, from 1, with the policies there, which the data do not wholly tell apart."""


def _groups(ranks: Sequence[tuple[str, Ranks]]) -> list[Group]:
    """Splits the order wherever all that come before are above all that come after.

    Of those before, each is above ``n - worst`` and below ``best - 1`` others. What they are to each other cancels in the sum of
    the differences, which leaves the number of pairs of one before and one after that are told apart.
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
