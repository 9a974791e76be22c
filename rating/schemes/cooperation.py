"""Cooperation: games with one common reward.

Source: LLMArena (arXiv 2402.16499) for Hanabi in self-play. Cross-play of every pair of policies is added: it shows how much of
a policy's skill depends on private conventions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from rating.schedules.round_robin import cross_play, self_play
from rating.schemes import formatting, seat_groups
from rating.schemes.caveats import missing_intervals
from rating.schemes.figures import Figure, Matrix, estimate_figure, running_means
from rating.schemes.leaderboard import (
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    mean_reward,
    metric_of,
    ranked_by_means,
    row_fields,
)
from rating.schemes.repeating import Repeating
from rating.schemes.seat_groups import SEATS, Places, is_alone
from rating.schemes.stopping import CountRule
from rating.stats.estimates import mean_estimate
from rating.stats.results import finished, rated_seats, rewards
from rating.stats.roles import TeamResult, plus_minus
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.match import Match
from rating.store.outcome import Outcome


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

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        return cooperative_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the seats in matches with others."""
        notes = ("mean reward of the matches with others, by the seat that the policy had in them",)
        return [SEATS._replace(measure=seat_groups.REWARD, notes=notes, counts=lambda outcome: not is_alone(outcome))]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the means in self-play with intervals and running means, and the mean reward of every pair."""
        return cooperative_figures(board, outcomes)


def cooperative_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> Leaderboard:
    """Makes the leaderboard of an environment with one common reward.

    Its rows have the values ``self_play`` (mean reward of the matches in which the policy has all seats), ``cross_play`` (of the
    matches with other policies) and ``plus_minus`` (reward of others with it minus their reward with the average partner,
    adjusted for partners and deals; ``None`` if it is not identifiable).

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
    rows = []
    for policy, matches in by_policy(outcomes).items():
        alone = mean_reward([match for match in matches if _is_self_play(match)], policy)
        values = {
            "self_play": alone,
            "cross_play": mean_reward([match for match in matches if not _is_self_play(match)], policy),
            "plus_minus": added.get(policy),
        }
        rows.append(LeaderboardRow(**row_fields(matches, policy), metric=metric_of(alone), values=values))
    return Leaderboard(
        **common_fields(outcomes, Cooperation.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcome for outcome in outcomes if _is_self_play(outcome))),
        ranked_by="mean reward with itself",
        columns=(*_COLUMNS, *([_PLUS_MINUS] if added else [])),
        notes=("adds to others: least squares over partners and deals; 0 is the average partner",) if added else (),
        caveats=missing_intervals(one for row in rows for one in row.values.values()),
    )


_COLUMNS = (
    LeaderboardColumn("with itself (n)", lambda row: formatting.estimate(row.values["self_play"])),
    LeaderboardColumn("with others (n)", lambda row: formatting.estimate(row.values["cross_play"])),
)
_PLUS_MINUS = LeaderboardColumn("adds to others (n)", lambda row: formatting.estimate(row.values["plus_minus"]), 5)


def cooperative_figures(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
    """Returns the mean self-play rewards with intervals, their running means, and the mean reward of every pair."""
    label = board.ranked_by
    rows = ((row.policy, row.values["self_play"]) for row in board.rows)
    alone = rewards(outcome for outcome in outcomes if _is_self_play(outcome))
    means = estimate_figure(rows, f"{label}, with its 95 % interval")
    return [*means, *running_means(alone, label), *_partners(board, outcomes)]


def _partners(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
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
    policies = [row.policy for row in board.rows]
    table = {one: {other: means.get((min(one, other), max(one, other))) for other in policies} for one in policies}
    return [Matrix(table, "mean common reward of the row with the column")]


def _is_self_play(outcome: Outcome) -> bool:
    return len({seat.policy for seat in rated_seats(outcome)}) == 1
