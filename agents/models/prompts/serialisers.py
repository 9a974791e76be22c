"""Conversion of a conversation to messages.

By default the model's own replies have the role ``assistant``, everything else has the role ``user`` (DeepEval section 4.1.2).
For models without roles the conversation becomes one plain text with a name before every utterance, ending with the model's name.
"""

import re
from collections.abc import Callable, Sequence

from agents.chat import Message
from llmarena_envs.core.options import OptionError

Serialiser = Callable[[Sequence[Message]], list[Message]]
"""Converts a conversation without the rules to the messages to send."""

ROLES = "roles"
"""Name of the serialiser that leaves the conversation unchanged."""

_LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_NAME = re.compile(r"[^\W_](?:[\w .-]{0,38}\w)?")


class Transcript:
    """Writes a conversation as one plain text.

    Lines within an utterance that look like the start of a turn are prefixed with ``> `` to prevent impersonation.

    Args:
        user: name before texts for the model, e.g. ``Human``.
        assistant: name before the model's replies, e.g. ``Assistant``.
    """

    def __init__(self, user: str, assistant: str) -> None:
        self._names = {"user": user, "assistant": assistant}
        self._forged = re.compile(
            rf"(?<![^{_LINE_ENDS}])(?=[ \t\u3000]*+(?:{re.escape(user)}|{re.escape(assistant)})[ \t]*+[:：])",
            re.IGNORECASE,
        )

    def __call__(self, messages: Sequence[Message]) -> list[Message]:
        """Returns one message with the whole conversation."""
        said = [
            f"{self._names[message['role']]}: {self._forged.sub('> ', message['content']).strip()}"
            for message in messages
        ]
        return [{"role": "user", "content": "\n\n".join([*said, f"{self._names['assistant']}:"])}]


def read_serialiser(value: object) -> Serialiser:
    """Returns the serialiser for the value of an option.

    Args:
        value: ``roles``, two names as in ``Human/Assistant``, ``User/Bot`` or ``用户/助手``, or a function.

    Raises:
        OptionError: if the value is invalid.
    """
    if callable(value):
        return value
    if value == ROLES:
        return list
    names = [name.strip() for name in value.split("/")] if isinstance(value, str) else []
    if len(names) != 2 or not all(_NAME.fullmatch(name) for name in names) or names[0].lower() == names[1].lower():
        raise OptionError(
            f"serialiser: expected {ROLES!r}, or the names of the two who talk as in 'Human/Assistant', got {value!r}"
        )
    return Transcript(*names)
