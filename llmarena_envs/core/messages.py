"""The message pool: the messages of all agents, managed by the environment.

Source: DeepEval (arXiv 2309.04369), section 3.3. Agents never exchange text directly; the environment adds the messages
that the declared channels allow, and selects the messages visible to an agent.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from llmarena_envs.core.declaration import Channel, role_of

HOST = "host"
"""The sender of the environment's messages."""

Entry = TypeVar("Entry")
"""The message type of a game: ``Message``, or a custom type."""


class Message(NamedTuple):
    """A text with its sender and its round, counted from 1."""

    round: int
    sender: str
    text: str


class Sent(NamedTuple, Generic[Entry]):
    """An entry of the pool with its channel name, its sender, and its readers besides the sender."""

    kind: str
    sender: str
    readers: tuple[str, ...]
    entry: Entry


@dataclass(frozen=True)
class MessagePool(Generic[Entry]):
    """The messages of a match in order. A pool is immutable: adding a message returns a new pool.

    Attributes:
        channels: the declared kinds of messages.
        agents: every agent.
        sent: the messages.
    """

    channels: Mapping[str, Channel]
    agents: tuple[str, ...]
    sent: tuple[Sent[Entry], ...] = ()

    def with_message(
        self, kind: str, sender: str, entry: Entry, readers: Collection[str] | None = None
    ) -> "MessagePool[Entry]":
        """Returns the pool with one more message.

        Args:
            kind: name of the channel.
            sender: agent id, or ``HOST``.
            entry: the message.
            readers: its readers; by default all that the channel allows.

        Raises:
            ValueError: if the channel does not exist, or allows neither this sender nor one of the readers.
        """
        channel = self.channels.get(kind)
        if channel is None:
            raise ValueError(f"kind: expected a declared channel ({', '.join(self.channels)}), got {kind!r}")
        if role_of(sender) != channel.sender:
            raise ValueError(f"{kind}: expected a sender in the role {channel.sender!r}, got {sender!r}")
        allowed = tuple(agent for agent in self.agents if agent != sender and role_of(agent) in channel.readers)
        chosen = allowed if readers is None else tuple(readers)
        if strangers := [agent for agent in chosen if agent not in allowed]:
            raise ValueError(f"{kind}: expected readers among {list(allowed)}, got {strangers}")
        return MessagePool(self.channels, self.agents, (*self.sent, Sent(kind, sender, chosen, entry)))

    def of(self, *kinds: str) -> tuple[Entry, ...]:
        """Returns the messages of these kinds, in order."""
        return tuple(sent.entry for sent in self.sent if sent.kind in kinds)

    def visible_to(self, agent: str, *kinds: str) -> tuple[Entry, ...]:
        """Returns the messages visible to ``agent``, its own included, in order; by default of all kinds."""
        kinds = kinds or tuple(self.channels)
        return tuple(
            sent.entry for sent in self.sent if sent.kind in kinds and (agent == sent.sender or agent in sent.readers)
        )

    def changed(self, change: Callable[[Sent[Entry]], Sent[Entry]]) -> "MessagePool[Entry]":
        """Returns the pool with ``change`` applied to every message; used by ``Game.resample``."""
        return MessagePool(self.channels, self.agents, tuple(map(change, self.sent)))

    def __iter__(self) -> Iterator[Entry]:
        return iter([sent.entry for sent in self.sent])

    def __len__(self) -> int:
        return len(self.sent)
