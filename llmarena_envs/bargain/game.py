"""The rules of bargaining over hats, balls and apples."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from llmarena_envs.bargain.scenarios import (
    MAX_COUNT,
    Scenario,
    Triple,
    check_scenario,
    draw_scenario,
    plans,
    with_values,
    worth,
)
from llmarena_envs.core.declaration import Channel
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.messages import MessagePool
from llmarena_envs.core.options import check_choice, check_int

ITEMS = ("hats", "balls", "apples")
OFFER = "offer"
CHANNELS = {OFFER: Channel("player", ("player",))}
NO_AGREEMENT = {"own_total": 0.0, "difference": 0.0, "agreement": 0.0, "efficient": 0.0, "disclosed": 0.0}
REWARDS = ("own_total", "zero_sum", "win")


class Offer(NamedTuple):
    """A proposal.

    Attributes:
        counts: hats, balls and apples for the proposer; the rest goes to the other side.
        message: free text for the other side.
    """

    counts: Triple
    message: str = ""


class Deal(NamedTuple):
    """Accepts the other side's last offer."""


Action = Offer | Deal


class BargainView(NamedTuple):
    """One side's view: everything except the other side's values.

    Attributes:
        agent: the side.
        to_move: whether it must offer or accept.
        legal: its legal actions: all offers, without a message, and ``Deal`` if there is an offer.
        other: the other side.
        round: number of the round, from 1; each side speaks once per round.
        counts: number of items of each kind.
        values: value of one item of each kind to the side.
        first: the first speaker.
        offers: all offers, alternating, starting with ``first``.
        agreed: whether the last offer was accepted.
    """

    agent: str
    to_move: bool
    legal: Sequence[Action]
    other: str
    round: int
    counts: Triple
    values: Triple
    first: str
    offers: tuple[Offer, ...]
    agreed: bool


def rest_of(counts: Triple, taken: Triple) -> Triple:
    """Returns the rest of ``counts``."""
    return counts[0] - taken[0], counts[1] - taken[1], counts[2] - taken[2]


@cache  # 37 triples of counts at most, with and without a standing offer
def _legal(counts: Triple, may_accept: bool) -> tuple[Action, ...]:
    offers = tuple(Offer(plan) for plan in plans(counts))
    return (*offers, Deal()) if may_accept else offers


def is_efficient(scenario: Scenario, share: Triple) -> bool:
    """Returns whether the division with ``share`` for ``player_0`` is Pareto-efficient."""
    counts, (ours, theirs) = scenario
    own, other = worth(share, ours), worth(rest_of(counts, share), theirs)
    for plan in plans(counts):
        a, b = worth(plan, ours), worth(rest_of(counts, plan), theirs)
        if a >= own and b >= other and a + b > own + other:
            return False
    return True


class Bargain(Game[Action, BargainView]):
    """Two sides divide items by alternating offers; an action is an ``Offer`` or a ``Deal``.

    Args:
        max_rounds: rounds before the talks fail, 1 to 50; each side speaks once per round.
        instance: counts, values of ``player_0`` and values of ``player_1``; drawn if ``None``.
        source: distribution of scenarios, ``openspiel`` or ``lewis``; see ``scenarios``.
        reward: ``own_total``, ``zero_sum`` or ``win``.
        first_player: the first speaker.

    Attributes:
        scenario: the items and both sides' values.
        pool: all offers, as messages.
        offers: all offers.
        agreed: whether the last one was accepted.
    """

    agents = ("player_0", "player_1")

    def __init__(
        self,
        max_rounds: int = 10,
        instance: Sequence[Sequence[int]] | None = None,
        source: str = "openspiel",
        reward: str = "own_total",
        first_player: str = "player_0",
    ) -> None:
        check_int("max_rounds", max_rounds, 1, 50)
        check_choice("source", source, MAX_COUNT)
        check_choice("reward", reward, REWARDS)
        check_choice("first_player", first_player, self.agents)
        self.max_turns = 2 * max_rounds
        self.source = source
        self.reward = reward
        self._first = self.agents.index(first_player)
        self._fixed = None if instance is None else check_scenario(instance, source)

    def reset(self, rng: np.random.Generator) -> None:
        """Draws the scenario."""
        self._begin(self._fixed or draw_scenario(self.source, rng))

    def _begin(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.pool: MessagePool[Offer] = MessagePool(CHANNELS, self.agents)
        self.offers: tuple[Offer, ...] = ()
        self.agreed = False
        self.to_move = (self.agents[self._first],)
        self.rewards = (0.0, 0.0)
        self._statistics = (NO_AGREEMENT, NO_AGREEMENT)

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Returns why an offer or an acceptance is illegal."""
        if isinstance(action, Deal):
            return None if self.offers else Reason("no_offer")
        for item, count, number in zip(ITEMS, self.scenario.counts, action.counts, strict=True):
            if number < 0:
                return Reason(f"negative_{item}", {"number": number})
            if number > count:
                return Reason(f"too_many_{item}", {"number": number, "count": count})
        return None

    def apply(self, actions: tuple[Action, ...]) -> None:
        """Makes or accepts an offer; the talks fail if the last turn brings no acceptance."""
        (action,) = actions
        mover = (self._first + len(self.offers)) % 2
        if isinstance(action, Deal):
            self._agree(proposer=1 - mover)
            return
        self.pool = self.pool.with_message(OFFER, self.agents[mover], action)
        self.offers += (action,)
        if _states(action.message, self.scenario.values[mover]):
            ours, theirs = self._statistics
            told = {"disclosed": 1.0}
            self._statistics = (ours | told, theirs) if mover == 0 else (ours, theirs | told)
        self.to_move = (self.agents[1 - mover],) if len(self.offers) < self.max_turns else ()

    def _agree(self, proposer: int) -> None:
        """Divides the items by the last offer, and sets rewards."""
        counts, values = self.scenario
        kept = self.offers[-1].counts
        left = rest_of(counts, kept)
        shares = (kept, left) if proposer == 0 else (left, kept)
        totals = worth(shares[0], values[0]), worth(shares[1], values[1])
        difference = totals[0] - totals[1]
        self.agreed = True
        self.to_move = ()
        sign = (difference > 0) - (difference < 0)
        paid = {"own_total": totals, "zero_sum": (difference, -difference), "win": (sign, -sign)}[self.reward]
        self.rewards = float(paid[0]), float(paid[1])
        known = {"agreement": 1.0, "efficient": float(is_efficient(self.scenario, shares[0]))}
        ours, theirs = self._statistics
        self._statistics = (
            ours | known | {"own_total": float(totals[0]), "difference": float(difference)},
            theirs | known | {"own_total": float(totals[1]), "difference": float(-difference)},
        )

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Costs the offender 1; the other side gains 1 if rewards are competitive, 0 with own totals."""
        gain = 0.0 if self.reward == "own_total" else 1.0
        return tuple(-1.0 if agent in offenders else gain for agent in self.agents)

    def view(self, agent: str) -> BargainView:
        """Returns the view of ``agent``."""
        seat = self.agents.index(agent)
        counts, values = self.scenario
        to_move = agent in self.to_move
        spoken = len(self.offers) + self.agreed
        return BargainView(
            agent,
            to_move,
            _legal(counts, bool(self.offers)) if to_move else (),
            self.agents[1 - seat],
            min(spoken, self.max_turns - 1) // 2 + 1,
            counts,
            values[seat],
            self.agents[self._first],
            self.offers,
            self.agreed,
        )

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the other side's values uniformly among scenarios of the source consistent with ``agent``'s knowledge.

        Offers and messages are kept, even if they reveal true values. After an agreement, the values must give ``agent`` its
        reward and statistics. A fixed scenario does not restrict the redraw.
        """
        seat = self.agents.index(agent)
        known = self.statistics(agent), self.rewards[seat]
        counts, values = self.scenario
        candidates = with_values(self.source, seat, counts, values[seat])
        for index in rng.permutation(len(candidates)):
            self._take_up(candidates[index])
            if (self.statistics(agent), self.rewards[seat]) == known:
                return

    def _take_up(self, scenario: Scenario) -> None:
        """Replaces the scenario, and recomputes the results."""
        offers, agreed, to_move = self.offers, self.agreed, self.to_move
        self._begin(scenario)
        for offer in offers:
            self.apply((offer,))
        if agreed:
            self.apply((Deal(),))
        self.to_move = to_move

    def random_action(self, agent: str, rng: np.random.Generator) -> Offer:
        """Draws an offer, never an acceptance, as it is binding."""
        offers = plans(self.scenario.counts)
        return Offer(offers[int(rng.integers(len(offers)))])

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns agreement statistics, and whether a message of the side states its three values.

        ``own_total`` and ``difference`` (own minus other total) are 0 without an agreement; ``agreement``, ``efficient``
        (Pareto-efficient) and ``disclosed`` are 0 or 1.
        """
        return self._statistics[self.agents.index(agent)]


def _states(message: str, values: Triple) -> bool:
    """Returns whether a message has the three values in a row among its numbers."""
    numbers = re.findall(r"\d+", message)
    hats, balls, apples = map(str, values)
    return (hats, balls, apples) in zip(numbers, numbers[1:], numbers[2:], strict=False)
