"""The messages sent to a model in a match, for play and for inspection of records.

A match is remembered turn by turn: the text, and the last reply of the turn. The history is bounded: reasoning is removed from
replies, long replies are cut, and rejected ones are dropped after their turn. (Incomplete replies stay, together with the reply
that completed them.)

A policy records the fingerprint of its messages (``PROMPT``) in every call. The messages themselves need not be recorded: they
can be rebuilt and verified.
"""

import hashlib
import json
import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agents.chat import Message
from agents.models.prompts.form import PromptForm
from agents.models.prompts.serialisers import read_serialiser
from agents.records import encodable
from llmarena_envs.core.codec import ChatMessage
from llmarena_envs.core.replies import read_part
from llmarena_envs.core.text_length import TOKEN, WordCounter

PROMPT, FREE_REPLY = "prompt", "free_reply"
"""Names in the detail of a reply; the last one holds the reply before it was restated."""

LONGEST_REJECTED = 1_000
"""Characters kept of a rejected reply with ``cap``, counted from its end, where the move is."""

_CUT_OFF = "[...] "
_COUNTER = WordCounter("en")
_DIGITS = 16
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


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
    """The messages of one match, as remembered by its player.

    Call ``hear`` with an observation to get the messages to send, then ``remember`` with the reply.

    If an observation holds the match in native roles (``chat``), it replaces the earlier turns.

    A conversation of updates loses no text: the text of a turn that ended without a reply is repeated with the next one. Turns
    with ``fresh_history`` are sent in full and not remembered.

    Args:
        form: format of the messages.
    """

    def __init__(self, form: PromptForm) -> None:
        self._memory = form.memory
        self._system_role = form.system_role
        self._serialise = read_serialiser(form.serialiser)
        self._earlier: deque[tuple[Exchange, int]] = deque()  # with their tokens, if limited
        self._tokens = 0
        self._turn: list[Exchange] = []
        self._chat: Sequence[ChatMessage] = ()
        self._text = ""
        self._kept = ""
        self._unanswered = ""
        self._is_apart = False
        self._rules = self._said = ""
        self._sent: list[Message] = []

    def hear(self, observation: Mapping[str, Any]) -> list[Message]:
        """Returns the messages to send, the rules first.

        Nothing is repeated: after a rejected reply that is kept, only the feedback follows. Otherwise the text of the turn is
        sent again, with the end of the reply and the feedback, if any. Blank replies are never part of a conversation, since many
        servers reject empty messages. With ``fresh_history`` earlier turns are left out.
        """
        chat = observation.get("chat")
        self._rules = encodable(chat[0].content if chat else observation["rules"])
        self._said = self._hear(observation)
        self._sent = self._messages(fresh=bool(observation.get("fresh_history")))
        return self._written(self._sent)

    def restate(self, reply: str, form: str) -> list[Message]:
        """Returns the messages that ask to restate a free reply; none if the reply is blank.

        Args:
            reply: the free reply.
            form: the request.
        """
        kept = self._kept_reply(reply)
        if not kept:
            return []
        return self._written([*self._sent, {"role": "assistant", "content": kept}, {"role": "user", "content": form}])

    def remember(self, reply: str) -> None:
        """Remembers the reply to the last messages, without its reasoning."""
        self._turn.append(Exchange(self._said, self._kept_reply(reply)))

    def _hear(self, observation: Mapping[str, Any]) -> str:
        """Returns the next user message, and removes parts of the conversation that it replaces."""
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

    def _messages(self, *, fresh: bool) -> list[Message]:
        """Returns the conversation up to the last text, alternating ``user`` and ``assistant``."""
        if self._chat:
            messages = [{"role": role, "content": encodable(content)} for role, content in self._chat[1:-1]]
        else:
            messages = _as_messages([] if fresh else [exchange for exchange, _ in self._earlier])
        return [*messages, *_as_messages(self._turn), {"role": "user", "content": self._said}]

    def _written(self, messages: Sequence[Message]) -> list[Message]:
        return add_rules(self._rules, self._serialise(messages), self._system_role)

    def _kept_reply(self, reply: str) -> str:
        """Returns a reply for the history: without its reasoning, cut to its end; empty if blank."""
        return _cut(read_part(encodable(reply)), self._memory.longest_kept)

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


def fingerprint(messages: Sequence[Message]) -> str:
    """Returns a fingerprint of messages: the first 16 hexadecimal digits of their SHA-256."""
    return hashlib.sha256(_canonical(messages).encode()).hexdigest()[:_DIGITS]


def _as_messages(exchanges: Iterable[Exchange]) -> list[Message]:
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
