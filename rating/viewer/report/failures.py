"""Failures by environment and policy: invalid replies, forfeits, and matches that do not count."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from llmarena_envs.core.failures import Failure
from rating.schemes import formatting
from rating.schemes.figures import Grid, Shares
from rating.schemes.leaderboard import ALWAYS
from rating.store.records import BUG, UNDECIDED, VOID, Outcome
from rating.viewer.report.tables import Sheet

_KINDS = [failure.name.lower() for failure in Failure if failure is not Failure.OK]
"""Names of failures, in display order."""

_LONGEST_REASON = 160
"""Maximum characters of a reason."""

_MOST_REASONS = 50
"""Maximum rows of reasons, most frequent first."""


@dataclass
class _Tally:
    """Failure counts of one policy in one environment, with its number of turns."""

    turns: int = 0
    reasks: int = 0
    fallbacks: int = 0
    replies: Counter[str] = field(default_factory=Counter)
    forfeits: Counter[str] = field(default_factory=Counter)
    matches: Counter[str] = field(default_factory=Counter)

    @property
    def is_clean(self) -> bool:
        failed = any(self.matches[status] for status in (VOID, BUG, UNDECIDED))
        return not (failed or self.reasks or self.fallbacks or self.replies or self.forfeits)


def failure_sheet(outcomes: Iterable[Outcome], suspended: Mapping[str, str]) -> Sheet | None:
    """Returns the failures by environment and policy, or ``None`` without failures.

    Args:
        outcomes: outcomes of all environments.
        suspended: reasons by suspended policy.
    """
    tallies = _tallies(outcomes)
    if all(own.is_clean for own in tallies.values()) and not suspended:
        return None
    kinds = _kinds_of(tallies.values())
    columns = ["environment", "policy", "turns", *kinds, "re-asks", "fallbacks", "forfeits", VOID, "bug", UNDECIDED]
    rows = [
        [
            environment,
            policy,
            str(own.turns),
            *(_share(own.replies[kind], own.turns) for kind in kinds),
            _share(own.reasks, own.turns),
            _share(own.fallbacks, own.turns),
            formatting.kinds(dict(sorted(own.forfeits.items()))),
            *(str(own.matches[status] or "") for status in (VOID, BUG, UNDECIDED)),
        ]
        for (environment, policy), own in sorted(tallies.items())
        if not own.is_clean
    ]
    notes = [
        "invalid replies by kind, re-asks and fallbacks: number (per 100 turns); forfeits: matches by kind of failure; recorded"
        " turns of void matches count; policies without failures are left out",
        *(f"{policy} is {reason}" for policy, reason in suspended.items()),
    ]
    return Sheet("Failures", columns, rows, notes, [ALWAYS] * len(columns), texts=2).without_empty_columns(2)


def failure_shares(outcomes: Iterable[Outcome]) -> Shares | None:
    """Returns the invalid replies per 100 turns of every policy, by kind, or ``None`` without any.

    Args:
        outcomes: outcomes of one environment.
    """
    tallies = {policy: own for (_, policy), own in sorted(_tallies(outcomes).items()) if own.replies}
    if not tallies:
        return None
    kinds = _kinds_of(tallies.values())
    rows = [
        (policy, [100 * own.replies[kind] / max(1, own.turns) for kind in kinds]) for policy, own in tallies.items()
    ]
    rows.sort(key=lambda row: (-sum(row[1]), row[0]))
    return Shares(kinds, rows, "invalid replies per 100 turns")


def reasons_grid(reasons: Sequence[tuple[str, str, str, int]]) -> list[Grid]:
    """Returns the table of reasons why matches do not count, or no table without any.

    Args:
        reasons: environment, status, reason and number of matches.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    for environment, status, reason, number in reasons:
        first, *rest = reason.strip().splitlines() or [""]  # the other lines are a traceback
        words = " ".join(first.split())
        is_whole = not rest and len(words) <= _LONGEST_REASON
        short = words if is_whole else f"{words[: _LONGEST_REASON - 1]}…"
        counts[environment, status, short] += number
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if not rows:
        return []
    title = "Why matches do not count"
    if len(rows) > _MOST_REASONS:
        title += f": the commonest {_MOST_REASONS} of {len(rows)} reasons"
    cells_of = [[reason, environment, status, str(number)] for (environment, status, reason), number in rows]
    return [Grid(title, ["reason", "environment", "status", "matches"], cells_of[:_MOST_REASONS])]


def _tallies(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], _Tally]:
    """Returns failure counts by environment and policy, including staff."""
    tallies: dict[tuple[str, str], _Tally] = {}
    for outcome in outcomes:
        for policy in {seat.policy for seat in outcome.seats}:
            tallies.setdefault((outcome.environment, policy), _Tally()).matches[outcome.status] += 1
        for seat in outcome.seats:
            own = tallies[outcome.environment, seat.policy]
            own.turns += seat.turns
            own.reasks += seat.reasks
            own.fallbacks += seat.fallbacks
            if seat.failures:  # most replies are legal moves
                own.replies.update(seat.failures)
            if seat.forfeit:
                own.forfeits[seat.forfeit] += 1
    return tallies


def _kinds_of(tallies: Iterable[_Tally]) -> list[str]:
    found = {kind for own in tallies for kind, count in own.replies.items() if count}
    return [*(kind for kind in _KINDS if kind in found), *sorted(found - set(_KINDS))]


def _share(count: int, turns: int) -> str:
    """Formats a count and its rate per 100 turns: ``3 (1.5)``. Zero is an empty string."""
    if not count:
        return ""
    return f"{count} ({100 * count / turns:.1f})" if turns else str(count)
