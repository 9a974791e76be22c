"""Cooperation: games with one common reward.

Source: LLMArena (arXiv 2402.16499) for Hanabi in self-play. Cross-play of every pair of policies is added: it shows how much of
a policy's skill depends on private conventions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.cross_play import cross_play
from rating.schedules.self_play import self_play
from rating.schemes import cells
from rating.schemes.course import running_means
from rating.schemes.figures import Figure, Matrix, estimate_figure
from rating.schemes.leaderboard import (
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    mean_reward,
    ranked_by_means,
    row_fields,
)
from rating.schemes.missing import missing_intervals
from rating.schemes.repeating import Repeating
from rating.schemes.stopping import CountRule
from rating.statistics.estimates import Estimate, mean_estimate
from rating.statistics.paired_means import DealResult, reward_cases
from rating.statistics.plus_minus import TeamResult, plus_minus
from rating.statistics.results import finished, rated_seats, rewards


@dataclass(frozen=True, kw_only=True)
class CooperativeRow(LeaderboardRow):
    """A policy of a cooperative environment.

    Attributes:
        self_play: mean reward of the matches in which it has all seats.
        cross_play: mean reward of its matches with other policies.
        plus_minus: reward of others with it minus their reward with the average partner, adjusted for partners and deals;
            ``None`` if it is not identifiable.
    """

    self_play: Estimate | None
    cross_play: Estimate | None
    plus_minus: Estimate | None = None

    @property
    def quoted(self) -> Estimate | None:
        """The mean reward in self-play."""
        return self.self_play


@dataclass(frozen=True, kw_only=True)
class CooperativeLeaderboard(Leaderboard):
    """The leaderboard of a cooperative environment."""

    rows: Sequence[CooperativeRow]

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the mean rewards in self-play and in cross-play, and the plus-minus."""
        columns = [
            LeaderboardColumn("with itself (n)", lambda row: cells.estimate(row.self_play)),
            LeaderboardColumn("with others (n)", lambda row: cells.estimate(row.cross_play)),
        ]
        if any(row.plus_minus for row in self.rows):
            columns.append(LeaderboardColumn("adds to others (n)", lambda row: cells.estimate(row.plus_minus), 5))
        return columns

    def ranked_by(self) -> str:
        """Names the self-play result."""
        return "mean reward with itself"

    def notes(self) -> list[str]:
        """Returns notes on the plus-minus and on missing intervals."""
        notes = []
        if any(row.plus_minus for row in self.rows):
            notes.append("adds to others: least squares over partners and deals; 0 is the average partner")
        return notes + missing_intervals(
            value for row in self.rows for value in (row.self_play, row.cross_play, row.plus_minus)
        )

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean self-play rewards with intervals, their running means, and the mean reward of every pair."""
        rows = ((row.policy, row.self_play) for row in self.rows)
        means = estimate_figure(rows, "mean reward with itself, with its 95 % interval")
        alone = rewards(outcome for outcome in outcomes if _is_self_play(outcome))
        return [*means, *running_means(alone, "mean reward with itself"), *self._partners(outcomes)]

    def _partners(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean common reward of every pair of policies; an empty list without cross-play."""
        cases: dict[tuple[str, str], tuple[list[float], list[int]]] = {}
        for outcome in finished(outcomes):
            names = sorted({seat.policy for seat in outcome.seats})
            if len(outcome.seats) == 2:
                values, deals = cases.setdefault((names[0], names[-1]), ([], []))
                values.append(fmean(seat.reward for seat in outcome.seats))
                deals.append(outcome.seed)
        if all(one == other for one, other in cases):
            return []
        means = {pair: mean_estimate(*own) for pair, own in cases.items()}
        policies = [row.policy for row in self.rows]
        table = {one: {other: means.get((min(one, other), max(one, other))) for other in policies} for one in policies}
        return [Matrix(table, "mean common reward of the row with the column")]


class Cooperation(Repeating):
    """Every policy plays with itself and, in two-seat games, with every other, on the same deals."""

    name = "cooperation"

    def least_policies(self, seats: int) -> int:
        """Returns 1: a policy plays with itself."""
        return 1

    def batches(self) -> Iterator[list[Match]]:
        """Returns cross-play for two seats, otherwise self-play."""
        return cross_play(self._contest) if self._contest.seats == 2 else self_play(self._contest)

    def cycle(self) -> tuple[int, int]:
        """Returns one self-play match of a policy and its cross-play matches in the same cycle."""
        each = 2 * len(self.setting.policies) - 1 if self._contest.seats == 2 else 1
        return each, each

    def rule(self) -> CountRule:
        """Returns the number of self-play matches of each policy; cross-play matches are added."""
        _, each = self.cycle()
        return self.count_rule(counted=each, scheduled=each)

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the rewards in self-play and in cross-play."""
        alone = [outcome for outcome in outcomes if _is_self_play(outcome)]
        mixed = [outcome for outcome in outcomes if not _is_self_play(outcome)]
        return [*reward_cases(alone, part="with itself"), *reward_cases(mixed, part="with others")]

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> CooperativeLeaderboard:
        """Makes the leaderboard."""
        return cooperative_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)


def cooperative_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> CooperativeLeaderboard:
    """Makes the leaderboard of an environment with one common reward.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        references: reference values by label.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    added = plus_minus(
        TeamResult(
            tuple(seat.policy for seat in outcome.seats),
            fmean(seat.reward for seat in outcome.seats),
            outcome.seed,
        )
        for outcome in finished(outcomes)
        if not _is_self_play(outcome)
    )
    rows = [
        CooperativeRow(
            **row_fields(matches, policy),
            self_play=mean_reward([match for match in matches if _is_self_play(match)], policy),
            cross_play=mean_reward([match for match in matches if not _is_self_play(match)], policy),
            plus_minus=added.get(policy),
        )
        for policy, matches in by_policy(outcomes).items()
    ]
    return CooperativeLeaderboard(
        **common_fields(outcomes, Cooperation.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcome for outcome in outcomes if _is_self_play(outcome))),
    )


def _is_self_play(outcome: Outcome) -> bool:
    return len({seat.policy for seat in rated_seats(outcome)}) == 1
