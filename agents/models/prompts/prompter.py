"""What a model is sent in a match, from what it reads and what it replied: for whoever asks it, and for whoever reads the record.

A policy notes in the detail of its replies how it puts its messages together (``FORM``, in its first call of a match) and a
fingerprint of them (``PROMPT``, in every call). So they need not be recorded: they are put together again, and known to be the
same.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agents.models.prompts.history import Conversation, Memory, Message, add_rules
from agents.models.prompts.serialisers import Serialiser, read_serialiser
from agents.records import encodable
from llmarena_envs.core.options import OptionError

FORM, PROMPT = "prompt_form", "prompt"
"""Names in the detail of a reply."""

_DIGITS = 16
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True)
class PromptForm:
    """How messages are put together.

    Attributes:
        memory: how much of a match is sent.
        system_role: role of the message that holds the rules.
        serialiser: how the conversation is put into messages: a name, or a function.
    """

    memory: Memory
    system_role: str
    serialiser: str | Serialiser

    def table(self) -> dict[str, Any]:
        """Returns it as JSON values; a function is ``None``."""
        serialiser = self.serialiser if isinstance(self.serialiser, str) else None
        return {**asdict(self.memory), "system_role": self.system_role, "serialiser": serialiser}


def read_form(table: object) -> PromptForm:
    """Reads what ``PromptForm.table`` returned.

    Raises:
        OptionError: if it is something else, or names no serialiser, as for a function.
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
    """Puts together what a model is sent, in one match.

    Args:
        form: how.
    """

    def __init__(self, form: PromptForm) -> None:
        self._role = form.system_role
        self._serialise = read_serialiser(form.serialiser)
        self._conversation = Conversation(form.memory)
        self._said = ""

    def hear(self, observation: Mapping[str, Any]) -> list[Message]:
        """Returns the messages that are to be sent now."""
        self._said = self._conversation.hear(observation)
        said = self._conversation.messages(self._said, fresh=bool(observation.get("fresh_history")))
        chat = observation.get("chat")
        rules = chat[0].content if chat else observation["rules"]
        return add_rules(encodable(rules), self._serialise(said), self._role)

    def remember(self, reply: str) -> None:
        """Takes note of the reply to what was heard last."""
        self._conversation.remember(self._said, reply)


def fingerprint(messages: Sequence[Message]) -> str:
    """Returns what tells messages from any others: the first 16 hexadecimal digits of their SHA-256."""
    return hashlib.sha256(_canonical(messages).encode()).hexdigest()[:_DIGITS]
