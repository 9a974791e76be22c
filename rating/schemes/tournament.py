"""Tournament: Swiss rounds of two-player pairings, judged by the best other policies, rated by Bradley-Terry.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1).
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from llmarena_envs.core.declaration import role_of
from rating.schedules.batches import Contest, Schedule
from rating.schedules.swiss import START, Pairing, Swiss, TournamentRules, rounds_for
from rating.schemes import formatting
from rating.schemes.base import Scheme
from rating.schemes.duels import Duels, skill_leaderboard
from rating.schemes.figures import Figure, Grid, Trajectories, pair_figure, rating_figure
from rating.schemes.leaderboard import Leaderboard, LeaderboardColumn, LeaderboardRow, ranked, ranks_of
from rating.schemes.setting import seat_staff
from rating.schemes.stopping import FIRST_MATCHES
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, compare
from rating.stats.results import rated_seats
from rating.stats.trueskill import elo
from rating.store.records import VOID, Outcome


class Stage(NamedTuple):
    """The state of a tournament after a pairing.

    Attributes:
        matches: number of matches played until then.
        pair: the two players.
        ratings: by policy, for the policies present at that time.
    """

    matches: int
    pair: tuple[str, str]
    ratings: dict[str, float]


def _rating_of(row: LeaderboardRow) -> float | None:
    return row.rating.value if row.rating else None


def _rating_without_ties(row: LeaderboardRow) -> float | None:
    rating = row.values["rating_without_ties"]
    return rating.value if rating else None


_COLUMNS = (
    LeaderboardColumn("Elo", lambda row: formatting.number(row.values["elo"], 0), 8, wide=True),
    LeaderboardColumn("byes", lambda row: str(row.values["byes"]), 5, wide=True),
    LeaderboardColumn("rematches", lambda row: str(row.values["rematches"]), 5, wide=True),
)


def model(ties: str) -> BradleyTerryOptions:
    """Returns the Bradley-Terry options: no prior, and no seat advantage, since both policies have each seat equally often."""
    return BradleyTerryOptions(prior_sd=None, seat_term=False, ties=ties)


def _rematches(path: Sequence[Stage]) -> list[Stage]:
    met, again = set[frozenset[str]](), []
    for stage in path:
        if frozenset(stage.pair) in met:
            again.append(stage)
        met.add(frozenset(stage.pair))
    return again


JUDGES_OPTION = "n_judges"
"""The option set to the number of committee members; an environment without it needs a judge on every judge seat."""


class Tournament(Scheme):
    """Pairs policies of similar strength, round by round.

    If the environment has judges and the run does not name them, the best other policies by the current ranking judge, chosen
    anew for every pairing.
    """

    name = "tournament"
    rivals = True
    places_newcomers = True
    with_seats = Duels.name

    def check(self) -> None:
        """Checks names, the two rated seats, and that every possible pair has enough judges."""
        pool = self.setting.pool
        for key, got in (("opponent", pool.opponent), ("value", self.setting.value), ("seats", pool.seats)):
            self.expect_no(key, got, "since policies play each other in a tournament")
        name = self.setting.environment.name
        self._contest.check(f"{name}, whose players meet in a tournament", policies=2, seats=2)
        self._rules.check(pool.policies)
        present = self._field
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
        return max(FIRST_MATCHES, len(self._field) // 2 * self._rules.matches)

    def schedule(self) -> Schedule:
        """Returns a new schedule."""
        return Swiss(self._contest, self._rules, self.current_ratings, self.staffed, self.setting.pool.withdrawn)

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard.

        In addition to ``skill_leaderboard``, its rows have the values ``elo`` (online, K = 4), ``byes`` (rounds without a match)
        and ``rematches`` (pairings with a policy that it had met before); its facts have ``rounds``, ``newcomers`` and ``path``
        (see ``path``). The metric is the rating.
        """
        rules, ties = self._rules, self._rules.ties
        skill = skill_leaderboard(outcomes, model=model("half"), stop_reason=stop_reason)
        path = self.path(outcomes)
        online, byes = elo(outcomes), self._byes(path)
        again = Counter(name for stage in _rematches(path) for name in stage.pair)
        rows = []
        for row in skill.rows:
            own = {"elo": online.get(row.policy), "byes": byes[row.policy], "rematches": again[row.policy]}
            rows.append(replace(row, metric=_rating_of(row), values={**row.values, **own}))
        pairs = skill.established
        if ties == "drop" and skill.matches:
            pairs = bradley_terry.standings(compare(outcomes), model(ties)).established
            ranks = ranks_of([row.policy for row in rows if row.rank], pairs)
            rows = [replace(row, rank=ranks.get(row.policy)) for row in rows]
        return replace(
            skill,
            scheme=self.name,
            ranked_by="rating" if ties == "half" else "rating without ties",
            rows=ranked(rows, _rating_of if ties == "half" else _rating_without_ties),
            established=pairs,
            columns=(*skill.columns, *_COLUMNS),
            notes=(*self._notes(path), *skill.notes),
            wide_notes=(*skill.wide_notes, "Elo: online, K = 4, in match order"),
            facts={**skill.facts, "rounds": rounds_for(len(self._field)), "newcomers": rules.newcomers, "path": path},
        )

    def _notes(self, path: Sequence[Stage]) -> list[str]:
        """Returns the lines on the schedule."""
        rules, rounds = self._rules, rounds_for(len(self._field))
        pairings = f"{len(path)} pairing{'' if len(path) == 1 else 's'}"
        played = f"{rounds} Swiss round{'' if rounds == 1 else 's'}, {pairings} complete"
        if rules.newcomers:
            played += f"; placed afterwards: {', '.join(rules.newcomers)}"
        counted = {"half": "counts as half a win of each", "drop": "is left out"}[rules.ties]
        again = [" and ".join(stage.pair) for stage in _rematches(path)]
        return [
            played,
            f"pairings, judges and ranks use ratings; in these a tie {counted}",
            *([f"met again: {', '.join(again)}"] if again else []),
        ]

    def _byes(self, path: Sequence[Stage]) -> Counter[str]:
        """Returns the number of completed rounds that each policy of the field did not play."""
        field = self._field
        size, byes = len(field) // 2, Counter[str]()
        for number in range(min(rounds_for(len(field)), len(path) // size)):
            playing = {name for stage in path[number * size : (number + 1) * size] for name in stage.pair}
            byes.update(set(field) - playing)
        return byes

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the ratings, their course and the results of every pair."""
        path: tuple[Stage, ...] = board.facts["path"]
        course = _course(path, [row.policy for row in board.rows]) if path else []
        pairs = pair_figure([row.policy for row in board.rows], compare(outcomes))
        return [*rating_figure(board.rows), *course, *pairs]

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs."""
        return compare(outcomes)

    def current_ratings(self, outcomes: Sequence[Outcome]) -> dict[str, float]:
        """Returns the Bradley-Terry ratings for pairings and committees, of policies with a finished match, mean 1000.

        They are maximum likelihood estimates, or use a prior if these do not exist (see ``rating.stats.bradley_terry``).
        """
        comparisons = compare(outcomes)
        if not comparisons.policies:
            return {}
        fitted = bradley_terry.fit(comparisons, model(self._rules.ties))
        return dict(zip(fitted.policies, map(float, fitted.ratings), strict=True))

    def path(self, outcomes: Iterable[Outcome]) -> tuple[Stage, ...]:
        """Returns the completed prefix of pairings, each with the ratings after it; other environments are ignored."""
        size, by_pairing = self._rules.matches, dict[int, list[Outcome]]()
        for outcome in self.own(outcomes):
            if outcome.status != VOID:
                by_pairing.setdefault(outcome.number // size, []).append(outcome)
        present, played, stages = set(self._field), list[Outcome](), list[Stage]()
        while len(own := by_pairing.get(len(stages), [])) == size:
            played += own
            first, second = (seat.policy for seat in rated_seats(min(own, key=lambda outcome: outcome.number)))
            present |= {first, second}
            known = self.current_ratings(played)
            stages.append(
                Stage(len(played), (first, second), {name: known.get(name, START) for name in sorted(present)})
            )
        return tuple(stages)

    def staff(self) -> Mapping[int, str]:
        """Returns no staff: it depends on the pairing."""
        return {}

    def agents(self, count: int) -> tuple[str, ...]:
        """Returns the seats of a match with ``count`` seats; with fewer judges, the last judge seats are omitted."""
        missing = self._judges[len(self._judges) + count - len(self.setting.environment.agents) :]
        return tuple(agent for agent in self.setting.environment.agents if agent not in missing)

    def staffed(self, pair: Pairing, ranking: Sequence[str]) -> Contest:
        """Returns the contest with the staff of a pair.

        Args:
            pair: the two players.
            ranking: all policies present, best first.

        Raises:
            OptionError: if there are too few judges, or the run names no policy for another role.
        """
        environment, staff = self.setting.environment, self.setting.pool.staff
        role, seats = self._judge_role, len(self._judges)
        if not seats or role in staff:
            return self._served(environment.agents, staff)
        rules, is_adjustable = self._rules, JUDGES_OPTION in environment.takes
        least = rules.min_judges if rules.min_judges is not None and is_adjustable else seats
        members = rules.committee(pair, ranking, size=seats, least=least)
        agents = self.agents(len(environment.agents) - seats + len(members))
        served = self._served(agents, {**staff, role: members})
        if not is_adjustable:
            return served
        return replace(served, options={**environment.options, JUDGES_OPTION: len(members)})

    def _served(self, agents: Sequence[str], staff: Mapping[str, Sequence[str]]) -> Contest:
        return replace(self._contest, staff=seat_staff(self.setting.environment, agents, staff))

    @property
    def _rules(self) -> TournamentRules:
        return self.setting.tournament or TournamentRules()

    @property
    def _field(self) -> list[str]:
        """Policies that play the rounds, sorted."""
        return self._rules.founders(self.setting.pool.policies)

    @property
    def _judges(self) -> list[str]:
        return [agent for agent in self.setting.environment.agents if role_of(agent) == self._judge_role]

    @property
    def _judge_role(self) -> str:
        verdicts = self.setting.environment.declaration.verdicts
        return verdicts.role if verdicts else "judge"


def _course(path: Sequence[Stage], policies: Sequence[str]) -> list[Figure]:
    """Returns the ratings after every pairing, as a figure and as a table."""
    history: dict[str, list[tuple[int, float, float]]] = {}
    before = 0
    for stage in path:
        for name, rating in stage.ratings.items():
            history.setdefault(name, [(before, START, 0.0)]).append((stage.matches, rating, 0.0))
        before = stage.matches
    rows = [
        [
            " - ".join(stage.pair),
            str(stage.matches),
            *(formatting.number(stage.ratings.get(name), 0) for name in policies),
        ]
        for stage in path
    ]
    return [
        Trajectories({name: history[name] for name in policies if name in history}, "Bradley-Terry rating in Elo"),
        Grid("Ratings after every pairing", ["pairing", "matches", *policies], rows),
    ]
