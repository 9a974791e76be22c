"""Leaderboards: what the outcomes of one environment say about its policies, as typed rows.

A leaderboard is a function of the outcomes alone, whatever order they are in. Void matches change nothing but their own
count. What cannot be computed is ``None``, never a number made up for it.

===============  ===========================================================================  =====================
kind             for                                                                          sorted by
===============  ===========================================================================  =====================
``duels``        matches between two players                                                  Bradley-Terry rating
``mean_reward``  games whose payoff is the metric, with any number of players (bid)           mean reward
``cooperation``  games with one common reward (hanabi)                                        mean reward with itself
``roles``   games in which one seat has a role of its own                                win rate in that role
===============  ===========================================================================  =====================

Sources: LLMArena (arXiv 2402.16499) for the metrics (L-2); see the rating modules for theirs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from llmarena_envs.core.options import check_choice
from rating.records.outcome import BUG, FINISHED, VOID, Outcome
from rating.schemes.leaderboard_rows import (
    CooperativeLeaderboard,
    CooperativeRow,
    Effort,
    Leaderboard,
    RoleLeaderboard,
    RoleRow,
    Row,
    SkillLeaderboard,
    SkillRow,
    metric,
)
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Comparisons
from rating.statistics.estimates import Estimate, Tally, mean_estimate, position_bias, rate_estimate, tallies
from rating.statistics.results import duels, finished
from rating.statistics.trueskill_rating import TrueSkillOptions, permutation_spread, rate


def leaderboard(outcomes: Iterable[Outcome], *, kind: str = "duels", **details: Any) -> Leaderboard:
    """Makes the leaderboard of one environment.

    Args:
        outcomes: all its outcomes, void ones included, in any order; at least one.
        kind: see the module's documentation.
        details: arguments of the kind's function, e.g. ``stop_reason``.

    Raises:
        ValueError: if there are no outcomes, or they do not suit the kind.
    """
    check_choice("kind", kind, KINDS)
    return KINDS[kind](outcomes, **details)


def skill_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    stop_reason: str = "",
    trueskill: TrueSkillOptions | None = None,
    model: BradleyTerryOptions | None = None,
    permutations: int = 20,
    seed: int = 0,
) -> SkillLeaderboard:
    """Makes the leaderboard of a two-player environment.

    Args:
        outcomes: as for ``leaderboard``.
        stop_reason: why no more matches were played.
        trueskill: parameters of TrueSkill.
        model: what Bradley-Terry fits.
        permutations: number of random orders of the matches for the spread of mu.
        seed: of those orders and of the resampling.
    """
    outcomes = list(outcomes)
    common = _common(outcomes, "duels", stop_reason)
    model = model or BradleyTerryOptions()
    results = duels(outcomes)
    by_policy = tallies(results)
    comparisons = bradley_terry.compare(outcomes)
    fitted, clusters = _fit(comparisons, model) if results else (None, 0)
    without_ties = bradley_terry.fit(comparisons, replace(model, ties="drop")) if results else None
    online = rate(outcomes, trueskill).ratings
    spread = permutation_spread(outcomes, trueskill, permutations=permutations, seed=seed)
    rows = []
    for policy, matches in _by_policy(outcomes).items():
        first, second = by_policy.get(policy, (Tally(), Tally()))
        rated = fitted if policy in by_policy else None
        low, high = rated.interval(policy) if rated else (None, None)
        mu, sigma = online.get(policy, (None, None))
        rows.append(
            SkillRow(
                **_row(matches, policy, seed),
                rating=_rating(rated, policy),
                low=low,
                high=high,
                rating_without_ties=_rating(without_ties if rated else None, policy),
                mu=mu,
                sigma=sigma,
                spread=spread.get(policy),
                tally=Tally(*(a + b for a, b in zip(first, second, strict=True))),
                first=first,
                second=second,
            )
        )
    bias = position_bias(outcomes)
    half = bradley_terry.Z_95 * fitted.seat_error if fitted else 0.0
    return SkillLeaderboard(
        **common,
        rows=_ranked(rows, lambda row: row.rating),
        connected=fitted.connected if fitted else False,
        regularised=fitted.regularised if fitted else False,
        interval="wider" if clusters else "model",
        clusters=clusters,
        seat_advantage=fitted.seat_advantage if fitted else None,
        seat_low=fitted.seat_advantage - half if fitted else None,
        seat_high=fitted.seat_advantage + half if fitted else None,
        position=Tally(bias.first, bias.ties, bias.second),
        first_share=bias.first_share,
        permutations=permutations,
    )


def reward_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None, seed: int = 0
) -> Leaderboard:
    """Makes the leaderboard of an environment whose metric is the mean reward.

    Args:
        outcomes: as for ``leaderboard``.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are, e.g. the expected payoff in equilibrium.
        seed: of the resampling.
    """
    outcomes = list(outcomes)
    rows = [Row(**_row(matches, policy, seed)) for policy, matches in _by_policy(outcomes).items()]
    return Leaderboard(
        **_common(outcomes, "mean_reward", stop_reason),
        rows=_ranked(rows, metric),
        references=dict(references or {}),
    )


def cooperative_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None, seed: int = 0
) -> CooperativeLeaderboard:
    """Makes the leaderboard of an environment with one common reward.

    Args:
        outcomes: as for ``leaderboard``.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are.
        seed: of the resampling.
    """
    outcomes = list(outcomes)
    rows = [
        CooperativeRow(
            **_row(matches, policy, seed),
            self_play=_reward([match for match in matches if _is_self_play(match)], policy, seed),
            cross_play=_reward([match for match in matches if not _is_self_play(match)], policy, seed),
        )
        for policy, matches in _by_policy(outcomes).items()
    ]
    return CooperativeLeaderboard(
        **_common(outcomes, "cooperation", stop_reason),
        rows=_ranked(rows, metric),
        references=dict(references or {}),
    )


def role_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    stop_reason: str = "",
    references: Mapping[str, float] | None = None,
    role_statistic: str = "role",
    opponent: str = "",
    seed: int = 0,
) -> RoleLeaderboard:
    """Makes the leaderboard of an environment with a role of its own for one seat.

    A match is won by a seat whose reward is above 0.

    Args:
        outcomes: as for ``leaderboard``.
        stop_reason: why no more matches were played.
        references: values to compare with, by what they are.
        role_statistic: name of the seat statistic that is 1 for the role and 0 for the others.
        opponent: the fixed policy of a ``field`` schedule: a policy's rates count only matches in which it is on one side
            and ``opponent`` on the other. Where the statistic is missing, the only seat with another policy has the role.
        seed: of the resampling.
    """
    outcomes = list(outcomes)
    won: dict[str, list[bool]] = {}
    won_otherwise: dict[str, list[bool]] = {}
    unclassified = 0
    for outcome in finished(outcomes):
        roles = _roles(outcome, role_statistic, opponent)
        if not any(roles):
            unclassified += 1
            continue
        focus = {seat.policy for seat, has_role in zip(outcome.seats, roles, strict=True) if has_role}
        rest = {seat.policy for seat, has_role in zip(outcome.seats, roles, strict=True) if not has_role}
        others: dict[str, bool] = {}
        for seat, has_role in zip(outcome.seats, roles, strict=True):
            if has_role:
                if not opponent or rest == {opponent}:
                    won.setdefault(seat.policy, []).append(seat.reward > 0)
            elif not opponent or focus == {opponent}:
                others[seat.policy] = others.get(seat.policy, False) or seat.reward > 0
        for policy, victory in others.items():
            won_otherwise.setdefault(policy, []).append(victory)
    rows = [
        RoleRow(
            **_row(matches, policy, seed),
            win_rate=_share(won.get(policy, [])),
            other_win_rate=_share(won_otherwise.get(policy, [])),
        )
        for policy, matches in _by_policy(outcomes).items()
    ]
    return RoleLeaderboard(
        **_common(outcomes, "roles", stop_reason),
        rows=_ranked(rows, metric),
        references=dict(references or {}),
        unclassified=unclassified,
    )


KINDS: dict[str, Callable[..., Leaderboard]] = {
    "duels": skill_leaderboard,
    "mean_reward": reward_leaderboard,
    "cooperation": cooperative_leaderboard,
    "roles": role_leaderboard,
}
"""Leaderboards by kind."""


def _by_policy(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the outcomes of each policy's matches, by its name."""
    table: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for policy in {seat.policy for seat in outcome.seats}:
            table.setdefault(policy, []).append(outcome)
    return dict(sorted(table.items()))


def _is_self_play(outcome: Outcome) -> bool:
    return len({seat.policy for seat in outcome.seats}) == 1


def _common(outcomes: list[Outcome], kind: str, stop_reason: str) -> dict[str, Any]:
    environments = sorted({outcome.environment for outcome in outcomes})
    if len(environments) != 1:
        raise ValueError(f"expected the outcomes of one environment, got {', '.join(environments) or 'none'}")
    status = Counter(outcome.status for outcome in outcomes)
    return {
        "environment": environments[0],
        "kind": kind,
        "matches": status[FINISHED],
        "void_matches": status[VOID],
        "bug_matches": status[BUG],
        "stop_reason": stop_reason,
    }


def _row(matches: list[Outcome], policy: str, seed: int) -> dict[str, Any]:
    return {"policy": policy, "reward": _reward(matches, policy, seed), "effort": _effort(matches, policy)}


def _reward(matches: list[Outcome], policy: str, seed: int) -> Estimate | None:
    """Returns the mean reward by match; a match in which the policy has several seats counts once, with their mean."""
    rewards, seeds = [], []
    for outcome in finished(matches):
        own = [seat.reward for seat in outcome.seats if seat.policy == policy]
        if own:
            rewards.append(sum(own) / len(own))
            seeds.append(outcome.seed)
    return mean_estimate(rewards, seeds, seed=seed)


def _effort(matches: list[Outcome], policy: str) -> Effort:
    status = Counter(outcome.status for outcome in matches)
    seats = [seat for outcome in finished(matches) for seat in outcome.seats if seat.policy == policy]
    failures: Counter[str] = Counter()
    for seat in seats:
        failures.update(seat.failures)
    return Effort(
        matches=status[FINISHED],
        turns=sum(seat.turns for seat in seats),
        forfeits=dict(sorted(Counter(seat.forfeit for seat in seats if seat.forfeit).items())),
        failures=dict(sorted(failures.items())),
        reasks=sum(seat.reasks for seat in seats),
        fallbacks=sum(seat.fallbacks for seat in seats),
        prompt_tokens=sum(seat.prompt_tokens for seat in seats),
        completion_tokens=sum(seat.completion_tokens for seat in seats),
        void_matches=status[VOID],
        bug_matches=status[BUG],
    )


def _fit(comparisons: Comparisons, model: BradleyTerryOptions) -> tuple[BradleyTerryFit, int]:
    """Returns the fit with the wider one of both standard errors, and the number of clusters if there are both.

    The robust error is too small for few deals, the one of the model where matches of a deal are alike.
    """
    fitted = bradley_terry.fit(comparisons, model)
    robust = bradley_terry.clustered(fitted, comparisons) if fitted.connected else None
    if robust is None:
        return fitted, 0
    wider = np.maximum(fitted.errors, robust.errors)
    return (
        replace(fitted, covariance=np.diag(wider**2), seat_error=max(fitted.seat_error, robust.seat_error)),
        robust.clusters,
    )


def _rating(fitted: BradleyTerryFit | None, policy: str) -> float | None:
    return float(fitted.ratings[fitted.policies.index(policy)]) if fitted else None


def _roles(outcome: Outcome, role_statistic: str, opponent: str) -> list[bool]:
    """Says for each seat whether it has the role; for none if that is not known."""
    if all(seat.statistics.get(role_statistic, -1) >= 0 for seat in outcome.seats):
        return [seat.statistics[role_statistic] == 1 for seat in outcome.seats]
    tested = [seat.policy != opponent for seat in outcome.seats]
    return tested if sum(tested) == 1 else [False] * len(tested)


def _share(hits: list[bool]) -> Estimate | None:
    return rate_estimate(sum(hits), len(hits))


_AnyRow = TypeVar("_AnyRow", bound=Row)


def _ranked(rows: list[_AnyRow], metric: Callable[[_AnyRow], float | None]) -> tuple[_AnyRow, ...]:
    """Sorts by the metric, best first and missing last, then by name; differences below rounding are none."""

    def key(row: _AnyRow) -> tuple[bool, float, str]:
        value = metric(row)
        return value is None, -round(value or 0.0, 6), row.policy

    return tuple(sorted(rows, key=key))
