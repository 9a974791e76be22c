"""The rules of commissions: one author is asked for items in batches until enough are accepted or the requests are used up."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from benchmarks.experiments.commission import Commission, most_calls
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game, View
from llmarena_envs.core.options import check_int

MAX_COUNT = 100
MAX_CALLS = 10


class Screened(Protocol):
    """An item as written by its author, the first member of a tuple; ``refused`` is the reason against it, or ``None``."""

    @property
    def refused(self) -> Reason | None:
        """Reason for refusing the item; ``None`` if accepted."""

    def __getitem__(self, index: int, /) -> Any:
        """Returns a member."""


Item = TypeVar("Item")
AuthorView = TypeVar("AuthorView", bound=View)
Draft = TypeVar("Draft", bound=Screened)


class CommissionGame(Game[tuple[Item, ...], AuthorView], Generic[Item, AuthorView, Draft]):
    """A commission; an action is the items of one reply.

    Args:
        count: number of items wanted.
        batch: items per request.
        calls: maximum number of requests per batch; items still missing afterwards are left out.

    Attributes:
        nothing: an empty item, used for an unreadable reply.
        max_batch: greatest ``batch``.
        refusals: names of the statistics that count refused items, by reason.
        last: all items of the last reply to the present batch, each with its reason for refusal.
    """

    perfect_information = True
    nothing: ClassVar[tuple[Any, ...]]
    max_batch: ClassVar[int] = MAX_COUNT
    refusals: ClassVar[Mapping[str, str]]

    def __init__(self, count: int, batch: int, calls: int) -> None:
        check_int("count", count, 1, MAX_COUNT)
        check_int("batch", batch, 1, self.max_batch)
        check_int("calls", calls, 1, MAX_CALLS)
        self.count, self.batch, self.calls = count, batch, calls
        self.max_turns = most_calls(count, batch, calls)

    @abstractmethod
    def screen(self, items: tuple[Item, ...]) -> Sequence[Draft]:
        """Returns the items of a reply, each with its reason for refusal."""

    def reset(self, rng: np.random.Generator) -> None:
        """Begins with the first batch; draws nothing at random."""
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0,)
        self.last: tuple[Draft, ...] = ()
        self._commission: Commission[Item] = Commission.begun(self.count, self.batch, self.calls)

    @property
    def accepted(self) -> tuple[Item, ...]:
        """Returns the items accepted up to now."""
        return self._commission.accepted

    @property
    def wanted(self) -> int:
        """Returns the number of items requested now; 0 at the end."""
        return self._commission.wanted if self.to_move else 0

    def why_illegal(self, agent: str, action: tuple[Item, ...]) -> Reason | None:
        """Returns ``None``: every reply is legal, even if all its items are refused."""
        return None

    def default_action(self, agent: str) -> tuple[Item, ...]:
        """Returns an empty item."""
        return self.nothing

    def apply(self, actions: tuple[tuple[Item, ...], ...]) -> None:
        """Keeps the good items, then requests the missing ones or the next batch, or ends the match."""
        drafts = tuple(self.screen(actions[0]))
        good = [draft[0] for draft in drafts if draft.refused is None]
        self._commission = self._commission.taken(good, [draft.refused.name for draft in drafts if draft.refused])
        self.last = drafts if self._commission.asked else ()
        if not self._commission.wanted:
            self.to_move = ()
            self.rewards = (len(self.accepted) / self.count,)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the numbers of drafted and accepted items, and of refused items by reason."""
        return self._commission.statistics(self.refusals)
