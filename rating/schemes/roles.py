"""Roles: environments with different roles, compared role by role.

The role in a match is part of the agent's name (``writer_0``). Roles dealt in secret are read from a statistic of the
environment at the end (``Declaration.hidden_role``).

A share of wins depends on the other players at the table; the skill does not (``rating.statistics.role_skill``).

Sources: LLMArena (arXiv 2402.16499) for the win rate as undercover; DeepEval (arXiv 2309.04369) for
means over the matches in which a player had a role.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from llmarena_envs.core.declaration import HiddenRole, role_of
from llmarena_envs.core.options import check_choice
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.everywhere import everywhere
from rating.schedules.field import field_play
from rating.schemes import cells
from rating.schemes.course import running_means
from rating.schemes.field import STANDARD_OPPONENT
from rating.schemes.figures import Figure, Matrix, estimate_figure
from rating.schemes.leaderboard import (
    REWARD,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    by_policy,
    common_fields,
    ranked_by_means,
    row_fields,
)
from rating.schemes.missing import missing_intervals
from rating.schemes.repeating import Repeating
from rating.schemes.stopping import CountRule
from rating.statistics.bounded import bounded_mean
from rating.statistics.estimates import Z_95, Estimate, mean_estimate
from rating.statistics.paired_means import DealResult
from rating.statistics.results import finished
from rating.statistics.role_skill import RoleMatch, Skill, role_skills


@dataclass(frozen=True, kw_only=True)
class RoleRow(LeaderboardRow):
    """A policy of an environment with roles.

    Attributes:
        roles: share of matches won, or mean score, by role, clustered by deal, the ranking role first; several seats of a match
            in one role count once. ``None`` for a role that it never had.
        skills: in Elo, by role, adjusted for the other players; a role without an estimate is missing.
        overall: mean of its skills, if it has one in every role.
    """

    roles: dict[str, Estimate | None]
    skills: dict[str, Skill] = field(default_factory=dict)
    overall: Skill | None = None

    @property
    def quoted(self) -> Estimate | None:
        """The share of wins or the mean score in the first role."""
        return next(iter(self.roles.values()))


@dataclass(frozen=True, kw_only=True)
class RoleLeaderboard(Leaderboard):
    """The leaderboard of an environment with roles.

    Attributes:
        results: kind of the roles' values: ``wins`` or ``scores``.
        roles: the roles, the ranking role first.
        casting: assignment of roles to seats.
        unclassified: finished matches with unknown roles, which count for no role.
        advantage: of the side of the first role between average players, in Elo; ``None`` if no skills are fitted.
        advantage_low: lower end of its 95 % interval.
        advantage_high: upper end.
    """

    rows: Sequence[RoleRow]
    results: str
    roles: tuple[str, ...]
    casting: "Casting"
    unclassified: int
    advantage: float | None = None
    advantage_low: float | None = None
    advantage_high: float | None = None

    def columns(self) -> list[LeaderboardColumn]:
        """Returns the results and the skills by role, and the mean reward."""
        if self.results == "wins":
            own = [LeaderboardColumn(f"wins as {role}, % (n)", _Cell(role, percent=True)) for role in self.roles]
        else:
            own = [LeaderboardColumn(f"score as {role} (n)", _Cell(role, percent=False)) for role in self.roles]
        rated = [role for role in self.roles if any(role in row.skills for row in self.rows)]
        return [*own, *(LeaderboardColumn(f"skill as {role}", _SkillCell(role), 5) for role in rated), REWARD]

    def ranked_by(self) -> str:
        """Names the result in the first role."""
        return f"{'wins' if self.results == 'wins' else 'score'} as {self.roles[0]}"

    def notes(self) -> list[str]:
        """Returns notes on the skills, on unclassified matches and on missing intervals."""
        notes = []
        if self.advantage is not None:
            notes += [
                "skill: in Elo with its 95 % interval, 1000 on average in each role, given who else was at the table",
                f"advantage of the side with the role {self.roles[0]}: {cells.number(self.advantage, 0)} Elo"
                f" [{cells.number(self.advantage_low, 0)}, {cells.number(self.advantage_high, 0)}]",
            ]
        if self.unclassified:
            notes.append(f"{self.unclassified} matches in which it is not known who had which role count for none")
        return notes + missing_intervals(value for row in self.rows for value in (*row.roles.values(), row.reward))

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the results in the first role with their intervals, their running means, and the results of every pair."""
        role = self.roles[0]
        what = "share of wins" if self.results == "wins" else "mean score"
        rows = ((row.policy, row.roles[role]) for row in self.rows)
        means = estimate_figure(rows, f"{what} as {role} with its 95 % interval")
        played = [(outcome, cast) for outcome in finished(outcomes) if (cast := self.casting.cast(outcome))]
        return [*means, *running_means(self._in_first_role(played), f"{what} as {role}"), *self._company(played)]

    def _in_first_role(self, played: Iterable[tuple[Outcome, list[str]]]) -> Iterator[tuple[int, str, float]]:
        """Yields match number, policy and result for each counted seat in the first role."""
        for outcome, cast in played:
            seats = list(zip(outcome.seats, cast, strict=True))
            others = {seat.policy for seat, role in seats if role != self.roles[0]}
            if not self.casting.opponent or others == {self.casting.opponent}:
                for seat, role in seats:
                    if role == self.roles[0]:
                        yield outcome.number, seat.policy, self._worth(seat.reward)

    def _company(self, played: Iterable[tuple[Outcome, list[str]]]) -> list[Figure]:
        """Returns the result of the first role for every pair of policies; an empty list unless there are two seats."""
        cases: dict[tuple[str, str], list[DealResult]] = {}
        for outcome, cast in played:
            if len(cast) != 2 or cast.count(self.roles[0]) != 1:
                return []
            first = cast.index(self.roles[0])
            ours, theirs = outcome.seats[first], outcome.seats[1 - first]
            case = DealResult(ours.policy, outcome.seed, self._worth(ours.reward))
            cases.setdefault((ours.policy, theirs.policy), []).append(case)
        if not cases:
            return []
        names = [row.policy for row in self.rows]
        table = {one: {other: _estimate(cases.get((one, other), []), self.results) for other in names} for one in names}
        is_share = self.results == "wins"
        what = "share of wins" if is_share else "mean score"
        label = f"{what} of the row as {self.roles[0]} with the column as {self.roles[1]}"
        return [Matrix(table, label, percent=is_share)]

    def _worth(self, reward: float) -> float:
        return float(reward > 0) if self.results == "wins" else reward


@dataclass(frozen=True)
class _Cell:
    """Writes the value of a role."""

    role: str
    percent: bool

    def __call__(self, row: RoleRow) -> str:
        value = row.roles[self.role]
        return cells.percent(value) if self.percent else cells.estimate(value)


@dataclass(frozen=True)
class _SkillCell:
    """Writes the skill in a role."""

    role: str

    def __call__(self, row: RoleRow) -> str:
        skill = row.skills.get(self.role)
        return "" if skill is None else f"{skill.rating:.0f} [{skill.low:.0f}, {skill.high:.0f}]"


class Roles(Repeating):
    """Every policy has every role equally often.

    Named roles: every policy on every rated seat, with and against the others. Hidden roles: every policy in the first role, with
    a fixed policy on all other seats, and vice versa.
    """

    name = "roles"
    parts_add_up = True

    def check(self) -> None:
        """Checks the opponent."""
        if self.setting.declaration.hidden_role is None:
            super().check()
        self.expect_no("value", "since only the schemes 'field' and 'mean_reward' average a statistic")
        if self.setting.declaration.hidden_role and self.setting.opponent:
            check_choice(f"{self.setting.environment}: opponent", self.setting.opponent, self.setting.policies)

    def least_policies(self, seats: int) -> int:
        """Returns 1 with hidden roles, else the number of rated seats."""
        return seats if self.setting.declaration.hidden_role is None else 1

    def batches(self) -> Iterator[list[Match]]:
        """Returns every policy in every role."""
        hidden = self.setting.declaration.hidden_role
        if hidden is None:
            return everywhere(self._contest)
        return field_play(self._contest, opponent=self.opponent(), focus_option=hidden.option, both_roles=True)

    def cycle(self) -> tuple[int, int]:
        """Returns the matches of a policy against all others in both roles, or with hidden roles one per seat in the first role.

        With hidden roles, all policies except the opponent play as many matches again in the other role.
        """
        seats = self._contest.seats
        if self.setting.declaration.hidden_role is None:
            each = 2 * (len(self.setting.policies) - 1) if seats == 2 else 1
            return each, each
        return seats, 2 * seats if len(self.setting.policies) > 1 else seats

    def rule(self) -> CountRule:
        """Returns the number of matches of each policy: in the first role if roles are hidden, else in all roles.

        With hidden roles, the fixed opponent plays only the matches in the first role; other policies play twice as many.
        """
        opponent = self.opponent()
        return self.count_rule(scheduled=2 if opponent else 1, opponent=opponent)

    def cases(self, outcomes: Sequence[Outcome]) -> list[DealResult]:
        """Returns the results in each role."""
        return role_cases(outcomes, self._casting(), self.setting.declaration.results)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> RoleLeaderboard:
        """Makes the leaderboard."""
        return role_leaderboard(
            outcomes,
            self._casting(),
            results=self.setting.declaration.results,
            stop_reason=stop_reason,
            references=self.setting.references,
        )

    def _casting(self) -> "Casting":
        declaration = self.setting.declaration
        rated = {role_of(agent): None for agent in self.setting.agents if declaration.is_rated(agent)}
        named = tuple(role for role in declaration.rated_roles if role in rated) or tuple(rated)
        return Casting(named, declaration.hidden_role, self.opponent())

    def opponent(self) -> str:
        """Returns the policy on seats that are not under test; empty if all are."""
        policies = self.setting.founders
        if self.setting.declaration.hidden_role is None:
            return ""
        return self.setting.opponent or (STANDARD_OPPONENT if STANDARD_OPPONENT in policies else policies[0])


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
    references: Mapping[str, float] | None = None,
) -> RoleLeaderboard:
    """Makes the leaderboard of an environment with roles.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        casting: assignment of roles to seats. With a fixed opponent, a policy's results in a role count only in matches in which
            the opponent has all seats of the other roles.
        results: ``wins`` if a positive reward is a win, ``scores`` if the reward is a score.
        stop_reason: why play stopped.
        references: reference values by label.

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
    rows = [
        RoleRow(
            **row_fields(matches, policy),
            roles={role: _estimate(cases.get((policy, f"as {role}"), []), results) for role in casting.roles},
            skills=fitted.skills.get(policy, {}) if fitted else {},
            overall=fitted.overall.get(policy) if fitted else None,
        )
        for policy, matches in by_policy(outcomes).items()
    ]
    return RoleLeaderboard(
        **common_fields(outcomes, Roles.name, stop_reason, references),
        **ranked_by_means(
            rows, itertools.chain(*(cases.get((row.policy, f"as {casting.roles[0]}"), []) for row in rows))
        ),
        results=results,
        roles=casting.roles,
        casting=casting,
        unclassified=len(finished(outcomes)) - len(cast),
        advantage=fitted.advantage if fitted else None,
        advantage_low=fitted.advantage - Z_95 * fitted.advantage_error if fitted else None,
        advantage_high=fitted.advantage + Z_95 * fitted.advantage_error if fitted else None,
    )


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
