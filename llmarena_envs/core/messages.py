"""The message pool: every utterance of a match, kept by the environment, read through it only.

Source: DeepEval (arXiv 2309.04369) section 3.3. Agents never exchange text directly; the environment appends to the
pool and selects what each agent may read.
"""

from collections.abc import Iterator
from typing import NamedTuple


class Message(NamedTuple):
    """One utterance.

    Attributes:
        round: number of the round it was sent in, counted from 1.
        sender: agent id, or ``"host"`` for the environment itself.
        text: the utterance.
        readers: the agents who may read it besides its sender; ``None`` for everybody.
    """

    round: int
    sender: str
    text: str
    readers: frozenset[str] | None = None

    def visible_to(self, agent: str) -> bool:
        """Says whether ``agent`` may read this message."""
        return self.readers is None or agent == self.sender or agent in self.readers


class MessagePool:
    """An append-only sequence of messages; copies are independent.

    Args:
        messages: messages to begin with.
    """

    def __init__(self, messages: tuple[Message, ...] = ()) -> None:
        self._messages = messages

    def append(self, message: Message) -> None:
        """Adds a message at the end.

        Raises:
            ValueError: if its round is below 1 or below the round of the last message.
        """
        least = self._messages[-1].round if self._messages else 1
        if message.round < least:
            raise ValueError(f"round: expected at least {least}, got {message.round}: the pool is append-only")
        self._messages += (message,)

    def visible_to(self, agent: str) -> tuple[Message, ...]:
        """Returns the messages that ``agent`` may read, in the order they were sent."""
        return tuple(message for message in self._messages if message.visible_to(agent))

    def __iter__(self) -> Iterator[Message]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)
