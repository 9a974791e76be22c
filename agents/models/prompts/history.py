"""The message history sent to a model.

A match is remembered turn by turn: the text, and the last reply of the turn. The history is bounded: reasoning is removed from
replies, long replies are cut, and rejected ones are dropped after their turn. (Incomplete replies stay, together with the reply
that completed them.)
"""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from agents.records import encodable
from llmarena_envs.core import declaration
from llmarena_envs.core.codec import ChatMessage
from llmarena_envs.core.options import OptionError, check_choice, check_int
from llmarena_envs.core.replies import read_part
from llmarena_envs.core.text_length import TOKEN, WordCounter

UPDATES = "updates"
HISTORIES = ("none", *declaration.HISTORIES, UPDATES)
REJECTED = ("keep", "cap", "drop")
WINDOWS = ("history_turns", "history_tokens")
"""Options that imply a full history."""

LONGEST_REJECTED = 1_000
"""Characters kept of a rejected reply with ``cap``, counted from its end, where the move is."""

SHORTEST_KEPT = 100
"""Minimum of ``longest_kept``, in characters."""

_CUT_OFF = "[...] "
_COUNTER = WordCounter("en")

Message = dict[str, str]
"""``role`` and ``content``."""


@dataclass(frozen=True)
class Memory:
    """Limits of the history.

    Attributes:
        turns: maximum number of earlier turns, or ``None`` for all.
        tokens: maximum number of tokens of earlier turns, by ``estimate_tokens``, or ``None`` for no limit.
        rejected: treatment of a rejected reply within its turn: ``keep``, ``cap`` or ``drop``.
        longest_kept: maximum number of characters of a reply, counted from its end.
        updates: whether turns hold only the news, which requires all earlier turns.
    """

    turns: int | None
    tokens: int | None
    rejected: str
    longest_kept: int
    updates: bool = False

    @property
    def wants_chat(self) -> bool:
        """Whether the native chat replaces the remembered one: with a full history and no window."""
        return self.turns is None and self.tokens is None and not self.updates


def read_memory(
    history: str | None, history_turns: int | None, history_tokens: int | None, rejected: str, longest_kept: int
) -> Memory:
    """Returns the history limits for the options of a policy; see ``LLMPolicy``.

    Raises:
        OptionError: if an option is invalid, or two of them contradict each other.
    """
    check_choice("rejected", rejected, REJECTED)
    check_int("longest_kept", longest_kept, SHORTEST_KEPT, 10_000_000)
    windows = {"history_turns": history_turns, "history_tokens": history_tokens}
    given = [name for name, size in windows.items() if size is not None]
    for name in given:
        check_int(name, windows[name], 1, 1_000_000_000)
    if history is None:
        history = "full" if given else "single_turn"
    check_choice("history", history, HISTORIES)
    if history == "full":
        return Memory(history_turns, history_tokens, rejected, longest_kept)
    if given:
        raise OptionError(f"{given[0]}: expected history='full' or no history beside it, got history={history!r}")
    if history == UPDATES:
        return Memory(None, None, rejected, longest_kept, updates=True)
    return Memory(0, None, "drop", longest_kept)


def estimate_tokens(text: str) -> int:
    """Returns an approximate number of tokens, for any model: 4 per 3 words, and at least one per 4 bytes of UTF-8."""
    return max(math.ceil(_COUNTER.length(text) / TOKEN), math.ceil(len(text.encode()) / 4))


def add_rules(rules: str, messages: Sequence[Message], system_role: str) -> list[Message]:
    """Returns messages preceded by the rules; with the role ``user`` the rules are prepended to the first message."""
    if system_role == "user":
        first = {"role": "user", "content": f"{rules}\n\n{messages[0]['content']}"}
        return [first, *messages[1:]]
    return [{"role": system_role, "content": rules}, *messages]


class Exchange(NamedTuple):
    """A user message and the model's reply."""

    said: str
    reply: str


class Conversation:
    """One match as remembered by its player.

    Call ``hear`` with an observation, ``messages`` to get the messages to send, ``remember`` with the reply.

    If an observation holds the match in native roles (``chat``), it replaces the earlier turns.

    A conversation of updates loses no text: the text of a turn that ended without a reply is repeated with the next one. Turns
    with ``fresh_history`` are sent in full and not remembered.

    Args:
        memory: the limits.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._earlier: deque[tuple[Exchange, int]] = deque()  # with their tokens, if limited
        self._tokens = 0
        self._turn: list[Exchange] = []
        self._chat: Sequence[ChatMessage] = ()
        self._text = ""
        self._kept = ""
        self._unanswered = ""
        self._is_apart = False

    def hear(self, observation: Mapping[str, Any]) -> str:
        """Returns the next user message, and removes parts of the conversation that it replaces.

        Nothing is repeated: after a rejected reply that is kept, only the feedback follows. Otherwise the text of the turn is
        sent again, with the end of the reply and the feedback, if any. Blank replies are never part of a conversation, since many
        servers reject empty messages.
        """
        if not observation.get("attempt"):
            self._end_turn()
            self._chat = observation.get("chat", ())
            self._is_apart = self._memory.updates and bool(observation.get("fresh_history"))
            self._text, self._kept = self._read(observation), ""
            return self._text
        text = self._read(observation)
        self._kept = encodable(observation.get("kept", ""))
        feedback = observation.get("feedback")
        if not feedback or self._memory.rejected == "drop":
            self._turn.clear()
        elif self._turn:
            said, reply = self._turn.pop()
            if self._memory.rejected == "cap" and not self._kept:
                reply = _cut(reply, LONGEST_REJECTED)
            if reply:
                self._turn.append(Exchange(said, reply))
        return encodable(feedback) if feedback and self._turn else text

    def _read(self, observation: Mapping[str, Any]) -> str:
        """Returns the text of a turn."""
        if chat := observation.get("chat"):
            return encodable(chat[-1].content)
        if not self._memory.updates or self._is_apart:
            return encodable(observation["text"])
        update = encodable(observation.get("update", observation["text"]))
        return f"{self._unanswered}\n\n{update}" if self._unanswered else update

    def messages(self, said: str, *, fresh: bool = False) -> list[Message]:
        """Returns the conversation followed by ``said``, alternating ``user`` and ``assistant``.

        Args:
            said: the result of ``hear``.
            fresh: whether to leave out earlier turns.
        """
        if self._chat:
            messages = [{"role": role, "content": encodable(content)} for role, content in self._chat[1:-1]]
        else:
            messages = _messages([] if fresh else [exchange for exchange, _ in self._earlier])
        return [*messages, *_messages(self._turn), {"role": "user", "content": said}]

    def remember(self, said: str, reply: str) -> None:
        """Adds a reply, without its reasoning."""
        self._turn.append(Exchange(said, kept_reply(reply, self._memory)))

    def _end_turn(self) -> None:
        """Reduces the turn to its text and last reply, and drops turns beyond the limits."""
        reply = self._turn[-1].reply if self._turn else ""
        if self._is_apart:
            reply = ""
        elif self._memory.updates:
            self._unanswered = "" if reply else self._text
        if reply:
            reply = _cut(f"{self._kept}\n{reply}", self._memory.longest_kept) if self._kept else reply
            exchange = Exchange(self._text, reply)
            limited = self._memory.tokens is not None
            tokens = estimate_tokens(exchange.said) + estimate_tokens(exchange.reply) if limited else 0
            self._earlier.append((exchange, tokens))
            self._tokens += tokens
        self._turn.clear()
        while self._is_too_long():
            self._tokens -= self._earlier.popleft()[1]

    def _is_too_long(self) -> bool:
        memory = self._memory
        return (memory.turns is not None and len(self._earlier) > memory.turns) or (
            memory.tokens is not None and self._tokens > memory.tokens
        )


def kept_reply(reply: str, memory: Memory) -> str:
    """Returns a reply for the history: without its reasoning, cut to its end; empty if blank."""
    return _cut(read_part(encodable(reply)), memory.longest_kept)


def _messages(exchanges: Iterable[Exchange]) -> list[Message]:
    return [
        {"role": role, "content": content}
        for said, reply in exchanges
        for role, content in (("user", said), ("assistant", reply))
    ]


def _cut(reply: str, longest: int) -> str:
    """Returns the end of a reply, or an empty text if it is blank."""
    if not reply.strip():
        return ""
    return reply if len(reply) <= longest else _CUT_OFF + reply[len(_CUT_OFF) - longest :]
