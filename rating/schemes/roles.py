"""Roles: environments with different roles, compared role by role.

The role in a match is part of the agent's name (``writer_0``). Roles dealt in secret are read from a statistic of the
environment at the end (``Declaration.hidden_role``).

A share of wins depends on the other players at the table; the skill does not (``rating.stats.roles``).

Sources: LLMArena (arXiv 2402.16499) for the win rate as undercover; DeepEval (arXiv 2309.04369) for
means over the matches in which a player had a role.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from llmarena_envs.core.declaration import HiddenRole, role_of
from llmarena_envs.core.options import check_choice
from rating.schedules.batches import Contest
from rating.schedules.field import field_play
from rating.schedules.round_robin import everywhere
from rating.schemes import formatting, seat_groups
from rating.schemes.base import Repeating
from rating.schemes.caveats import missing_intervals
from rating.schemes.field import STANDARD_OPPONENT
from rating.schemes.figures import Figure, Matrix, estimate_figure, running_means
from rating.schemes.leaderboard import (
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    means_of,
    metric_of,
    ranked_by_means,
    row_fields,
)
from rating.schemes.seat_groups import SEATS, SeatGroups
from rating.schemes.stopping import CountRule
from rating.stats.estimates import Estimate, Rating, bounded_mean, mean_estimate
from rating.stats.results import finished
from rating.stats.roles import RoleMatch, role_skills
from rating.stats.simultaneous import DealResult
from rating.store.records import Match, Outcome, SeatOutcome

Cast = tuple[Outcome, list[str]]
"""A finished match and the role of each seat."""


class Roles(Repeating):
    """Every policy has every role equally often.

    Named roles: every policy on every rated seat, with and against the others. Hidden roles: every policy in the first role, with
    a fixed policy on all other seats, and vice versa.
    """

    name = "roles"
    parts_add_up = True

    def check(self) -> None:
        """Checks the opponent."""
        if self.setting.environment.declaration.hidden_role is None:
            super().check()
        self.expect_no_value()
        if self.setting.environment.declaration.hidden_role and self.setting.pool.opponent:
            check_choice(
                f"{self.setting.environment.name}: opponent", self.setting.pool.opponent, self.setting.pool.policies
            )

    def least_policies(self, seats: int) -> int:
        """Returns 1 with hidden roles, else the number of rated seats."""
        return seats if self.setting.environment.declaration.hidden_role is None else 1

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns every policy in every role."""
        hidden = self.setting.environment.declaration.hidden_role
        if hidden is None:
            return everywhere(contest)
        return field_play(contest, opponent=self.opponent(), focus_option=hidden.option, both_roles=True)

    def cycle(self, contest: Contest) -> tuple[int, int]:
        """Returns the matches of a policy against all others in both roles, or with hidden roles one per seat in the first role.

        With hidden roles, all policies except the opponent play as many matches again in the other role.
        """
        policies, seats = len(contest.policies), contest.seats
        if self.setting.environment.declaration.hidden_role is None:
            each = 2 * (policies - 1) if seats == 2 else 1
            return each, each
        return seats, 2 * seats if policies > 1 else seats

    def rule(self, contest: Contest) -> CountRule:
        """Returns the number of matches of each policy: in the first role if roles are hidden, else in all roles.

        With hidden roles, the fixed opponent plays only the matches in the first role; other policies play twice as many.
        """
        opponent = self.opponent()
        return self.count_rule(scheduled=2 if opponent else 1, opponent=opponent)

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the result in each role of each finished match; several seats in one role count once.

        With a fixed opponent, a result counts only if the opponent has all seats of the other roles.
        """
        casting, cases = self._casting(), []
        for outcome in finished(outcomes):
            roles = casting.cast(outcome)
            if roles is None:
                continue
            for role in casting.roles:
                inside = [seat for seat, own in zip(outcome.seats, roles, strict=True) if own == role]
                outside = {seat.policy for seat, own in zip(outcome.seats, roles, strict=True) if own != role}
                if casting.opponent and outside != {casting.opponent}:
                    continue
                for policy in sorted({seat.policy for seat in inside}):
                    rewards = [seat.reward for seat in inside if seat.policy == policy]
                    value = float(any(reward > 0 for reward in rewards)) if self._is_won else fmean(rewards)
                    cases.append(DealResult(policy, outcome.seed, value, f"as {role}"))
        return cases

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        Its rows have the values ``roles`` (share of matches won, or mean score, by role, clustered by deal; ``None`` for a role
        that the policy never had), ``skills`` (ratings by role, adjusted for the other players; roles without an estimate are
        missing) and ``overall`` (mean of the skills, if there is one for every role). The facts have the ``advantage`` of the
        side of the first role and the number of ``unclassified`` matches.
        """
        casting, cases = self._casting(), self.cases(outcomes)
        first = casting.roles[0]
        played = finished(outcomes)
        cast = [(outcome, roles) for outcome in played if (roles := casting.cast(outcome))]
        sides = [side for outcome, roles in cast for side in _sides(outcome, roles, first)]
        means = means_of(cases, self._mean)
        fitted = role_skills(sides) if self._is_won else None
        rows = []
        for policy, matches in by_policy(outcomes).items():
            own = {role: means.get((policy, f"as {role}")) for role in casting.roles}
            skills = fitted.skills.get(policy, {}) if fitted else {}
            values = {
                "roles": own,
                "skills": {role: _rating(skill) for role, skill in skills.items()},
                "overall": _rating(fitted.overall[policy]) if fitted and policy in fitted.overall else None,
            }
            rows.append(LeaderboardRow(**row_fields(matches, policy), metric=metric_of(own[first]), values=values))
        unclassified = len(played) - len(cast)
        advantage = fitted.advantage if fitted else None
        return Leaderboard(
            **common_fields(outcomes, self.name, stop_reason),
            **ranked_by_means(rows, [case for case in cases if case.part == f"as {first}"]),
            ranked_by=f"{'wins' if self._is_won else 'score'} as {first}",
            columns=(*_columns(casting.roles, rows, is_share=self._is_won), REWARD),
            notes=_skill_notes(advantage, first) if advantage else (),
            caveats=(
                *([f"{unclassified} matches with unknown roles do not count"] if unclassified else []),
                *missing_intervals(one for row in rows for one in (*row.values["roles"].values(), row.reward)),
            ),
            facts={"advantage": advantage, "unclassified": unclassified},
        )

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the roles, and the seats if roles are hidden, otherwise seats are roles."""
        casting = self._casting()

        def role(outcome: Outcome, index: int) -> str | None:
            cast = casting.cast(outcome)
            return cast[index] if cast else None

        measure = seat_groups.WINS if self._is_won else seat_groups.POINTS
        notes = [f"{measure.label} by role, with any policies on the other seats"]
        if casting.opponent:
            notes.append(f"the leaderboard counts only matches with {casting.opponent} on all seats of the other roles")
        by_role = SeatGroups("roles", role, measure, tuple(notes), casting.roles)
        if casting.hidden is None:
            return [by_role]
        by_seat = ("share of matches won by seat in any role, including the fixed opponent",)
        return [SEATS._replace(measure=seat_groups.WINS, notes=by_seat), by_role]

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the results in the first role with intervals and running means, and the results of every pair."""
        casting = self._casting()
        role = casting.roles[0]
        label = f"{'share of wins' if self._is_won else 'mean score'} as {role}"
        rows = ((row.policy, row.values["roles"][role]) for row in board.rows)
        played = [(outcome, cast) for outcome in finished(outcomes) if (cast := casting.cast(outcome))]
        return [
            *estimate_figure(rows, f"{label} with its 95 % interval"),
            *running_means(self._in_first_role(played, casting), label),
            *self._with_partners(played, [row.policy for row in board.rows], casting.roles),
        ]

    def _in_first_role(self, played: Iterable[Cast], casting: "Casting") -> Iterator[tuple[int, str, float]]:
        """Yields match number, policy and result for each counted seat in the first role."""
        for outcome, cast in played:
            seats = list(zip(outcome.seats, cast, strict=True))
            others = {seat.policy for seat, role in seats if role != casting.roles[0]}
            if not casting.opponent or others == {casting.opponent}:
                for seat, role in seats:
                    if role == casting.roles[0]:
                        yield outcome.number, seat.policy, self._worth(seat)

    def _with_partners(self, played: Iterable[Cast], names: Sequence[str], roles: Sequence[str]) -> list[Figure]:
        """Returns the result of the first role for every pair of policies; an empty list unless there are two seats."""
        cases = []
        for outcome, cast in played:
            if len(cast) != 2 or cast.count(roles[0]) != 1:
                return []
            first = cast.index(roles[0])
            ours, theirs = outcome.seats[first], outcome.seats[1 - first]
            cases.append(DealResult(ours.policy, outcome.seed, self._worth(ours), theirs.policy))
        if not cases:
            return []
        means = means_of(cases, self._mean)
        table = {one: {other: means.get((one, other)) for other in names} for one in names}
        what = "share of wins" if self._is_won else "mean score"
        label = f"{what} of the row as {roles[0]} with the column as {roles[1]}"
        return [Matrix(table, label, percent=self._is_won)]

    @property
    def _is_won(self) -> bool:
        """Whether a positive reward is a win; if not, the reward is a score."""
        return self.setting.environment.declaration.results == "wins"

    def _worth(self, seat: SeatOutcome) -> float:
        return float(seat.reward > 0) if self._is_won else seat.reward

    def _mean(self, values: Sequence[float], deals: Sequence[int]) -> Estimate | None:
        return bounded_mean(values, deals) if self._is_won else mean_estimate(values, deals)

    def _casting(self) -> "Casting":
        declaration = self.setting.environment.declaration
        rated = {role_of(agent): None for agent in self.setting.environment.agents if declaration.is_rated(agent)}
        named = tuple(role for role in declaration.rated_roles if role in rated) or tuple(rated)
        return Casting(named, declaration.hidden_role, self.opponent())

    def opponent(self) -> str:
        """Returns the policy on seats that are not under test; empty if all are."""
        policies = self.setting.pool.founders
        if self.setting.environment.declaration.hidden_role is None:
            return ""
        return self.setting.pool.opponent or (STANDARD_OPPONENT if STANDARD_OPPONENT in policies else policies[0])


@dataclass(frozen=True)
class Casting:
    """The assignment of roles to seats.

    Attributes:
        named: roles of the rated seats by their agents' names.
        hidden: roles dealt in secret, if any.
        opponent: the fixed policy of a field, empty for none. If a hidden role is not recorded, the only seat with another policy
            had the first role.
    """

    named: tuple[str, ...] = ()
    hidden: HiddenRole | None = None
    opponent: str = ""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles, the ranking role first."""
        return self.named if self.hidden is None else tuple(self.hidden.values)

    def cast(self, outcome: Outcome) -> list[str] | None:
        """Returns the role of each seat of a finished match, or ``None`` if unknown."""
        if self.hidden is None:
            roles = [role_of(seat.agent) for seat in outcome.seats]
            return roles if set(roles) <= set(self.named) else None
        first, *others = self.hidden.values
        # A match can end before the environment records the roles; the statistic is then negative.
        if all(seat.statistics.get(self.hidden.statistic, -1) >= 0 for seat in outcome.seats):
            names = {value: role for role, value in self.hidden.values.items()}
            told = [names.get(seat.statistics[self.hidden.statistic], "") for seat in outcome.seats]
            return told if first in told and "" not in told else None
        tested = [seat.policy != self.opponent for seat in outcome.seats]
        return [first if is_tested else others[0] for is_tested in tested] if sum(tested) == 1 else None


def _rating(skill: Estimate) -> Rating:
    return Rating(*skill[:3], is_linked=True)


def _skill_notes(advantage: Estimate, role: str) -> tuple[str, ...]:
    return (
        "skill: in Elo with its 95 % interval, 1000 on average in each role, given who else was at the table",
        f"advantage of the side with the role {role}: {formatting.elo(advantage)}",
    )


def _columns(roles: Sequence[str], rows: Sequence[LeaderboardRow], *, is_share: bool) -> list[LeaderboardColumn]:
    """Returns the columns of the results by role, then of the skills by role."""
    own = [
        LeaderboardColumn(
            f"wins as {role}, % (n)" if is_share else f"score as {role} (n)", _result_cell(role, is_share)
        )
        for role in roles
    ]
    rated = [role for role in roles if any(role in row.values["skills"] for row in rows)]
    return [*own, *(LeaderboardColumn(f"skill as {role}", _skill_cell(role), 5) for role in rated)]


def _result_cell(role: str, is_share: bool) -> Callable[[LeaderboardRow], str]:
    write = formatting.percent if is_share else formatting.estimate
    return lambda row: write(row.values["roles"][role])


def _skill_cell(role: str) -> Callable[[LeaderboardRow], str]:
    return lambda row: formatting.rating(row.values["skills"].get(role))


def _sides(outcome: Outcome, roles: Sequence[str], first: str) -> list[RoleMatch]:
    """Returns the two sides of a match and the winner; an empty list if a side has no players."""
    players = [(seat.policy, role) for seat, role in zip(outcome.seats, roles, strict=True)]
    ours = [seat.reward for seat, role in zip(outcome.seats, roles, strict=True) if role == first]
    theirs = [seat.reward for seat, role in zip(outcome.seats, roles, strict=True) if role != first]
    if not ours or not theirs:
        return []
    lead = fmean(ours) - fmean(theirs)
    return [
        RoleMatch(
            tuple(player for player in players if player[1] == first),
            tuple(player for player in players if player[1] != first),
            0.5 + 0.5 * ((lead > 0) - (lead < 0)),
            outcome.seed,
        )
    ]
