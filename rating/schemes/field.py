"""Field: every policy on one seat against one fixed policy on all others.

Source: LLMArena (arXiv 2402.16499, section 3.1): models as the undercover, with one model on the other seats of a table of four.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from llmarena_envs.core.options import OptionError
from rating.schedules.field import field_play, seat_under_test
from rating.schemes import formatting, seat_groups
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
from rating.schemes.repeating import Repeating
from rating.schemes.seat_groups import Places
from rating.schemes.stopping import LEAST_MATCHES, CountRule, SettlingRule
from rating.stats.estimates import Estimate, bounded_mean, mean_estimate
from rating.stats.results import finished
from rating.stats.simultaneous import DealResult
from rating.store.match import Match
from rating.store.outcome import Outcome, SeatOutcome

STANDARD_OPPONENT = "random"


class Field(Repeating):
    """Every policy on every seat, the fixed opponent on all others; the policy has the first role if roles are hidden."""

    name = "field"

    def check(self) -> None:
        """Checks that there are seats for the opponent, and that the opponent is not a newcomer."""
        if self._opponent() in itertools.chain(*self.setting.newcomers):
            raise OptionError(
                f"{self.setting.environment}: expected the opponent, {self._opponent()!r}, among those who were compared from the"
                " beginning, or not at all, but it was added; take it out of the pool (rated = false)"
            )
        if self._contest.seats < 2:
            raise OptionError(f"{self.setting.environment}: scheme 'field': expected two rated seats or more, got 1")

    def least_policies(self, seats: int) -> int:
        """Returns 1."""
        return 1

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy against the field."""
        hidden = self.setting.declaration.hidden_role
        return field_play(self._contest, opponent=self._opponent(), focus_option=hidden.option if hidden else "")

    def cycle(self) -> tuple[int, int]:
        """Returns the number of seats: every policy takes each seat once."""
        return self._contest.seats, self._contest.seats

    def rule(self) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the settling rule if the run sets a half-width."""
        setting = self.setting
        if setting.half_width is None:
            return self.count_rule(opponent=self._opponent())
        return SettlingRule(
            setting.half_width,
            lambda outcome: [self.under_test(outcome)],
            setting.value,
            min_matches=setting.stop.min_matches or LEAST_MATCHES,
            max_matches=setting.stop.max_matches,
            opponent=self._opponent(),
        )

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the results of the seats under test."""
        return field_cases(outcomes, self.under_test, self.setting.value)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        return field_leaderboard(
            outcomes,
            self.under_test,
            opponent=self._opponent(),
            statistic=self.setting.value,
            stop_reason=stop_reason,
            references=self.setting.references,
        )

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the seats under test."""
        opponent = self._opponent()

        def under_test(outcome: Outcome, index: int) -> str | None:
            return None if outcome.seats[index].policy == opponent else seat_groups.seat(outcome, index)

        notes = (
            f"share of matches won by seat; the other seats are those of {opponent}, whose own tests are not counted",
        )
        return [Places("seats", under_test, seat_groups.WINS, notes), *super().places(played)[1:]]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the metric with its intervals, and its running mean for all policies except the opponent."""
        statistic = self.setting.value
        what = f"mean {statistic}" if statistic else "share of wins"
        means = estimate_figure(((row.policy, _quoted(row)) for row in board.rows), f"{what} with its 95 % interval")
        tested = (
            (outcome.number, seat.policy, seat.statistics[statistic] if statistic else float(seat.reward > 0))
            for outcome in finished(outcomes)
            for seat in outcome.seats
            if seat.policy != self._opponent()
        )
        return [*means, *running_means(tested, what)]

    def under_test(self, outcome: Outcome) -> SeatOutcome:
        """Returns the seat under test."""
        rated = [seat for seat in outcome.seats if seat.rated]
        tested = next((seat for seat in rated if seat.policy != self._opponent()), None)
        return tested or rated[seat_under_test(outcome.number, len(self.setting.founders), len(rated))]

    def _opponent(self) -> str:
        return self.setting.opponent or STANDARD_OPPONENT


def field_cases(
    outcomes: Iterable[Outcome], under_test: Callable[[Outcome], SeatOutcome], statistic: str
) -> list[DealResult]:
    """Returns the statistic of each seat under test, or whether it won without one; arguments as ``field_leaderboard``."""
    tested = ((outcome, under_test(outcome)) for outcome in finished(outcomes))
    return [
        DealResult(seat.policy, outcome.seed, seat.statistics[statistic] if statistic else float(seat.reward > 0))
        for outcome, seat in tested
    ]


def field_leaderboard(
    outcomes: Iterable[Outcome],
    under_test: Callable[[Outcome], SeatOutcome],
    *,
    opponent: str,
    statistic: str = "",
    stop_reason: str = "",
    references: Mapping[str, float] | None = None,
) -> Leaderboard:
    """Makes the leaderboard of policies against a field; the opponent has a row only if it is tested too.

    Its rows have the values ``wins``, the share of matches in which the seat under test has a positive reward, and ``value``, the
    mean of the statistic over these seats if one is requested.

    Args:
        outcomes: all outcomes of the environment, including void ones, in any order; at least one.
        under_test: returns the seat under test of a match.
        opponent: the fixed policy on the other seats.
        statistic: statistic of the environment to average; empty for none.
        stop_reason: why play stopped.
        references: reference values by label.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    tested: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        tested.setdefault(under_test(outcome).policy, []).append(outcome)
    rows = []
    for policy, matches in tested.items():
        played = finished(matches)
        seats, seeds = [under_test(match) for match in played], [match.seed for match in played]
        reward = mean_estimate([seat.reward for seat in seats], seeds)
        wins = bounded_mean([seat.reward > 0 for seat in seats], seeds)
        values: dict[str, Estimate | None] = {"wins": wins}
        if statistic:
            values["value"] = mean_estimate([seat.statistics[statistic] for seat in seats], seeds)
        row = LeaderboardRow(**{**row_fields(matches, policy), "reward": reward}, metric=None, values=values)
        rows.append(replace(row, metric=metric_of(_quoted(row))))
    columns = (
        [LeaderboardColumn(f"{statistic} (n)", lambda row: formatting.estimate(row.values["value"]))]
        if statistic
        else []
    )
    return Leaderboard(
        **common_fields(outcomes, Field.name, stop_reason, references),
        **ranked_by_means(rows, field_cases(outcomes, under_test, statistic)),
        ranked_by=statistic or "wins",
        columns=(*columns, _WINS, REWARD),
        notes=(f"one seat under test, all others: {opponent}",),
        caveats=missing_intervals(
            one for row in rows for one in (row.values.get("value"), row.values["wins"], row.reward)
        ),
    )


_WINS = LeaderboardColumn("wins, % (n)", lambda row: formatting.percent(row.values["wins"]))


def _quoted(row: LeaderboardRow) -> Estimate | None:
    """Returns the mean of the statistic, or the share of wins without one."""
    quoted: Estimate | None = row.values.get("value") or row.values["wins"]
    return quoted
