"""The rules of work on commission: one author, who is asked for items by batches until all are there or nobody asks any more."""

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
    """An item as its author gave it, the first member of a tuple; ``refused`` says why it is not kept, or is ``None``."""

    @property
    def refused(self) -> Reason | None:
        """Why it is not kept."""

    def __getitem__(self, index: int, /) -> Any:
        """Returns a member."""


Item = TypeVar("Item")
AuthorView = TypeVar("AuthorView", bound=View)
Draft = TypeVar("Draft", bound=Screened)


class CommissionGame(Game[tuple[Item, ...], AuthorView], Generic[Item, AuthorView, Draft]):
    """A commission; an action is the items of one reply.

    Args:
        count: how many items are wanted.
        batch: how many of them are asked for at once.
        calls: how often a batch is asked for at most; what is missing then is left out.

    Attributes:
        nothing: what counts for a reply that could not be read: an item that is empty.
        max_batch: greatest ``batch``.
        refusals: names of the statistics that count refused items, by reason.
        last: all items of the last reply to the present batch, with the reason why one was not kept.
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
        """Returns the items of a reply, each with the reason why it is not kept."""

    def reset(self, rng: np.random.Generator) -> None:
        """Begins with the first batch; nothing is drawn."""
        self.to_move: tuple[str, ...] = self.agents
        self.rewards = (0.0,)
        self.last: tuple[Draft, ...] = ()
        self._commission: Commission[Item] = Commission.begun(self.count, self.batch, self.calls)

    @property
    def accepted(self) -> tuple[Item, ...]:
        """Returns what was kept so far."""
        return self._commission.accepted

    @property
    def wanted(self) -> int:
        """Returns how many items are asked for now; 0 at the end."""
        return self._commission.wanted if self.to_move else 0

    def why_illegal(self, agent: str, action: tuple[Item, ...]) -> Reason | None:
        """Returns ``None``: every reply counts, whatever is kept of it."""
        return None

    def default_action(self, agent: str) -> tuple[Item, ...]:
        """Returns an item that is empty."""
        return self.nothing

    def apply(self, actions: tuple[tuple[Item, ...], ...]) -> None:
        """Keeps what is good, and asks for what is missing, for the next batch, or for nothing more."""
        drafts = tuple(self.screen(actions[0]))
        good = [draft[0] for draft in drafts if draft.refused is None]
        self._commission = self._commission.taken(good, [draft.refused.name for draft in drafts if draft.refused])
        self.last = drafts if self._commission.asked else ()
        if not self._commission.wanted:
            self.to_move = ()
            self.rewards = (len(self.accepted) / self.count,)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns what was drafted and kept, and the items refused by reason."""
        return self._commission.statistics(self.refusals)
