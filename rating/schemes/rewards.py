"""Mean rewards: games whose payoff is the metric, against others or in self-play.

Source: LLMArena (arXiv 2402.16499) for bid.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rating.schedules.round_robin import everywhere, self_play
from rating.schemes import formatting, seat_groups
from rating.schemes.base import ADAPTIVE
from rating.schemes.caveats import missing_intervals
from rating.schemes.duels import ratings_of
from rating.schemes.figures import Figure, estimate_figure, pair_figure, running_means
from rating.schemes.leaderboard import (
    RATING,
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    metric_of,
    ranked_by_means,
    row_fields,
    with_ranks,
)
from rating.schemes.repeating import Repeating
from rating.schemes.seat_groups import SEATS, Places, is_common
from rating.schemes.stopping import LEAST_MATCHES, CountRule, SettlingRule
from rating.stats.bradley_terry import Comparisons, compare, standings
from rating.stats.estimates import Estimate, mean_estimate
from rating.stats.results import WinDrawLoss, duels, finished, rewards
from rating.stats.simultaneous import DealResult, reward_cases
from rating.store.match import Match
from rating.store.outcome import Outcome

COMPANY = (
    "the tables were chosen by results, so each policy had co-players of its own: compare ratings; no difference of means is"
    " established"
)


class MeanReward(Repeating):
    """Every policy plays every seat on the same deals, for a fixed number of matches or until the means are precise enough."""

    name = "mean_reward"
    can_adapt = True
    rivals = True

    def check(self) -> None:
        """Checks that there is no fixed opponent."""
        self.expect_no("opponent", "since policies are compared by playing each other here")

    def least_policies(self, seats: int) -> int:
        """Returns the number of rated seats, since a policy has at most one seat in a match."""
        return seats

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy on every seat."""
        return everywhere(self._contest)

    def has_choice(self) -> bool:
        """Returns whether tables can be chosen: only with three or more seats; two-seat games compare means on common deals."""
        return self._contest.seats > 2 and super().has_choice()

    def cycle(self) -> tuple[int, int]:
        """Returns the matches of a policy in a cycle: both seats against every other policy, or every seat of a full table."""
        policies, seats = len(self.setting.policies), self._contest.seats
        each = 2 * (policies - 1) if seats == 2 else seats if policies == seats else 1
        return each, each

    def rule(self) -> CountRule | SettlingRule:
        """Returns the number of matches of each policy, or the settling rule if the run sets a half-width."""
        setting = self.setting
        if setting.half_width is None:
            return self.count_rule()
        return SettlingRule(
            setting.half_width,
            lambda outcome: outcome.seats,
            setting.value,
            min_matches=setting.stop.min_matches or LEAST_MATCHES,
            max_matches=setting.stop.max_matches,
        )

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the statistic, or the rewards without one."""
        return reward_cases(outcomes, self.setting.value)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        setting = self.setting
        board = reward_leaderboard(
            outcomes, statistic=setting.value, stop_reason=stop_reason, references=setting.references
        )
        if self.setting.schedule == ADAPTIVE and self.has_choice():
            board = replace(board, rows=with_ranks(board.rows, ()), established=(), caveats=(COMPANY, *board.caveats))
        return board

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the seats: the mean reward at tables of three or more, else the score."""
        if len(played[0].seats) == 2:
            return super().places(played)
        return [SEATS._replace(measure=seat_groups.REWARD, notes=("mean reward by seat",)), *super().places(played)[1:]]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the means with their intervals and running means, and the results of every pair."""
        return reward_figures(board, outcomes, self.setting.value)

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs at tables of three or more."""
        return tables_of_many(outcomes)


def reward_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    statistic: str = "",
    stop_reason: str = "",
    references: Mapping[str, float] | None = None,
) -> Leaderboard:
    """Makes the leaderboard of an environment whose metric is the mean reward, or the mean of a statistic.

    Its rows have the value ``value``, the mean of the statistic if one is requested. Ratings are of tables of three or more.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        statistic: statistic of the environment to average; empty for none.
        stop_reason: why play stopped.
        references: reference values by label, e.g. the expected payoff in equilibrium.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    pairs = tables_of_many(outcomes)
    found = standings(pairs) if pairs.policies else None
    ratings = ratings_of(found)
    values = statistic_means(outcomes, statistic) if statistic else {}
    rows = []
    for policy, matches in by_policy(outcomes).items():
        common, value = row_fields(matches, policy), values.get(policy)
        rows.append(
            LeaderboardRow(
                **common,
                metric=metric_of(value or common["reward"]),
                rating=ratings.get(policy),
                values={"value": value} if statistic else {},
            )
        )
    columns = (
        [LeaderboardColumn(f"{statistic} (n)", lambda row: formatting.estimate(row.values["value"]))]
        if statistic
        else []
    )
    return Leaderboard(
        **common_fields(outcomes, MeanReward.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcomes, statistic)),
        ranked_by=f"mean {statistic or 'reward'}",
        columns=(*columns, REWARD, *([RATING._replace(importance=5)] if ratings else [])),
        notes=(_RATING_NOTE,) if ratings else (),
        caveats=(
            *(found.notes if found else ()),
            *missing_intervals(one for row in rows for one in (row.values.get("value"), row.reward)),
        ),
    )


_RATING_NOTE = (
    "rating: Bradley-Terry in Elo, mean 1000, of all pairs at a table by their rewards, equal ones half a win each; its 95 %"
    " interval is clustered by deal"
)


def reward_figures(board: Leaderboard, outcomes: Sequence[Outcome], statistic: str = "") -> list[Figure]:
    """Returns the mean rewards with their intervals, their running means, and pairwise comparisons of rewards."""
    label = board.ranked_by
    rows = ((row.policy, row.values.get("value") or row.reward) for row in board.rows)
    means = estimate_figure(rows, f"{label} with its 95 % interval")
    names = [row.policy for row in board.rows]
    return [*means, *running_means(rewards(outcomes, statistic), label), *pair_figure(names, compare(outcomes))]


def statistic_means(outcomes: Sequence[Outcome], statistic: str) -> dict[str, Estimate | None]:
    """Returns the mean of a statistic by match, clustered by deal, for every policy with a finished match."""
    seeds = {outcome.number: outcome.seed for outcome in outcomes}
    values: dict[str, list[float]] = {}
    deals: dict[str, list[int]] = {}
    for number, policy, value in rewards(outcomes, statistic):
        values.setdefault(policy, []).append(value)
        deals.setdefault(policy, []).append(seeds[number])
    return {policy: mean_estimate(own, deals[policy]) for policy, own in values.items()}


def tables_of_many(outcomes: Iterable[Outcome]) -> Comparisons:
    """Returns the results of all pairs at tables of three or more, without a seat advantage."""
    return replace(compare(outcome for outcome in finished(outcomes) if len(outcome.seats) > 2), seated=False)


class SelfPlay(Repeating):
    """Every policy on all rated seats, a fixed number of matches."""

    name = "self_play"

    def least_policies(self, seats: int) -> int:
        """Returns 1."""
        return 1

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy in self-play."""
        return self_play(self._contest)

    def rule(self) -> CountRule:
        """Returns the number of matches of each policy."""
        return self.count_rule()

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        return self_play_leaderboard(outcomes, stop_reason=stop_reason, references=self.setting.references)

    def places(self, played: Sequence[Outcome]) -> list[Places]:
        """Returns the seats, unless all seats of a match have a common reward."""
        seats, *others = super().places(played)
        own = [] if all(map(is_common, played)) else [seats._replace(alone=True)]
        return [*own, *(place._replace(alone=True) for place in others)]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the mean rewards with their intervals, and their running means."""
        return self_play_figures(board, outcomes)


def self_play_leaderboard(
    outcomes: Iterable[Outcome], *, stop_reason: str = "", references: Mapping[str, float] | None = None
) -> Leaderboard:
    """Makes the leaderboard of policies in self-play.

    Its rows have the value ``first``: wins, ties and losses of the first of two seats, including forfeits; ``None`` with another
    number of seats.

    Args:
        outcomes: all outcomes of the environment, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        references: reference values by label.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    rows = []
    for policy, matches in by_policy(outcomes).items():
        common = row_fields(matches, policy)
        values = {"first": _first_seat(matches)}
        rows.append(LeaderboardRow(**common, metric=metric_of(common["reward"]), values=values))
    return Leaderboard(
        **common_fields(outcomes, SelfPlay.name, stop_reason, references),
        **ranked_by_means(rows, reward_cases(outcomes)),
        ranked_by="mean reward",
        columns=(LeaderboardColumn("first W/D/L", lambda row: formatting.tally(row.values["first"]), 7), REWARD),
        caveats=missing_intervals(row.reward for row in rows),
    )


def self_play_figures(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
    """Returns the mean rewards with their intervals, and their running means."""
    means = estimate_figure(((row.policy, row.reward) for row in board.rows), "mean reward with its 95 % interval")
    return [*means, *running_means(rewards(outcomes), "mean reward")]


def _first_seat(matches: Sequence[Outcome]) -> WinDrawLoss | None:
    if any(sum(seat.rated for seat in outcome.seats) != 2 for outcome in matches):
        return None
    tally = WinDrawLoss()
    for duel in duels(matches, with_itself=True):
        tally = tally.add(duel.score)
    return tally
