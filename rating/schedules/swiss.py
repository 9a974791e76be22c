"""Swiss tournament: rounds between policies of similar rating, placement of newcomers, and judge committees.

Source: Auto-Arena (arXiv 2405.20267v1, sections 3.3 and 4.1).
"""

import statistics
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from agents.families import family_of
from llmarena_envs.core.options import OptionError, check_choice
from rating.schedules.batches import Contest, Planned, Stop, deal_seed
from rating.store.records import VOID, Match, Outcome

START = 1000.0
"""Rating of a policy without a match."""

Pairing = tuple[str, str]
"""Two scheduled players."""


def rounds_for(players: int) -> int:
    """Returns the number of rounds for a number of players: its base-2 logarithm, rounded up."""
    return (players - 1).bit_length()


@dataclass(frozen=True, kw_only=True)
class TournamentRules:
    """The rules of a tournament.

    Attributes:
        questions: questions per pairing.
        paired: whether each question is played in both seat orders.
        prior: initial score by policy, larger is better; the median if missing.
        ties: treatment of ties in the ratings for pairings, committees and ranks: ``half`` counts a tie as half a win for each,
            ``drop`` ignores it.
        families: family of a policy, in addition to ``agents.families``.
        exclude_family: whether policies of a candidate's family are excluded as judges.
        exclude: policies that never judge.
        min_judges: minimum number of judges if the environment has seats for more; ``None`` to require all seats.
        newcomers: policies placed after the rounds, in this order.
    """

    questions: int = 40
    paired: bool = False
    prior: Mapping[str, float] = field(default_factory=dict)
    ties: str = "half"
    families: Mapping[str, str] = field(default_factory=dict)
    exclude_family: bool = False
    exclude: tuple[str, ...] = ()
    min_judges: int | None = None
    newcomers: tuple[str, ...] = ()

    def check(self, policies: Sequence[str]) -> None:
        """Checks that every name is one of ``policies``, and that at least two of them play from the beginning.

        Raises:
            OptionError: if a check fails; for an unknown name, the message suggests the nearest known one.
        """
        for key in ("prior", "families", "exclude", "newcomers"):
            names: Iterable[str] = getattr(self, key)
            for name in names:
                check_choice(f"tournament.{key}", name, policies)
        if len(set(self.newcomers)) < len(self.newcomers):
            raise OptionError(f"tournament.newcomers: expected every name once, got {list(self.newcomers)}")
        if len(policies) - len(self.newcomers) < 2:
            raise OptionError(
                f"tournament.newcomers: expected two policies or more that play from the beginning, got {len(policies)} in all"
                f" and {len(self.newcomers)} newcomers"
            )

    def scores(self, policies: Sequence[str]) -> dict[str, float]:
        """Returns the initial score of each of ``policies``; a missing score is the median of the policies before it."""
        scores = self._filled(self.founders(policies), {})
        for newcomer in self.newcomers:
            scores |= self._filled([newcomer], scores)
        return scores

    def _filled(self, names: Sequence[str], before: Mapping[str, float]) -> dict[str, float]:
        known = [self.prior[name] for name in (*before, *names) if name in self.prior]
        middle = statistics.median(known) if known else 0.0
        return {name: self.prior.get(name, middle) for name in names}

    def founders(self, policies: Iterable[str]) -> list[str]:
        """Returns those of ``policies`` that play the rounds, sorted."""
        return sorted(set(policies) - set(self.newcomers))

    @property
    def matches(self) -> int:
        """Matches per pairing."""
        return self.questions * (1 + self.paired)

    def committee(self, pair: Pairing, ranking: Sequence[str], *, size: int, least: int) -> tuple[str, ...]:
        """Returns the judges of a pair, best first.

        Args:
            pair: the two candidates.
            ranking: all policies present, best first.
            size: members wanted.
            least: members required.

        Raises:
            OptionError: if fewer than ``least`` policies are eligible.
        """
        related = {family_of(name, self.families) for name in pair} - {""} if self.exclude_family else set()
        barred = {*pair, *self.exclude, *(name for name in ranking if family_of(name, self.families) in related)}
        members = tuple(name for name in ranking if name not in barred)[:size]
        if len(members) < least:
            raise OptionError(
                f"committee: expected {least} judges or more for {pair[0]} against {pair[1]}, got {len(members)}; name"
                " more policies, exclude fewer, let fewer do with min_judges, or name fixed judges in [environment.staff]"
            )
        return members


class Swiss:
    """The schedule of a tournament; a batch is one pairing.

    Pairs of a round are drawn when it begins (``pair_up``): by initial scores in the first round, then by the ratings after all
    pairings before it. After the rounds, every newcomer plays as many pairings as there would be rounds with it: first against
    the most similar initial score, then against the most similar rating that it has not met.

    Each pairing depends on the results before it, so void matches block the schedule: it returns ``Stop("void")``, and continues
    once they have been replayed. Each policy of a pair sits first in half of the questions, drawn by the root seed.

    Args:
        contest: two rated seats.
        rules: rules of the tournament.
        rate: returns the ratings of policies with a match, given all outcomes.
        staffed: returns the contest with its staff, given a pair and all policies present, best first.
        withdrawn: policies withdrawn by the user; their void matches do not block the schedule.

    Attributes:
        lag: 1: every pairing waits for the one before.
        starts: empty: newcomers are placed in the same phase.
    """

    lag = 1
    starts: Sequence[int] = ()

    def __init__(
        self,
        contest: Contest,
        rules: TournamentRules,
        rate: Callable[[Sequence[Outcome]], Mapping[str, float]],
        staffed: Callable[[Pairing, Sequence[str]], Contest],
        withdrawn: Collection[str] = (),
    ) -> None:
        self._contest = contest
        self._rules = rules
        self._scores = rules.scores(contest.policies)
        self._rate = rate
        self._staffed = staffed
        self._withdrawn = frozenset(withdrawn)
        self._outcomes: list[Outcome] = []
        self._known: Mapping[str, float] = {}
        self._is_void = False
        self._present = rules.founders(contest.policies)
        self._in_first_round = True
        self._met: Counter[frozenset[str]] = Counter()
        self._pairings = enumerate(self._draw())

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of a complete pairing."""
        self._outcomes += outcomes
        self._known = self._rate(self._outcomes)
        self._is_void = any(
            outcome.status == VOID and self._withdrawn.isdisjoint(seat.policy for seat in outcome.seats)
            for outcome in outcomes
        )

    def leave_out(self, policy: str) -> None:
        """Does nothing: the tournament stops at the first void match in any case."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns the matches of the next pairing, or the reason to stop: ``rounds`` (all played) or ``void`` (void matches)."""
        if self._is_void:
            return Stop("void")
        return next((self._matches(number, pair) for number, pair in self._pairings), Stop("rounds"))

    def _draw(self) -> Iterator[Pairing]:
        """Yields the pairings; each is drawn on demand from the results before it."""
        byes: Counter[str] = Counter()
        for _ in range(rounds_for(len(self._present))):
            drawn = pair_up(self._ratings(), self._met, byes)
            byes[drawn.bye] += 1
            for pair in drawn.pairs:
                yield self._meet(*pair)
            self._in_first_round = False
        for newcomer in self._rules.newcomers:
            self._present.append(newcomer)
            yield self._meet(newcomer, self._nearest(newcomer, self._scores))
            for _ in range(rounds_for(len(self._present)) - 1):
                yield self._meet(newcomer, self._nearest(newcomer, self._ratings()))

    def _meet(self, first: str, second: str) -> Pairing:
        self._met[frozenset((first, second))] += 1
        return first, second

    def _ratings(self) -> dict[str, float]:
        """Returns the current ranking values of the policies present: initial scores in the first round, then ratings."""
        if self._in_first_round:
            return {name: self._scores[name] for name in self._present}
        return {name: self._known.get(name, START) for name in self._present}

    def _nearest(self, newcomer: str, values: Mapping[str, float]) -> str:
        """Returns the policy most similar to a newcomer among those it has not met; the better-ranked of equals."""
        others = [name for name in ranked(self._ratings()) if name != newcomer]
        new = [name for name in others if frozenset((newcomer, name)) not in self._met]
        return min(new, key=lambda name: abs(values[name] - values[newcomer]))

    def _matches(self, pairing: int, pair: Pairing) -> list[Match]:
        contest, rules = self._staffed(pair, ranked(self._ratings())), self._rules
        seats = [pair, pair[::-1]]
        order = np.random.default_rng(deal_seed(contest.seed, f"seats/{contest.environment}", pairing))
        begins = order.permutation(rules.questions) % 2
        matches: list[Match] = []
        for question in range(rules.questions):
            deal = pairing * rules.questions + question
            turned = begins[question]
            for seated in (seats[turned], seats[1 - turned])[: 1 + rules.paired]:
                number = pairing * rules.matches + len(matches)
                matches.append(contest.match(number, Planned(deal, seated), question))
        return matches


_STEPS = 1_000_000
"""Steps between the lowest and the highest rating. Rating differences are whole steps, which avoids rounding errors."""


class Round(NamedTuple):
    """One round.

    Attributes:
        pairs: pairs with the higher-rated policy first, sorted by that policy's rank.
        bye: policy that does not play; empty for none.
    """

    pairs: tuple[tuple[str, str], ...]
    bye: str


def ranked(ratings: Mapping[str, float]) -> list[str]:
    """Returns names by rating, best first, ties by name; ratings are rounded to 6 decimals."""
    return sorted(ratings, key=lambda name: (-round(ratings[name], 6), name))


def pair_up(ratings: Mapping[str, float], met: Mapping[frozenset[str], int], byes: Mapping[str, int]) -> Round:
    """Pairs policies of similar rating that have not met.

    With an odd number, the lowest-ranked policy among those with the fewest byes does not play. The pairing of the others has the
    fewest repeated pairs; then the smallest sum of squared rating differences; then the best opponent for the highest-ranked
    policy, then for the next one, and so on. The result is unique and does not depend on the order of names. It is a maximum
    weight matching (Edmonds 1965) in integers.

    Args:
        ratings: of all policies present; only differences count, on any scale.
        met: number of meetings of each pair; a missing pair has not met.
        byes: number of byes of each policy; a missing policy has none.

    Raises:
        OptionError: if there are fewer than two policies.
    """
    names = ranked(ratings)
    if len(names) < 2:
        raise OptionError(f"expected two players or more to pair, got {names}")
    bye = ""
    if len(names) % 2:
        fewest = min(byes.get(name, 0) for name in names)
        bye = [name for name in names if byes.get(name, 0) == fewest][-1]
        names.remove(bye)
    costs = _costs(names, ratings, met)
    most = 1 + max(costs.values())
    import networkx as nx  # slow to import

    graph = nx.Graph()
    graph.add_nodes_from(range(len(names)))
    graph.add_weighted_edges_from((first, second, most - cost) for (first, second), cost in costs.items())
    chosen = sorted(tuple(sorted(pair)) for pair in nx.max_weight_matching(graph, maxcardinality=True))
    return Round(tuple((names[first], names[second]) for first, second in chosen), bye)


def _costs(
    names: Sequence[str], ratings: Mapping[str, float], met: Mapping[frozenset[str], int]
) -> dict[tuple[int, int], int]:
    """Returns the cost of each pair, by rank: one integer, the more important criteria in its higher digits."""
    size = len(names)
    low, high = ratings[names[-1]], ratings[names[0]]
    step = (high - low) / _STEPS or 1.0
    places = [round((ratings[name] - low) / step) for name in names]
    order = size**size  # exceeds the sum of all opponent terms
    distance = order * (size * _STEPS**2 + 1)
    return {
        (first, second): bool(met.get(frozenset((names[first], names[second])), 0)) * distance
        + (places[first] - places[second]) ** 2 * order
        + second * size ** (size - 1 - first)
        for first in range(size)
        for second in range(first + 1, size)
    }
