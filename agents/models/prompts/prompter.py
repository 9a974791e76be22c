"""Construction of a model's messages in a match, for play and for inspection of records.

A policy records the format of its messages (``FORM``, in the first call of a match) and their fingerprint (``PROMPT``, in every
call). The messages themselves need not be recorded: they can be rebuilt and verified.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agents.models.prompts.history import Conversation, Memory, Message, add_rules, kept_reply
from agents.models.prompts.serialisers import Serialiser, read_serialiser
from agents.records import encodable
from llmarena_envs.core.options import OptionError

FORM, PROMPT, FREE_REPLY = "prompt_form", "prompt", "free_reply"
"""Names in the detail of a reply; the last one holds the reply before it was restated."""

_DIGITS = 16
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True)
class PromptForm:
    """Format of the messages.

    Attributes:
        memory: limits of the history.
        system_role: role of the message with the rules.
        serialiser: conversion of the conversation to messages: a name, or a function.
    """

    memory: Memory
    system_role: str
    serialiser: str | Serialiser

    def table(self) -> dict[str, Any]:
        """Returns the format as JSON values; a function is ``None``."""
        serialiser = self.serialiser if isinstance(self.serialiser, str) else None
        return {**asdict(self.memory), "system_role": self.system_role, "serialiser": serialiser}


def read_form(table: object) -> PromptForm:
    """Reads the result of ``PromptForm.table``.

    Raises:
        OptionError: if it is invalid, or has no serialiser name because a function was used.
    """
    expected = {*(field.name for field in fields(Memory)), "system_role", "serialiser"}
    if not isinstance(table, Mapping) or table.keys() != expected:
        raise OptionError(f"expected how messages are put together, got {str(table)[:80]!r}")
    rest = dict(table)
    system_role, serialiser = rest.pop("system_role"), rest.pop("serialiser")
    if serialiser is None:
        raise OptionError("the messages were put together by a serialiser made in code, which is not recorded")
    read_serialiser(serialiser)
    return PromptForm(Memory(**rest), system_role, serialiser)


class Prompter:
    """Builds the messages of one match.

    Args:
        form: their format.
    """

    def __init__(self, form: PromptForm) -> None:
        self._form = form
        self._serialise = read_serialiser(form.serialiser)
        self._conversation = Conversation(form.memory)
        self._said, self._rules = "", ""
        self._messages: list[Message] = []

    def hear(self, observation: Mapping[str, Any]) -> list[Message]:
        """Returns the messages to send."""
        self._said = self._conversation.hear(observation)
        chat = observation.get("chat")
        self._rules = encodable(chat[0].content if chat else observation["rules"])
        self._messages = self._conversation.messages(self._said, fresh=bool(observation.get("fresh_history")))
        return self._written(self._messages)

    def restate(self, reply: str, form: str) -> list[Message]:
        """Returns the messages that ask to restate a free reply; none if the reply is blank.

        Args:
            reply: the free reply.
            form: the request.
        """
        kept = kept_reply(reply, self._form.memory)
        if not kept:
            return []
        return self._written(
            [*self._messages, {"role": "assistant", "content": kept}, {"role": "user", "content": form}]
        )

    def _written(self, messages: Sequence[Message]) -> list[Message]:
        return add_rules(self._rules, self._serialise(messages), self._form.system_role)

    def remember(self, reply: str) -> None:
        """Remembers the reply to the last messages."""
        self._conversation.remember(self._said, reply)


def fingerprint(messages: Sequence[Message]) -> str:
    """Returns a fingerprint of messages: the first 16 hexadecimal digits of their SHA-256."""
    return hashlib.sha256(_canonical(messages).encode()).hexdigest()[:_DIGITS]
