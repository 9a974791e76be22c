"""Swiss tournament: rounds between policies of similar rating, then placement of newcomers.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rating.schedules.batches import Contest, Planned, deal_seed
from rating.schedules.pairing import pair_up, ranked
from rating.schedules.schedule import Stop
from rating.store.match import Match
from rating.store.outcome import VOID, Outcome

START = 1000.0
"""Rating of a policy without a match."""

Pair = tuple[str, str]


def rounds_for(players: int) -> int:
    """Returns the number of rounds for a number of players: its base-2 logarithm, rounded up."""
    return (players - 1).bit_length()


@dataclass(frozen=True)
class SwissPlan:
    """The plan of a tournament.

    Attributes:
        scores: initial score of every policy, including newcomers; decides the first round.
        newcomers: policies placed after all rounds, in this order.
        questions: questions per pairing, one match each.
        paired: whether each question is played in both seat orders, in two matches.
    """

    scores: Mapping[str, float]
    newcomers: Sequence[str] = ()
    questions: int = 40
    paired: bool = False

    @property
    def field(self) -> list[str]:
        """Policies that play the rounds, sorted."""
        return sorted(self.scores.keys() - set(self.newcomers))

    @property
    def matches(self) -> int:
        """Matches per pairing."""
        return self.questions * (1 + self.paired)


class Swiss:
    """The schedule of a tournament; a batch is one pairing.

    Pairs of a round are drawn when it begins (``pair_up``): by initial scores in the first round, then by the ratings after all
    pairings before it. After the rounds, every newcomer plays as many pairings as there would be rounds with it: first against
    the most similar initial score, then against the most similar rating that it has not met.

    Each pairing depends on the results before it, so void matches block the schedule: it returns ``Stop("void")``, and continues
    once they have been replayed. Each policy of a pair sits first in half of the questions, drawn by the root seed.

    Args:
        contest: two rated seats.
        plan: plan of the tournament.
        rate: returns the ratings of policies with a match, given all outcomes.
        staffed: returns the contest with its staff, given a pair and all policies present, best first.
        withdrawn: policies withdrawn by the user; their void matches do not block the schedule.

    Attributes:
        lag: 1: every pairing waits for the one before.
    """

    lag = 1

    def __init__(
        self,
        contest: Contest,
        plan: SwissPlan,
        rate: Callable[[Sequence[Outcome]], Mapping[str, float]],
        staffed: Callable[[Pair, Sequence[str]], Contest],
        withdrawn: Collection[str] = (),
    ) -> None:
        self._contest = contest
        self._plan = plan
        self._rate = rate
        self._staffed = staffed
        self._withdrawn = frozenset(withdrawn)
        self._outcomes: list[Outcome] = []
        self._known: Mapping[str, float] = {}
        self._is_void = False
        self._present = plan.field
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

    def _draw(self) -> Iterator[Pair]:
        """Yields the pairings; each is drawn on demand from the results before it."""
        byes: Counter[str] = Counter()
        for _ in range(rounds_for(len(self._present))):
            drawn = pair_up(self._ratings(), self._met, byes)
            byes[drawn.bye] += 1
            for pair in drawn.pairs:
                yield self._meet(*pair)
            self._in_first_round = False
        for newcomer in self._plan.newcomers:
            self._present.append(newcomer)
            yield self._meet(newcomer, self._nearest(newcomer, self._plan.scores))
            for _ in range(rounds_for(len(self._present)) - 1):
                yield self._meet(newcomer, self._nearest(newcomer, self._ratings()))

    def _meet(self, first: str, second: str) -> Pair:
        self._met[frozenset((first, second))] += 1
        return first, second

    def _ratings(self) -> dict[str, float]:
        """Returns the current ranking values of the policies present: initial scores in the first round, then ratings."""
        if self._in_first_round:
            return {name: self._plan.scores[name] for name in self._present}
        return {name: self._known.get(name, START) for name in self._present}

    def _nearest(self, newcomer: str, values: Mapping[str, float]) -> str:
        """Returns the policy most similar to a newcomer among those it has not met; the better-ranked of equals."""
        others = [name for name in ranked(self._ratings()) if name != newcomer]
        new = [name for name in others if frozenset((newcomer, name)) not in self._met]
        return min(new, key=lambda name: abs(values[name] - values[newcomer]))

    def _matches(self, pairing: int, pair: Pair) -> list[Match]:
        contest, plan = self._staffed(pair, ranked(self._ratings())), self._plan
        seats = [pair, pair[::-1]]
        order = np.random.default_rng(deal_seed(contest.seed, f"seats/{contest.environment}", pairing))
        begins = order.permutation(plan.questions) % 2
        matches: list[Match] = []
        for question in range(plan.questions):
            deal = pairing * plan.questions + question
            turned = begins[question]
            for seated in (seats[turned], seats[1 - turned])[: 1 + plan.paired]:
                number = pairing * plan.matches + len(matches)
                matches.append(contest.match(number, Planned(deal, seated), question))
        return matches
