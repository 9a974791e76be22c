"""Field: every policy on one seat against one fixed policy on all others.

Source: LLMArena (arXiv 2402.16499, section 3.1): models as the undercover, with one model on the other seats of a table of four.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from llmarena_envs.core.options import OptionError
from rating.schedules.batches import Contest
from rating.schedules.field import field_play, seat_under_test
from rating.schemes import formatting, seat_groups
from rating.schemes.base import Repeating
from rating.schemes.caveats import missing_intervals
from rating.schemes.figures import Figure, estimate_figure, running_means
from rating.schemes.leaderboard import (
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    common_fields,
    metric_of,
    ranked_by_means,
    row_fields,
)
from rating.schemes.rewards import statistic_columns
from rating.schemes.seat_groups import SeatGroups
from rating.schemes.stopping import CountRule, SettlingRule
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.results import finished
from rating.stats.simultaneous import DealResult
from rating.store.records import Match, Outcome, SeatOutcome

STANDARD_OPPONENT = "random"


class Field(Repeating):
    """Every policy on every seat, the fixed opponent on all others; the policy has the first role if roles are hidden."""

    name = "field"

    def check(self) -> None:
        """Checks that there are seats for the opponent, and that the opponent is not a newcomer."""
        name, opponent = self.setting.environment.name, self._opponent()
        if opponent in itertools.chain(*self.setting.pool.newcomers):
            raise OptionError(
                f"{name}: expected the opponent, {opponent!r}, among those who were compared from the beginning, or not at all,"
                " but it was added; take it out of the pool (rated = false)"
            )
        if self._contest.seats < 2:
            raise OptionError(f"{name}: scheme 'field': expected two rated seats or more, got 1")

    def least_policies(self, seats: int) -> int:
        """Returns 1."""
        return 1

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns every policy against the field."""
        hidden = self.setting.environment.declaration.hidden_role
        return field_play(contest, opponent=self._opponent(), focus_option=hidden.option if hidden else "")

    def cycle(self, contest: Contest) -> tuple[int, int]:
        """Returns the number of seats: every policy takes each seat once."""
        return contest.seats, contest.seats

    def rule(self, contest: Contest) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the settling rule if the run sets a half-width."""
        return self.mean_rule(lambda outcome: [self.under_test(outcome)], self._opponent())

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the statistic of each seat under test, or whether it won without one."""
        tested = ((outcome, self.under_test(outcome)) for outcome in finished(outcomes))
        return [DealResult(seat.policy, outcome.seed, self._value(seat)) for outcome, seat in tested]

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard; the opponent has a row only if it is tested too.

        Its rows have the values ``wins``, the share of matches in which the seat under test has a positive reward, and ``value``,
        the mean of the statistic over these seats if one is requested.
        """
        statistic = self.setting.value
        tested: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            tested.setdefault(self.under_test(outcome).policy, []).append(outcome)
        rows = []
        for policy, matches in tested.items():
            played = finished(matches)
            seats, seeds = [self.under_test(match) for match in played], [match.seed for match in played]
            reward = mean_estimate([seat.reward for seat in seats], seeds)
            values: dict[str, Estimate | None] = {"wins": bounded_mean([seat.reward > 0 for seat in seats], seeds)}
            if statistic:
                values["value"] = mean_estimate([seat.statistics[statistic] for seat in seats], seeds)
            row = LeaderboardRow(**{**row_fields(matches, policy), "reward": reward}, metric=None, values=values)
            rows.append(replace(row, metric=metric_of(_quoted(row))))
        return Leaderboard(
            **common_fields(outcomes, self.name, stop_reason),
            **ranked_by_means(rows, self.cases(outcomes)),
            ranked_by=statistic or "wins",
            columns=(*statistic_columns(statistic), _WINS, REWARD),
            notes=(f"one seat under test, all others: {self._opponent()}",),
            caveats=missing_intervals(
                one for row in rows for one in (row.values.get("value"), row.values["wins"], row.reward)
            ),
        )

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the seats under test."""
        opponent = self._opponent()

        def under_test(outcome: Outcome, index: int) -> str | None:
            return None if outcome.seats[index].policy == opponent else seat_groups.seat(outcome, index)

        notes = (f"share of matches won by seat; {opponent} has the other seats, and its own tests do not count",)
        return [SeatGroups("seats", under_test, seat_groups.WINS, notes), *super().seat_groups(played)[1:]]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the metric with its intervals, and its running mean for all policies except the opponent."""
        label = f"mean {self.setting.value}" if self.setting.value else "share of wins"
        means = estimate_figure(((row.policy, _quoted(row)) for row in board.rows), f"{label} with its 95 % interval")
        tested = (
            (outcome.number, seat.policy, self._value(seat))
            for outcome in finished(outcomes)
            for seat in outcome.seats
            if seat.policy != self._opponent()
        )
        return [*means, *running_means(tested, label)]

    def under_test(self, outcome: Outcome) -> SeatOutcome:
        """Returns the seat under test."""
        rated = [seat for seat in outcome.seats if seat.rated]
        tested = next((seat for seat in rated if seat.policy != self._opponent()), None)
        return tested or rated[seat_under_test(outcome.number, len(self.setting.pool.founders), len(rated))]

    def _value(self, seat: SeatOutcome) -> float:
        return seat.statistics[self.setting.value] if self.setting.value else float(seat.reward > 0)

    def _opponent(self) -> str:
        return self.setting.pool.opponent or STANDARD_OPPONENT


_WINS = LeaderboardColumn("wins, % (n)", lambda row: formatting.percent(row.values["wins"]))


def _quoted(row: LeaderboardRow) -> Estimate | None:
    """Returns the mean of the statistic, or the share of wins without one."""
    quoted: Estimate | None = row.values.get("value") or row.values["wins"]
    return quoted
