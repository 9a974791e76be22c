"""Roles: environments with different roles, compared role by role.

The role in a match is part of the agent's name (``writer_0``). Roles dealt in secret are read from a statistic of the
environment at the end (``Declaration.hidden_role``).

A share of wins depends on the other players at the table; the skill does not (``rating.stats.roles``).

Sources: LLMArena (arXiv 2402.16499) for the win rate as undercover; DeepEval (arXiv 2309.04369) for
means over the matches in which a player had a role.
"""

import itertools
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
from rating.store.records import Match, Outcome


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
        """Returns the results in each role."""
        return role_cases(outcomes, self._casting(), self.setting.environment.declaration.results)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard."""
        results = self.setting.environment.declaration.results
        return role_leaderboard(outcomes, self._casting(), results=results, stop_reason=stop_reason)

    def seat_groups(self, played: Sequence[Outcome]) -> list[SeatGroups]:
        """Returns the roles, and the seats if roles are hidden, otherwise seats are roles."""
        casting = self._casting()

        def role(outcome: Outcome, index: int) -> str | None:
            cast = casting.cast(outcome)
            return cast[index] if cast else None

        is_share = self.setting.environment.declaration.results == "wins"
        measure = seat_groups.WINS if is_share else seat_groups.POINTS
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
        casting, results = self._casting(), self.setting.environment.declaration.results
        role = casting.roles[0]
        label = f"{'share of wins' if results == 'wins' else 'mean score'} as {role}"
        rows = ((row.policy, row.values["roles"][role]) for row in board.rows)
        played = [(outcome, cast) for outcome in finished(outcomes) if (cast := casting.cast(outcome))]
        names = [row.policy for row in board.rows]
        return [
            *estimate_figure(rows, f"{label} with its 95 % interval"),
            *running_means(_in_first_role(played, casting, results), label),
            *_with_partners(played, names, casting.roles, results),
        ]

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


def role_cases(outcomes: Iterable[Outcome], casting: Casting, results: str) -> list[DealResult]:
    """Returns the result of each policy in each role of each finished match; several seats in one role count once.

    Args:
        outcomes: of the environment, in any order.
        casting: as for the leaderboard.
        results: as for the leaderboard.
    """
    cases = []
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
                value = float(any(reward > 0 for reward in rewards)) if results == "wins" else fmean(rewards)
                cases.append(DealResult(policy, outcome.seed, value, f"as {role}"))
    return cases


def role_leaderboard(
    outcomes: Iterable[Outcome],
    casting: Casting,
    *,
    results: str = "wins",
    stop_reason: str = "",
) -> Leaderboard:
    """Makes the leaderboard of an environment with roles.

    Its rows have the values ``roles`` (share of matches won, or mean score, by role, clustered by deal; ``None`` for a role that
    the policy never had), ``skills`` (ratings by role, adjusted for the other players; roles without an estimate are missing)
    and ``overall`` (mean of the skills, if there is one for every role). The facts have the ``advantage`` of the side of the
    first role and the number of ``unclassified`` matches.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        casting: assignment of roles to seats. With a fixed opponent, a policy's results in a role count only in matches in which
            the opponent has all seats of the other roles.
        results: ``wins`` if a positive reward is a win, ``scores`` if the reward is a score.
        stop_reason: why play stopped.

    Raises:
        ValueError: if there are no outcomes.
    """
    outcomes = list(outcomes)
    cast = [(outcome, roles) for outcome in finished(outcomes) if (roles := casting.cast(outcome))]
    sides = [side for outcome, roles in cast for side in _sides(outcome, roles, casting.roles[0])]
    cases: dict[tuple[str, str], list[DealResult]] = {}
    for case in role_cases(outcomes, casting, results):
        cases.setdefault((case.policy, case.part), []).append(case)
    fitted = role_skills(sides) if results == "wins" else None
    rows = []
    for policy, matches in by_policy(outcomes).items():
        own = {role: _estimate(cases.get((policy, f"as {role}"), []), results) for role in casting.roles}
        skills = fitted.skills.get(policy, {}) if fitted else {}
        values = {
            "roles": own,
            "skills": {role: _rating(skill) for role, skill in skills.items()},
            "overall": _rating(fitted.overall[policy]) if fitted and policy in fitted.overall else None,
        }
        metric = metric_of(next(iter(own.values())))
        rows.append(LeaderboardRow(**row_fields(matches, policy), metric=metric, values=values))
    first = casting.roles[0]
    unclassified = len(finished(outcomes)) - len(cast)
    advantage = fitted.advantage if fitted else None
    return Leaderboard(
        **common_fields(outcomes, Roles.name, stop_reason),
        **ranked_by_means(rows, itertools.chain(*(cases.get((row.policy, f"as {first}"), []) for row in rows))),
        ranked_by=f"{'wins' if results == 'wins' else 'score'} as {first}",
        columns=(*_columns(casting.roles, rows, results), REWARD),
        notes=_skill_notes(advantage, first) if advantage else (),
        caveats=(
            *([_unclassified_note(unclassified)] if unclassified else []),
            *missing_intervals(one for row in rows for one in (*row.values["roles"].values(), row.reward)),
        ),
        facts={"advantage": advantage, "unclassified": unclassified},
    )


def _rating(skill: Estimate) -> Rating:
    return Rating(*skill[:3], is_linked=True)


def _skill_notes(advantage: Estimate, role: str) -> tuple[str, ...]:
    value, low, high = (formatting.number(number, 0) for number in advantage[:3])
    return (
        "skill: in Elo with its 95 % interval, 1000 on average in each role, given who else was at the table",
        f"advantage of the side with the role {role}: {value} Elo [{low}, {high}]",
    )


def _unclassified_note(matches: int) -> str:
    return f"{matches} matches with unknown roles do not count"


def _columns(roles: Sequence[str], rows: Sequence[LeaderboardRow], results: str) -> list[LeaderboardColumn]:
    """Returns the columns of the results by role, then of the skills by role."""
    is_share = results == "wins"
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


Cast = tuple[Outcome, list[str]]
"""A finished match and the role of each seat."""


def _in_first_role(played: Iterable[Cast], casting: Casting, results: str) -> Iterator[tuple[int, str, float]]:
    """Yields match number, policy and result for each counted seat in the first role."""
    for outcome, cast in played:
        seats = list(zip(outcome.seats, cast, strict=True))
        others = {seat.policy for seat, role in seats if role != casting.roles[0]}
        if not casting.opponent or others == {casting.opponent}:
            for seat, role in seats:
                if role == casting.roles[0]:
                    yield outcome.number, seat.policy, _worth(seat.reward, results)


def _with_partners(played: Iterable[Cast], names: Sequence[str], roles: Sequence[str], results: str) -> list[Figure]:
    """Returns the result of the first role for every pair of policies; an empty list unless there are two seats."""
    cases: dict[tuple[str, str], list[DealResult]] = {}
    for outcome, cast in played:
        if len(cast) != 2 or cast.count(roles[0]) != 1:
            return []
        first = cast.index(roles[0])
        ours, theirs = outcome.seats[first], outcome.seats[1 - first]
        case = DealResult(ours.policy, outcome.seed, _worth(ours.reward, results))
        cases.setdefault((ours.policy, theirs.policy), []).append(case)
    if not cases:
        return []
    table = {one: {other: _estimate(cases.get((one, other), []), results) for other in names} for one in names}
    is_share = results == "wins"
    what = "share of wins" if is_share else "mean score"
    return [Matrix(table, f"{what} of the row as {roles[0]} with the column as {roles[1]}", percent=is_share)]


def _worth(reward: float, results: str) -> float:
    return float(reward > 0) if results == "wins" else reward


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


def _estimate(cases: Sequence[DealResult], results: str) -> Estimate | None:
    values, deals = [case.value for case in cases], [case.deal for case in cases]
    return bounded_mean(values, deals) if results == "wins" else mean_estimate(values, deals)
