"""Tournament: Swiss rounds of two-player pairings, judged by the best other policies, rated by Bradley-Terry.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1).
"""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from llmarena_envs.core.declaration import role_of
from rating.schedules.batches import Contest
from rating.schedules.committee import Committee
from rating.schedules.schedule import Schedule
from rating.schedules.swiss import Pair, Swiss, SwissPlan
from rating.schemes.figures import Figure
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.pause import FIRST_MATCHES
from rating.schemes.scheme import Scheme
from rating.schemes.staff import seat_staff
from rating.schemes.tournament_board import (
    Stage,
    current_ratings,
    rating_path,
    tournament_figures,
    tournament_leaderboard,
)
from rating.schemes.tournament_rules import TournamentRules
from rating.stats.bradley_terry import Comparisons, compare
from rating.store.outcome import Outcome

JUDGES_OPTION = "n_judges"
"""The option set to the number of committee members; an environment without it needs a judge on every judge seat."""


class Tournament(Scheme):
    """Pairs policies of similar strength, round by round.

    If the environment has judges and the run does not name them, the best other policies by the current ranking judge, chosen
    anew for every pairing.
    """

    name = "tournament"
    rivals = True

    def check(self) -> None:
        """Checks names, the two rated seats, and that every possible pair has enough judges."""
        for key in ("opponent", "value", "seats"):
            self.expect_no(key, "since policies play each other in a tournament")
        setting = self.setting
        self._contest.check(f"{setting.environment}, whose players meet in a tournament", policies=2, seats=2)
        self._rules.check(setting.policies)
        present = self._plan.field
        pairs = list(itertools.combinations(present, 2))
        for newcomer in (None, *self._rules.newcomers):
            if newcomer is not None:
                pairs = [(newcomer, name) for name in present]
                present.append(newcomer)
            for pair in pairs:
                self.staffed(pair, present)

    def least_policies(self, seats: int) -> int:
        """Returns 2: ratings need an opponent."""
        return 2

    def idle_stop_note(self, said: Collection[str]) -> str:
        """Returns a note that stopping settings have no effect."""
        return f"[stop] ({', '.join(sorted(said))}) has no effect on a {self.name}, which ends with its last round"

    @property
    def first_matches(self) -> int:
        """Number of matches of the first round, since a pairing has only two policies."""
        return max(FIRST_MATCHES, len(self._plan.field) // 2 * self._plan.matches)

    def schedule(self) -> Schedule:
        """Returns a new schedule."""
        return Swiss(self._contest, self._plan, self.current_ratings, self.staffed, self.setting.withdrawn)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> Leaderboard:
        """Makes the leaderboard."""
        return tournament_leaderboard(outcomes, self._plan, ties=self._rules.ties, stop_reason=stop_reason)

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the ratings, their course and the results of every pair."""
        return tournament_figures(board, outcomes)

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs."""
        return compare(outcomes)

    def current_ratings(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        """Returns the ratings for pairings and committees, of policies with a finished match."""
        return current_ratings(outcomes, self._rules.ties)

    def path(self, outcomes: Iterable[Outcome]) -> tuple[Stage, ...]:
        """Returns the ratings after every complete pairing; outcomes of other environments are ignored."""
        return rating_path(self.own(outcomes), self._plan, self._rules.ties)

    def staff(self) -> Mapping[int, str]:
        """Returns no staff: it depends on the pairing."""
        return {}

    def agents(self, count: int) -> tuple[str, ...]:
        """Returns the seats of a match with ``count`` seats; with fewer judges, the last judge seats are omitted."""
        missing = self._judges[len(self._judges) + count - len(self.setting.agents) :]
        return tuple(agent for agent in self.setting.agents if agent not in missing)

    def staffed(self, pair: Pair, ranking: Sequence[str]) -> Contest:
        """Returns the contest with the staff of a pair.

        Args:
            pair: the two players.
            ranking: all policies present, best first.

        Raises:
            OptionError: if there are too few judges, or the run names no policy for another role.
        """
        setting, role, seats = self.setting, self._judge_role, len(self._judges)
        if not seats or role in setting.staff:
            return self._served(setting.agents, setting.staff)
        rules, is_adjustable = self._rules, JUDGES_OPTION in setting.takes
        least = rules.min_judges if rules.min_judges is not None and is_adjustable else seats
        committee = Committee(seats, least, rules.exclude, rules.families, rules.exclude_family)
        members = committee.members(ranking, pair)
        agents = self.agents(len(setting.agents) - seats + len(members))
        served = self._served(agents, {**setting.staff, role: members})
        if not is_adjustable:
            return served
        return replace(served, options={**setting.options, JUDGES_OPTION: len(members)})

    def _served(self, agents: Sequence[str], staff: Mapping[str, Sequence[str]]) -> Contest:
        seated = seat_staff(self.setting.environment, agents, self.setting.declaration, staff)
        return replace(self._contest, staff=seated)

    @property
    def _rules(self) -> TournamentRules:
        return self.setting.tournament or TournamentRules()

    @cached_property
    def _plan(self) -> SwissPlan:
        rules = self._rules
        return SwissPlan(rules.scores(self.setting.policies), rules.newcomers, rules.questions, rules.paired)

    @property
    def _judges(self) -> list[str]:
        return [agent for agent in self.setting.agents if role_of(agent) == self._judge_role]

    @property
    def _judge_role(self) -> str:
        verdicts = self.setting.declaration.verdicts
        return verdicts.role if verdicts else "judge"
