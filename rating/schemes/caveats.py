"""Caveats of leaderboards, common to all schemes.

The rating of a policy with too many fallback turns (random legal moves in place of replies without a legal move) is withheld,
since it would rate moves that are not its own. A forfeit is not a fallback turn: it loses the match, which the rating reflects.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from rating.schemes import formatting
from rating.schemes.figures import Figure, HeadToHead, Matrix, Trajectories
from rating.schemes.leaderboard import Effort, Leaderboard, LeaderboardRow, Ranks, ranks_of
from rating.stats.estimates import FEWEST_CLUSTERS, Estimate
from rating.stats.results import rated_seats
from rating.store.records import VOID, Outcome

WITHHELD = "withheld"

MANY_FALLBACKS = 0.05
"""Minimum share of fallback turns of a marked policy."""

_REMEDIES = {
    "truncated": "raise its max_tokens, which reasoning counts towards",
    "empty": "read its replies with `llmarena replay`; a reasoning model can need more max_tokens",
}
_REMEDY = "read its replies with `llmarena replay`"

Value = TypeVar("Value")


def share_played_for(effort: Effort) -> float:
    """Returns the share of a policy's turns played by the fallback, 0 to 1."""
    if not effort.turns:
        return 0.0
    return max(0, effort.fallbacks - sum(effort.forfeits.values())) / effort.turns


def is_marked(share: float) -> bool:
    """Returns whether a share of fallback turns is marked on the leaderboard."""
    return share >= MANY_FALLBACKS


def fallback_mark(share: float) -> str:
    """Returns the mark of a policy; empty below the threshold."""
    return f"fallback {100 * share:.0f} %" if is_marked(share) else ""


def remedy(failures: Mapping[str, int]) -> str:
    """Returns the most common kind of reply failure and its remedy."""
    if not failures:
        return _REMEDY
    kind = max(sorted(failures), key=lambda name: failures[name])
    return f"mostly {kind} replies: {_REMEDIES.get(kind, _REMEDY)}"


def add_caveats(
    board: Leaderboard,
    outcomes: Sequence[Outcome],
    *,
    max_fallbacks: float,
    absent: Mapping[str, str],
    scheduled: int | None,
    left_over: int,
) -> Leaderboard:
    """Adds the caveats to a leaderboard.

    Args:
        board: leaderboard made from the outcomes alone.
        outcomes: its outcomes, with all seats known.
        max_fallbacks: maximum share of fallback turns; rows above it are withheld and come last.
        absent: why policies were suspended or withdrawn, by name.
        scheduled: number of matches after which the schedule ended; ``None`` while it continues.
        left_over: number of matches after the end of the schedule, not included in ``outcomes``.
    """
    rows = [
        replace(row, fallback_share=share, withheld=share > max_fallbacks, absent=absent.get(row.policy, ""))
        for row in board.rows
        for share in (share_played_for(row.effort),)
    ]
    withheld = {row.policy for row in rows if row.withheld}
    if withheld:
        ranks = ranks_of([row.policy for row in rows if row.rank and not row.withheld], board.established)
        rows = [replace(row, rank=ranks.get(row.policy)) for row in sorted(rows, key=lambda row: row.withheld)]
    return replace(
        board,
        established=tuple(pair for pair in board.established if withheld.isdisjoint(pair)),
        rows=tuple(rows),
        staff=tuple(replace(row, absent=absent.get(row.policy, "")) for row in board.staff),
        max_fallbacks=max_fallbacks,
        scheduled=scheduled,
        left_over=left_over,
        unbalanced=_unbalanced(outcomes),
    )


def counted(outcomes: Iterable[Outcome], scheduled: int | None) -> list[Outcome]:
    """Returns the outcomes of matches before the end of the schedule.

    There may be later matches, since replaying a void match can move the end of the schedule. They are not rated, since
    they can be an incomplete batch.
    """
    return [outcome for outcome in outcomes if scheduled is None or outcome.number < scheduled]


Draw = Callable[[Leaderboard, Sequence[Outcome]], list[Figure]]
"""Returns the figures of a leaderboard, e.g. ``Scheme.figures``."""


def figures(board: Leaderboard, outcomes: Iterable[Outcome], draw: Draw) -> list[Figure]:
    """Returns the figures of the report, without withheld policies."""
    withheld = withheld_policies(board)
    shown = replace(board, rows=tuple(row for row in board.rows if row.policy not in withheld))
    drawn = draw(shown, counted(outcomes, board.scheduled))
    return [figure for one in drawn if (figure := _without(one, withheld)) is not None] if withheld else drawn


def withheld_policies(board: Leaderboard) -> set[str]:
    """Returns the policies whose results are withheld."""
    return {row.policy for row in board.rows if row.withheld}


def shown_matches(board: Leaderboard, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Returns the counted outcomes without withheld policies."""
    withheld = withheld_policies(board)
    return [
        outcome
        for outcome in counted(outcomes, board.scheduled)
        if withheld.isdisjoint(seat.policy for seat in rated_seats(outcome))
    ]


def _without(figure: Figure, names: Collection[str]) -> Figure | None:
    match figure:
        case Trajectories(history, label):
            kept = {name: course for name, course in history.items() if name not in names}
            return Trajectories(kept, label) if kept else None
        case HeadToHead(table):
            return HeadToHead(rows) if (rows := _among_others(table, names)) else None
        case Matrix(means):
            return replace(figure, table=rest) if (rest := _among_others(means, names)) else None
        case _:
            return figure


def _among_others(table: Mapping[str, Mapping[str, Value]], names: Collection[str]) -> dict[str, dict[str, Value]]:
    """Returns a pairwise table without some of its names."""
    return {
        name: {other: value for other, value in row.items() if other not in names}
        for name, row in table.items()
        if name not in names
    }


def notes(board: Leaderboard) -> list[str]:
    """Returns the lines below the table."""
    lines = [_withheld_note(row, board.max_fallbacks) for row in board.rows if row.withheld]
    absent = {row.policy: row.absent for row in board.rows} | {row.policy: row.absent for row in board.staff}
    lines += [f"{policy} is {reason}" for policy, reason in absent.items() if reason]
    if board.unbalanced:
        lines.append(
            f"not on every seat equally often, since matches are void: {', '.join(board.unbalanced)}; `llmarena resume` plays"
            " them"
        )
    if board.left_over:
        lines.append(f"left out: {board.left_over} matches after the end of the schedule")
    return lines


def _withheld_note(row: LeaderboardRow, max_fallbacks: float) -> str:
    return (
        f"{WITHHELD}: {row.policy}: {row.fallback_share:.0%} of its {row.effort.turns} turns were played for it, more than"
        f" max_fallbacks = {max_fallbacks:g}; {remedy(row.effort.failures)}"
    )


def _unbalanced(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Returns the policies with unequal seat counts because of void matches."""
    seats: dict[str, Counter[int]] = {}
    size = 0
    for outcome in outcomes:
        if outcome.status == VOID:
            rated = rated_seats(outcome)
            size = max(size, len(rated))
            for index, seat in enumerate(rated):
                seats.setdefault(seat.policy, Counter())[index] += 1
    return tuple(name for name in sorted(seats) if len({seats[name][index] for index in range(size)}) > 1)


def missing_intervals(estimates: Iterable[Estimate | None]) -> tuple[str, ...]:
    """Returns a note with the reasons if an interval is missing, else nothing."""
    missing = [one for one in estimates if one is not None and one.low is None]
    reasons = []
    if any(one.clusters >= FEWEST_CLUSTERS for one in missing):
        reasons.append("all deals came out alike")
    if any(one.clusters < FEWEST_CLUSTERS for one in missing):
        reasons.append(f"there were fewer than {FEWEST_CLUSTERS} deals")
    return (f"no interval where {' or '.join(reasons)}: that does not tell how others would end",) if reasons else ()


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
    return f"ranks {formatting.ranks(group[0][0], group[-1][0])}"
