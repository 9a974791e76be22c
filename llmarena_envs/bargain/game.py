"""The rules of bargaining over hats, balls and apples."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from llmarena_envs.bargain.disclosure import discloses
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
        counts: how many hats, balls and apples the proposer would get; the rest goes to the other side.
        message: free text for the other side.
    """

    counts: Triple
    message: str = ""


class Deal(NamedTuple):
    """Accepts the other side's last offer."""


Action = Offer | Deal


class BargainView(NamedTuple):
    """What one side knows: everything but the other side's values.

    Attributes:
        agent: the side.
        to_move: whether it is to offer or to accept.
        legal: if so, every legal action: all offers, without a message, and ``Deal`` if an offer stands.
        other: the other side.
        round: number of the round, from 1; each side speaks once in a round.
        counts: how many items of each kind there are.
        values: what one item of each kind is worth to the side.
        first: who speaks first.
        offers: all offers so far, in turn from ``first``.
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
    """Returns what is left of ``counts``."""
    return counts[0] - taken[0], counts[1] - taken[1], counts[2] - taken[2]


@cache  # 37 triples of counts at most, with and without a standing offer
def _legal(counts: Triple, may_accept: bool) -> tuple[Action, ...]:
    offers = tuple(Offer(plan) for plan in plans(counts))
    return (*offers, Deal()) if may_accept else offers


def is_efficient(scenario: Scenario, share: Triple) -> bool:
    """Says whether no division is better for one side and no worse for the other than ``player_0`` getting ``share``."""
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
        max_rounds: rounds before the talks fail, 1 to 50; each side speaks once in a round.
        instance: counts, values of ``player_0`` and values of ``player_1`` to play with; drawn if ``None``.
        source: which scenarios there are and how often each is drawn, ``openspiel`` or ``lewis``; see ``scenarios``.
        reward: ``own_total``, ``zero_sum`` or ``win``.
        first_player: who speaks first.

    Attributes:
        scenario: the items and both sides' values.
        pool: all offers so far.
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
        self.agreed = False
        self.to_move = (self.agents[self._first],)
        self.rewards = (0.0, 0.0)
        self._statistics = (NO_AGREEMENT, NO_AGREEMENT)

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All offers so far."""
        return self.pool.of(OFFER)

    def why_illegal(self, agent: str, action: Action) -> Reason | None:
        """Says why an offer or an acceptance is not possible."""
        if isinstance(action, Deal):
            return None if self.offers else Reason("no_offer")
        for item, count, number in zip(ITEMS, self.scenario.counts, action.counts, strict=True):
            if number < 0:
                return Reason(f"negative_{item}", {"number": number})
            if number > count:
                return Reason(f"too_many_{item}", {"number": number, "count": count})
        return None

    def apply(self, actions: tuple[Action, ...]) -> None:
        """Makes or accepts an offer; talks fail when the last turn brings no acceptance."""
        (action,) = actions
        mover = (self._first + len(self.offers)) % 2
        if isinstance(action, Deal):
            self._agree(proposer=1 - mover)
            return
        self.pool = self.pool.with_message(OFFER, self.agents[mover], action)
        if action.message and discloses(action.message, self.scenario.values[mover]):
            ours, theirs = self._statistics
            told = {"disclosed": 1.0}
            self._statistics = (ours | told, theirs) if mover == 0 else (ours, theirs | told)
        self.to_move = (self.agents[1 - mover],) if len(self.offers) < self.max_turns else ()

    def _agree(self, proposer: int) -> None:
        """Divides the items as the last offer says, and pays."""
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
        """Costs the offender 1; the other side gains 1 where rewards are a contest, 0 where they are own totals."""
        gain = 0.0 if self.reward == "own_total" else 1.0
        return tuple(-1.0 if agent in offenders else gain for agent in self.agents)

    def view(self, agent: str) -> BargainView:
        """Returns what ``agent`` knows."""
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
            self.pool.visible_to(agent),
            self.agreed,
        )

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the other side's values: all that make a scenario of the source with what ``agent`` knows are equally likely.

        Offers and messages stay, whatever they tell of the true values. After an agreement the values are such as give ``agent``
        its reward and its statistics. A fixed scenario is no knowledge of the sides and is redrawn as well.
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
        """Puts another scenario in the place of this one, and reckons anew what has come of it."""
        offers, agreed, to_move = self.offers, self.agreed, self.to_move
        self._begin(scenario)
        for offer in offers:
            self.apply((offer,))
        if agreed:
            self.apply((Deal(),))
        self.to_move = to_move

    def random_action(self, agent: str, rng: np.random.Generator) -> Offer:
        """Draws an offer; an acceptance binds, so it is never drawn for anybody."""
        offers = plans(self.scenario.counts)
        return Offer(offers[int(rng.integers(len(offers)))])

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what the agreement came to, and whether the side told its values.

        ``own_total`` and ``difference`` (own minus other total) are 0 without an agreement; ``agreement``, ``efficient`` (no
        other division is better for one side and no worse for the other) and ``disclosed`` are 0 or 1.
        """
        return self._statistics[self.agents.index(agent)]
