"""Conversations of each seat of a recorded match.

Each match is replayed; a match that differs from its record gives no data.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.chat import Chat, Message
from agents.records import Attempt, Turn, encodable
from agents.turn import TurnSettings
from llmarena_envs.core.failures import Failure
from rating.store.record import Record
from rating.store.verify import Recorded, play_again


@dataclass(frozen=True)
class Reply:
    """One reply in a conversation.

    Attributes:
        heard: messages since the previous reply.
        text: the reply.
        turn: number of the turn in the match, from 0.
        first: whether it is the first reply of its turn; later ones answer the rejection of the one before.
        kind: the outcome.
        is_move: whether it states a complete move, played unchanged.
        played: the move in the game's grammar, or the action played instead.
        reward: reward of the seat from this reply up to its next one; 0 if it is asked again.
        reasoning: reasoning before the reply.
    """

    heard: tuple[Message, ...]
    text: str
    turn: int
    first: bool
    kind: Failure
    is_move: bool
    played: str
    reward: float
    reasoning: str


@dataclass
class Seat:
    """One seat of a match.

    Attributes:
        agent: its id.
        conversations: replies of each conversation, in order.
        initial_reward: reward before its first reply.
    """

    agent: str
    conversations: list[list[Reply]] = field(default_factory=list)
    initial_reward: float = 0.0


def listen(record: Record, settings: TurnSettings, history: str) -> list[Seat]:
    """Replays a match and returns its seats in order.

    Args:
        record: of a match that was played to its end.
        settings: invalid-reply policy of its run.
        history: content of a conversation; see ``agents.chat.Chat``.

    Raises:
        ReplayMismatch: if the replay differs from the record.
    """
    listeners: dict[str, _Listener] = {}

    def seat(agent: str) -> _Listener:
        return listeners.setdefault(agent, _Listener(history))

    episode = play_again(record, settings, seat)
    rewards, initial = _rewards(episode.turns)
    seats = []
    for agent, listener in listeners.items():
        attempts = _attempts(episode.turns, agent)
        conversations: list[list[Reply]] = [[] for _ in listener.conversations]
        for said, (turn, attempt, last) in zip(listener.said, attempts, strict=True):
            kind = attempt.kind
            conversations[said.conversation].append(
                Reply(
                    heard=said.heard,
                    text=encodable(attempt.reply),
                    turn=turn.index,
                    first=said.first,
                    kind=kind,
                    is_move=last and not turn.fallback and kind is Failure.OK and not said.completes,
                    played=turn.played,
                    reward=rewards[turn.index] if last else 0.0,
                    reasoning=encodable(attempt.reasoning),
                )
            )
        seats.append(Seat(agent, conversations, initial[agent]))
    return seats


def messages_of(replies: Sequence[Reply], *, rejected: bool) -> tuple[list[Message], list[Reply]]:
    """Returns a conversation up to its last reply, and its replies, in order.

    Args:
        replies: of the conversation.
        rejected: whether to keep replies that are no move, with the reasons for their rejection. Otherwise the conversation holds
            moves only, and the messages of a turn without a move come before the messages of the next turn.
    """
    kept = [reply for reply in replies if rejected or reply.is_move]
    messages: list[Message] = []
    for reply in replies:
        _hear(messages, reply, rejected)
        _say(messages, reply, rejected)
    while messages and messages[-1]["role"] != "assistant":
        messages.pop()
    return messages, kept


def prompts_of(replies: Sequence[Reply], *, rejected: bool) -> Iterator[tuple[list[Message], Reply]]:
    """Yields the first reply of every turn after the messages that it answers; ``rejected`` as in ``messages_of``."""
    messages: list[Message] = []
    for reply in replies:
        _hear(messages, reply, rejected)
        if reply.first:
            yield messages[:], reply
        _say(messages, reply, rejected)


def _hear(messages: list[Message], reply: Reply, rejected: bool) -> None:
    if rejected or reply.first:
        for message in reply.heard:
            _add(messages, message)


def _say(messages: list[Message], reply: Reply, rejected: bool) -> None:
    if rejected or reply.is_move:
        messages.append({"role": "assistant", "content": reply.text})


def _add(messages: list[Message], message: Message) -> None:
    """Adds a message, merged with a previous one of the same role: chat templates require alternating roles."""
    if messages and messages[-1]["role"] == message["role"]:
        last = messages.pop()
        message = {**last, "content": f"{last['content']}\n\n{message['content']}"}
    messages.append(message)


@dataclass(frozen=True)
class _Said:
    """A replayed reply: messages before it, conversation index, and whether it completes a partly kept reply."""

    heard: tuple[Message, ...]
    conversation: int
    first: bool
    completes: bool


class _Listener(Recorded):
    """Records the messages of one seat during a replay."""

    wants_update = True

    def __init__(self, history: str) -> None:
        self._chat = Chat(history)
        self._numbers: dict[int, int] = {}  # conversation index by ``id`` of its messages
        self.conversations: list[list[Message]] = []
        self.said: list[_Said] = []

    def recall(self, observation: Mapping[str, Any], reply: str) -> None:
        heard = tuple(self._chat.hear(observation))
        messages = self._chat.messages
        number = self._numbers.setdefault(id(messages), len(self.conversations))
        if number == len(self.conversations):
            self.conversations.append(messages)
        self.said.append(_Said(heard, number, not observation.get("attempt"), bool(observation.get("kept"))))
        self._chat.say(reply)


def _attempts(turns: Sequence[Turn], agent: str) -> Iterator[tuple[Turn, Attempt, bool]]:
    """Yields every reply of an agent with its turn, and whether it is the last one of the turn."""
    for turn in turns:
        if turn.agent == agent:
            for number, attempt in enumerate(turn.attempts, 1):
                yield turn, attempt, number == len(turn.attempts)


def _rewards(turns: Sequence[Turn]) -> tuple[dict[int, float], dict[str, float]]:
    """Returns the rewards from each turn up to the actor's next one, by turn, and the rewards before an agent's first turn."""
    received: dict[int, float] = {}
    initial: dict[str, float] = defaultdict(float)
    last: dict[str, int] = {}
    for turn in turns:
        last[turn.agent] = turn.index
        received[turn.index] = 0.0
        for agent, reward in turn.rewards.items():
            if agent in last:
                received[last[agent]] += reward
            else:
                initial[agent] += reward
    return received, initial
