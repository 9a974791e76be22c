"""Swiss tournament: rounds in which everybody meets somebody of similar rating, and newcomers placed afterwards.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rating.records.match import Match
from rating.records.outcome import VOID, Outcome
from rating.schedules.batches import Contest, Planned, deal_seed
from rating.schedules.pairing import pair_up, ranked
from rating.schedules.schedule import Stop

START = 1000.0
"""Rating of those who have not played."""

Pair = tuple[str, str]


def rounds_for(players: int) -> int:
    """Returns how many rounds are played by so many, 1 or more: the smallest number whose power of two is as large."""
    return (players - 1).bit_length()


@dataclass(frozen=True)
class SwissPlan:
    """What a tournament is.

    Attributes:
        scores: initial score of everybody, newcomers included: who meets whom in the first round.
        newcomers: those of them who come when all rounds are over, in this order.
        questions: that each pairing plays, a match each.
        paired: whether each is played from both seats, two matches.
    """

    scores: Mapping[str, float]
    newcomers: Sequence[str] = ()
    questions: int = 40
    paired: bool = False

    @property
    def field(self) -> list[str]:
        """Those who play the rounds, sorted."""
        return sorted(self.scores.keys() - set(self.newcomers))

    @property
    def matches(self) -> int:
        """Matches of a pairing."""
        return self.questions * (1 + self.paired)


class Swiss:
    """The schedule of a tournament; a batch is one pairing.

    First come the rounds (``pair_up``), whose pairs are drawn when the round begins: by initial scores in the first one, then by
    the ratings after all pairings so far. Then every newcomer plays as many pairings as there would be rounds with it: against
    the most similar initial score, then against the most similar rating it has not met.

    What follows a match depends on its result, so nothing is played on top of void matches: the answer is ``Stop("void")``, and
    the run goes on once they have been played again. Each of two sits first in half of a pairing's matches, drawn by the root
    seed.

    Args:
        contest: two rated seats.
        plan: what is played.
        rate: ratings of those who have played, from all outcomes so far.
        staffed: who serves: given a pair and everybody who is there, best first, the contest with that staff.
        withdrawn: those who play no more; their matches that are void are passed over.

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
        """Takes the outcomes of a whole pairing."""
        self._outcomes += outcomes
        self._known = self._rate(self._outcomes)
        self._is_void = any(
            outcome.status == VOID and self._withdrawn.isdisjoint(seat.policy for seat in outcome.seats)
            for outcome in outcomes
        )

    def leave_out(self, policy: str) -> None:
        """Changes nothing: at the first match that is void the tournament stops, whoever failed."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns the matches of the next pairing; or why there is none: ``rounds`` are over, or matches are ``void``."""
        if self._is_void:
            return Stop("void")
        return next((self._matches(number, pair) for number, pair in self._pairings), Stop("rounds"))

    def _draw(self) -> Iterator[Pair]:
        """Yields the pairings; each is drawn when it is asked for, from what has been played until then."""
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
        """Returns what those who are there are ranked by now: initial scores in the first round, then ratings."""
        if self._in_first_round:
            return {name: self._plan.scores[name] for name in self._present}
        return {name: self._known.get(name, START) for name in self._present}

    def _nearest(self, newcomer: str, values: Mapping[str, float]) -> str:
        """Returns who is most similar to a newcomer among those it has not met; of equals the better-ranked."""
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
