"""Summary over environments: mean scores against the other policies, normalised scores, and averages by ability.

Source: LLMArena (arXiv 2402.16499), Table 1, for the normalised scores; see ``rating.stats.expected_scores`` for the
mean scores.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rating.schemes.caveats import counted
from rating.schemes.leaderboard import Leaderboard, Ranks, headline, ranks_of
from rating.stats import bradley_terry
from rating.stats.bradley_terry import Comparisons
from rating.stats.estimates import Estimate, normalise
from rating.stats.expected_scores import NOBODY, CommonPolicies, established_scores, largest_pool, win_probabilities
from rating.stats.results import rated_seats
from rating.store.environments import load_environment
from rating.store.records import Outcome


class Average(NamedTuple):
    """A mean of n values."""

    value: float
    n: int


@dataclass(frozen=True)
class SummaryRow:
    """One policy.

    Attributes:
        policy: name.
        scores: by environment, 100 for the best policy; ``None`` if it has none.
        average: over the environments in which it has a score.
        abilities: average by ability, over the environments that require it.
        score: mean expected score against the other policies of the pool, 0 to 1; ``None`` outside the pool.
        rank: ranks compatible with the differences of these scores.
        fallback_share: largest share of its turns played by the fallback in an environment.
    """

    policy: str
    scores: dict[str, float | None]
    average: Average | None
    abilities: dict[str, Average | None]
    score: Estimate | None = None
    rank: Ranks | None = None
    fallback_share: float = 0.0


@dataclass(frozen=True)
class Summary:
    """The table.

    Attributes:
        environments: columns, in input order.
        abilities: abilities that an environment of the table requires, sorted.
        rows: best score first, then best average, ties by name.
        averages: by environment, over the policies with a normalised score.
        left_out: environments that cannot be normalised, with the reason.
        pool: environments and policies with mean scores.
        outside: environments and policies outside the pool, with the reason.
    """

    environments: tuple[str, ...]
    abilities: tuple[str, ...]
    rows: tuple[SummaryRow, ...]
    averages: dict[str, Average | None]
    left_out: dict[str, str]
    pool: CommonPolicies = NOBODY
    outside: dict[str, str] = field(default_factory=dict)


def summarise(boards: Iterable[Leaderboard], outcomes: Iterable[Outcome]) -> Summary:
    """Makes the summary from the leaderboards of several environments and the abilities that they declare.

    Args:
        boards: one per environment.
        outcomes: outcomes of the leaderboards, in any order.
    """
    boards = list(boards)
    own: dict[str, list[Outcome]] = {board.environment: [] for board in boards}
    for outcome in outcomes:
        own.get(outcome.environment, []).append(outcome)
    return summarise_comparisons(
        boards,
        {board.environment: _comparisons(counted(own[board.environment], board.scheduled)) for board in boards},
        {name: load_environment(name).declaration.abilities for name in own},
    )


def summarise_comparisons(
    boards: Iterable[Leaderboard], comparisons: Mapping[str, Comparisons], abilities: Mapping[str, Sequence[str]]
) -> Summary:
    """Makes the summary from the leaderboards of several environments and their pairwise results.

    Args:
        boards: one per environment.
        comparisons: results of pairs, by environment.
        abilities: abilities that each environment requires, if known.
    """
    boards = list(boards)
    fits, rated, outside = {}, {}, {}
    for board in boards:
        name, results = board.environment, comparisons[board.environment]
        if np.all(results.score == 0.5):
            outside[name] = "no policy has beaten another"
            continue
        withheld = {row.policy for row in board.rows if row.withheld}
        fits[name] = bradley_terry.standings(results).fitted
        rated[name] = tuple(policy for policy in fits[name].policies if policy not in withheld)
    scores = {board.environment: headline(board) for board in boards}
    table, pool = summarise_scores(scores, abilities), largest_pool(rated)
    found = win_probabilities(fits, pool)
    ranks = ranks_of(pool.policies, established_scores(fits, pool) if pool.policies else ())
    shares: dict[str, float] = {}
    for shown in itertools.chain.from_iterable(board.rows for board in boards):
        shares[shown.policy] = max(shown.fallback_share, shares.get(shown.policy, 0.0))
    rows = [
        replace(row, score=found.get(row.policy), rank=ranks.get(row.policy), fallback_share=shares[row.policy])
        for row in table.rows
    ]
    rows.sort(key=lambda row: -round(row.score.value, 6) if row.score else 1.0)
    return replace(table, rows=tuple(rows), pool=pool, outside={**outside, **_outside(rated, pool)})


def _comparisons(outcomes: Sequence[Outcome]) -> Comparisons:
    """Returns the results of all pairs of seats; a seat advantage is fitted only in two-seat games."""
    two = all(len(rated_seats(outcome)) == 2 for outcome in outcomes)
    return replace(bradley_terry.compare(outcomes), seated=two)


def _outside(rated: Mapping[str, Sequence[str]], pool: CommonPolicies) -> dict[str, str]:
    """Returns why environments and policies are not in the pool."""
    reasons = {}
    for environment, names in rated.items():
        if environment not in pool.environments:
            missing = [policy for policy in pool.policies if policy not in names]
            reasons[environment] = f"no rating of {', '.join(missing) or 'two policies'}"
    if not pool.environments:
        return reasons  # the table already states that the pool is empty
    for policy in sorted({name for names in rated.values() for name in names} - {*pool.policies}):
        missing = [environment for environment in pool.environments if policy not in rated[environment]]
        reasons[policy] = f"no rating in {', '.join(missing)}"
    return reasons


def summarise_scores(
    scores: Mapping[str, Mapping[str, float | None]], abilities: Mapping[str, Sequence[str]]
) -> Summary:
    """Makes the summary from scores.

    An environment whose best score is not above 0 has no normalised scores and is listed in ``left_out``.

    Args:
        scores: by environment, then by policy; larger is better.
        abilities: abilities that each environment requires.
    """
    normalised: dict[str, dict[str, float | None]] = {}
    left_out = {}
    for environment, column in scores.items():
        try:
            normalised[environment] = normalise(column)
        except ValueError as error:
            left_out[environment] = str(error)
    policies = sorted({policy for column in scores.values() for policy in column})
    known = sorted({ability for environment in normalised for ability in abilities.get(environment, ())})
    rows = []
    for policy in policies:
        cells = {environment: column.get(policy) for environment, column in normalised.items()}
        by_ability = {
            ability: _average(cell for environment, cell in cells.items() if ability in abilities.get(environment, ()))
            for ability in known
        }
        rows.append(SummaryRow(policy, cells, _average(cells.values()), by_ability))
    rows.sort(key=lambda row: (row.average is None, -round(row.average.value if row.average else 0.0, 6), row.policy))
    averages = {environment: _average(column.values()) for environment, column in normalised.items()}
    return Summary(tuple(normalised), tuple(known), tuple(rows), averages, left_out)


def _average(cells: Iterable[float | None]) -> Average | None:
    known = [cell for cell in cells if cell is not None]
    return Average(sum(known) / len(known), len(known)) if known else None
