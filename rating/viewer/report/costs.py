"""Costs of the models of a run, computed from the call log, the prices and the matches."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.models.calls import CallStatus
from rating.prices import PriceTable
from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS, Leaderboard, headline
from rating.store.calls import Usage
from rating.store.records import PLAYED, Outcome
from rating.viewer.report.tables import Sheet

if TYPE_CHECKING:
    from rating.store.call_log import Calls


OUTSIDE = "outside of matches"

DECIMALS = 8
"""Decimals of numbers in JSON. A call can cost very little."""


@dataclass(frozen=True)
class CostRow:
    """Usage and cost of one policy in one environment.

    Attributes:
        environment: module name; empty for calls outside of matches.
        policy: policy name.
        used: usage of all calls.
        played: usage of calls for completed matches.
        lost: usage of calls for void and unfinished matches and matches with a bug.
        matches: number of its completed matches.
        cost_per_match: mean cost of a completed match; ``None`` if unknown.
        metric: headline metric of the policy in the environment; ``None`` without one.
        efficient: whether no other model is both better and cheaper; ``None`` if unknown.
    """

    environment: str
    policy: str
    used: Usage
    played: Usage
    lost: Usage
    matches: int
    cost_per_match: float | None
    metric: float | None
    efficient: bool | None


@dataclass(frozen=True)
class Costs:
    """Costs of the models of a run.

    Attributes:
        currency: currency of all amounts; empty without prices.
        rows: costs by environment and policy.
        total: usage of all calls.
        lost: usage of calls for matches that were not completed.
        matches: cost of each match by id; ``None`` if unknown. Empty without prices.
        damage: skipped lines of the call log, with reasons.
    """

    currency: str
    rows: tuple[CostRow, ...]
    total: Usage
    lost: Usage
    matches: dict[str, float | None]
    damage: tuple[str, ...]


class Spending:
    """Usage of logged calls by environment, policy and match. Reads a growing log incrementally.

    Args:
        log: call log.
        prices: prices of the models.

    Attributes:
        log: call log.
        prices: prices of the models.
    """

    def __init__(self, log: "Calls", prices: PriceTable) -> None:
        self.log = log
        self.prices = prices
        self._parts: defaultdict[tuple[str, str, str], Usage] = defaultdict(Usage)

    def read(self) -> None:
        """Adds the calls logged since the last read."""
        for logged in self.log.further():
            cost = self.prices.cost(logged.call, logged.time)
            self._parts[logged.environment, logged.policy, logged.match].add(logged.call, cost)

    def by_policy(self, matches: Callable[[str], bool]) -> defaultdict[tuple[str, str], Usage]:
        """Returns the usage by environment and policy, for match ids that ``matches`` accepts."""
        parts: dict[tuple[str, str], list[Usage]] = {}
        for (environment, policy, match), usage in self._parts.items():
            if matches(match):
                parts.setdefault((environment, policy), []).append(usage)
        return defaultdict(Usage, {key: Usage.sum(own) for key, own in parts.items()})

    def by_match(self) -> dict[str, Usage]:
        """Returns the usage by match id."""
        parts: dict[str, list[Usage]] = {}
        for (_, _, match), usage in self._parts.items():
            if match:
                parts.setdefault(match, []).append(usage)
        return {match: Usage.sum(own) for match, own in parts.items()}


def costs(
    spending: Spending, statuses: Mapping[str, str], outcomes: Iterable[Outcome], boards: Sequence[Leaderboard]
) -> Costs | None:
    """Adds up the costs of a run.

    Args:
        spending: usage, already read.
        statuses: match statuses by id.
        outcomes: outcomes of the matches.
        boards: leaderboards of the run.

    Returns:
        The costs, or ``None`` if no model was called.
    """
    prices, damage = spending.prices, spending.log.damage
    used = spending.by_policy(lambda match: True)
    played = spending.by_policy(lambda match: statuses.get(match) in PLAYED)
    lost = spending.by_policy(lambda match: bool(match) and statuses.get(match) not in PLAYED)
    if not used and not damage:
        return None
    matches = Counter(
        (outcome.environment, policy)
        for outcome in outcomes
        if outcome.status in PLAYED
        for policy in {seat.policy for seat in outcome.seats}
    )
    metrics = {(board.environment, policy): metric for board in boards for policy, metric in headline(board).items()}
    per_match = {
        key: usage.cost / matches[key] for key, usage in played.items() if prices and matches[key] and usage.is_exact
    }
    order = {board.environment: index for index, board in enumerate(boards)}
    keys = sorted(used, key=lambda key: (not key[0], order.get(key[0], len(order)), key))
    rows = [
        CostRow(
            environment=environment,
            policy=policy,
            used=used[environment, policy],
            played=played[environment, policy],
            lost=lost[environment, policy],
            matches=matches[environment, policy],
            cost_per_match=per_match.get((environment, policy)),
            metric=metrics.get((environment, policy)),
            efficient=_is_efficient((environment, policy), per_match, metrics),
        )
        for environment, policy in keys
    ]
    total, wasted = Usage.sum(used.values()), Usage.sum(lost.values())
    found = (
        {match: usage.cost if usage.is_exact else None for match, usage in spending.by_match().items()}
        if prices
        else {}
    )
    return Costs(prices.currency, tuple(rows), total, wasted, found, tuple(damage))


def _is_efficient(
    own: tuple[str, str],
    per_match: Mapping[tuple[str, str], float],
    metrics: Mapping[tuple[str, str], float | None],
) -> bool | None:
    """Returns whether a policy is Pareto-efficient in metric and cost; ``None`` if unknown."""
    known = {key: (metrics[key], -cost) for key, cost in per_match.items() if metrics.get(key) is not None}
    if own not in known:
        return None
    others = [values for key, values in known.items() if key[0] == own[0] and key != own]
    return not any(_beats(other, known[own]) for other in others)


def _beats(other: tuple[float | None, float], own: tuple[float | None, float]) -> bool:
    pairs = [(a or 0.0, b or 0.0) for a, b in zip(other, own, strict=True)]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def cost_sheet(found: Costs) -> Sheet:
    """Returns the cost table without empty columns."""
    columns = {
        "environment": ALWAYS,
        "policy": ALWAYS,
        "calls": ALWAYS,
        "failed": 6,
        "cached": 5,
        "tokens in": ALWAYS,
        "of them cached": 3,
        "tokens out": ALWAYS,
        "of them reasoning": 4,
        "usage unknown": 7,
    }
    if found.currency:
        columns |= {f"cost in {found.currency}": ALWAYS, "a match": ALWAYS}
        columns |= {"void or unfinished": 8, "rating": 9, "efficient": 2}
    else:
        columns |= {"tokens of void or unfinished": 8}
    rows = [_row(found, row) for row in found.rows]
    for environment in dict.fromkeys(row.environment for row in found.rows):
        rows += _sums(
            found, environment or OUTSIDE, "all", [row for row in found.rows if row.environment == environment]
        )
    for policy in dict.fromkeys(row.policy for row in found.rows):
        rows += _sums(found, "all", policy, [row for row in found.rows if row.policy == policy])
    rows.append(_sum(found, "total", "", found.total, found.lost))
    table = Sheet("Cost", list(columns), rows, _notes(found), list(columns.values()), texts=2, has_names=True)
    return table.without_empty_columns(0, empty=("", "0"))


def _sums(found: Costs, environment: str, policy: str, parts: Sequence[CostRow]) -> list[list[str]]:
    """Returns a row with the sums of others, or no row for fewer than two."""
    if len(parts) < 2:
        return []
    used, lost = (Usage.sum(getattr(part, name) for part in parts) for name in ("used", "lost"))
    return [_sum(found, environment, policy, used, lost)]


def _sum(found: Costs, environment: str, policy: str, used: Usage, lost: Usage) -> list[str]:
    shown = [environment, policy, *_used(used)]
    return [*shown, money_cell(used), "", money_cell(lost), "", ""] if found.currency else [*shown, _tokens(lost)]


def _row(found: Costs, row: CostRow) -> list[str]:
    shown = [row.environment or OUTSIDE, row.policy, *_used(row.used)]
    if not found.currency:
        return [*shown, _tokens(row.lost)]
    a_match = _amount(row.cost_per_match) if row.cost_per_match is not None else "unknown" if row.environment else ""
    efficient = "" if row.efficient is None else "yes" if row.efficient else "no"
    return [*shown, money_cell(row.used), a_match, money_cell(row.lost), formatting.number(row.metric, 2), efficient]


def _used(usage: Usage) -> list[str]:
    return [
        str(usage.calls),
        formatting.kinds(dict(sorted(usage.errors.items()))),
        str(usage.from_cache or ""),
        formatting.at_least(usage.prompt_tokens, usage.unknown),
        str(usage.cached_tokens or ""),
        formatting.at_least(usage.completion_tokens, usage.unknown),
        str(usage.reasoning_tokens or ""),
        str(usage.unknown or ""),
    ]


def _tokens(usage: Usage) -> str:
    return formatting.at_least(usage.tokens, usage.unknown)


def money_cell(usage: Usage) -> str:
    """Formats a cost: exact, a lower bound, or unknown."""
    if usage.is_exact:
        return _amount(usage.cost)
    return f"at least {_amount(usage.cost)}" if usage.cost else "unknown"


def policy_cells(found: Costs | None, environment: str) -> dict[str, str]:
    """Returns the formatted cost of each policy in an environment, or an empty dict without prices."""
    if found is None or not found.currency:
        return {}
    return {row.policy: money_cell(row.used) for row in found.rows if row.environment == environment}


def total_cells(found: Costs | None) -> dict[str, str]:
    """Returns the formatted cost of each policy in all environments, or an empty dict without prices."""
    if found is None or not found.currency:
        return {}
    policies = dict.fromkeys(row.policy for row in found.rows)
    return {name: money_cell(Usage.sum(row.used for row in found.rows if row.policy == name)) for name in policies}


def match_cells(found: Costs | None) -> dict[str, str]:
    """Returns the formatted cost of each match by id, or an empty dict without prices."""
    known = found.matches if found is not None else {}
    return {match: "unknown" if cost is None else _amount(cost) for match, cost in known.items()}


def _amount(cost: float) -> str:
    return "0" if not cost else f"{cost:.{2 if cost >= 100 else 4 if cost >= 0.01 else 6}f}"


def _notes(found: Costs) -> list[str]:
    notes = ["all calls, including void and unfinished matches, retries and failures"]
    if found.currency:
        notes.append("a match: mean cost of the calls of a completed match")
        if any(row.metric is not None for row in found.rows):
            notes[-1] += "; rating: the value of the policy in the summary of environments"
        if any(row.efficient is not None for row in found.rows):
            notes[-1] += "; efficient: no other model is both better and cheaper"
    else:
        notes.append("no prices: add [[price]] to the run file to show costs, also of a finished run")
    if found.total.unknown:
        notes.append(
            f"{found.total.unknown} calls without usage (failed, cancelled, or not reported by the server): sums are lower bounds"
        )
    if lost := found.total.errors[CallStatus.LOST]:
        notes.append(
            f"{lost} {'call was' if lost == 1 else 'calls were'} in flight when the run was killed: cost unknown"
        )
    if found.currency and found.total.unpriced:
        notes.append(f"{found.total.unpriced} calls have no price")
    if found.damage:
        notes.append(
            f"{len(found.damage)} calls of the log cannot be read and are left out, the first: {found.damage[0]}"
        )
    return notes
