"""Cooperation: games with one common reward.

Source: LLMArena (arXiv 2402.16499) for Hanabi in self-play. Cross-play of every pair of policies is added: it shows how much of
a policy's skill depends on private conventions.
"""

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from rating.schedules.batches import Contest
from rating.schedules.round_robin import cross_play, self_play
from rating.schemes import formatting, seat_groups
from rating.schemes.base import Repeating
from rating.schemes.caveats import missing_intervals
from rating.schemes.figures import Figure, Matrix, estimate_figure, running_means
from rating.schemes.leaderboard import (
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    mean_reward,
    means_of,
    metric_of,
    ranked_by_means,
    row_fields,
)
from rating.schemes.seat_groups import SEATS, SeatGroups, is_alone
from rating.schemes.stopping import CountRule
from rating.stats.results import finished, rated_seats, rewards
from rating.stats.roles import TeamResult, plus_minus
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.records import Match, Outcome


class Cooperation(Repeating):
    """Every policy plays with itself and, in two-seat games, with every other, on the same deals."""

    name = "cooperation"

    def least_policies(self, seats: int) -> int:
        """Returns 1: a policy plays with itself."""
        return 1

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns cross-play for two seats, otherwise self-play."""
        return cross_play(contest) if contest.seats == 2 else self_play(contest)

    def cycle(self, contest: Contest) -> tuple[int, int]:
        """Returns one self-play match of a policy and its cross-play matches in the same cycle."""
        each = 2 * len(contest.policies) - 1 if contest.seats == 2 else 1
        return each, each

    def rule(self, contest: Contest) -> CountRule:
        """Returns the number of self-play matches of each policy; cross-play matches are added."""
        _, each = self.cycle(contest)
        return self.count_rule(counted=each, scheduled=each)

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the rewards in self-play and in cross-play."""
        alone, mixed = _split(outcomes)
        return [*reward_cases(alone, part="with itself"), *reward_cases(mixed, part="with others")]

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        Its rows have the values ``self_play`` (mean reward of the matches in which the policy has all seats), ``cross_play`` (of
        the matches with other policies) and ``plus_minus`` (reward of others with it minus their reward with the average partner,
        adjusted for partners and deals; ``None`` if it is not identifiable).
        """
        alone, mixed = _split(outcomes)
        added = plus_minus(
            TeamResult(
                tuple(seat.policy for seat in outcome.seats),
                fmean(seat.reward for seat in outcome.seats),
                outcome.seed,
            )
            for outcome in finished(mixed)
        )
        rows = []
        for policy, matches in by_policy(outcomes).items():
            own_alone, own_mixed = _split(matches)
            values = {
                "self_play": mean_reward(own_alone, policy),
                "cross_play": mean_reward(own_mixed, policy),
                "plus_minus": added.get(policy),
            }
            metric = metric_of(values["self_play"])
            rows.append(LeaderboardRow(**row_fields(matches, policy), metric=metric, values=values))
        return Leaderboard(
            **common_fields(outcomes, self.name, stop_reason),
            **ranked_by_means(rows, reward_cases(alone)),
            ranked_by="mean reward with itself",
            columns=(*_COLUMNS, *([_PLUS_MINUS] if added else [])),
            notes=("adds to others: least squares over partners and deals; 0 is the average partner",) if added else (),
            caveats=missing_intervals(one for row in rows for one in row.values.values()),
        )

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the seats in matches with others."""
        notes = ("mean reward of the matches with others, by the seat that the policy had in them",)
        return [SEATS._replace(measure=seat_groups.REWARD, notes=notes, counts=lambda outcome: not is_alone(outcome))]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the means in self-play with intervals and running means, and the mean reward of every pair."""
        rows = ((row.policy, row.values["self_play"]) for row in board.rows)
        means = estimate_figure(rows, f"{board.ranked_by}, with its 95 % interval")
        alone, _ = _split(outcomes)
        return [*means, *running_means(rewards(alone), board.ranked_by), *_partners(board, outcomes)]


_COLUMNS = (
    LeaderboardColumn("with itself (n)", lambda row: formatting.estimate(row.values["self_play"])),
    LeaderboardColumn("with others (n)", lambda row: formatting.estimate(row.values["cross_play"])),
)
_PLUS_MINUS = LeaderboardColumn("adds to others (n)", lambda row: formatting.estimate(row.values["plus_minus"]), 5)


def _partners(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
    """Returns the mean common reward of every pair of policies; an empty list without cross-play."""
    cases = []
    for outcome in finished(outcomes):
        if len(outcome.seats) == 2:
            one, other = sorted(seat.policy for seat in outcome.seats)
            cases.append(DealResult(one, outcome.seed, fmean(seat.reward for seat in outcome.seats), other))
    means = means_of(cases)
    if all(one == other for one, other in means):
        return []
    policies = [row.policy for row in board.rows]
    table = {one: {other: means.get((min(one, other), max(one, other))) for other in policies} for one in policies}
    return [Matrix(table, "mean common reward of the row with the column")]


def _split(outcomes: Iterable[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Returns the matches of a policy with itself, and the others."""
    alone: list[Outcome] = []
    mixed: list[Outcome] = []
    for outcome in outcomes:
        (alone if len({seat.policy for seat in rated_seats(outcome)}) == 1 else mixed).append(outcome)
    return alone, mixed
