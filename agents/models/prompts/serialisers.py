"""How a conversation is put into messages.

By default what the model itself said stands under the role ``assistant``, and what everybody else and the game said under
``user`` (DeepEval section 4.1.2). For models that know no roles the same conversation becomes one plain text in which a name
stands before everything that is said, and that ends with the name of the model, whose turn it is.
"""

import re
from collections.abc import Callable, Sequence

from agents.models.prompts.history import Message
from llmarena_envs.core.options import OptionError

Serialiser = Callable[[Sequence[Message]], list[Message]]
"""Takes a conversation without the rules and returns what is sent of it."""

ROLES = "roles"
"""The name of the serialiser that leaves the conversation as it is."""

_LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
_NAME = re.compile(r"[^\W_](?:[\w .-]{0,38}\w)?")


class Transcript:
    """Writes a conversation as one plain text.

    A line of what is said that begins like a turn is set off by ``> ``, so that nobody can speak in the name of another.

    Args:
        user: name that stands before what the model reads, e.g. ``Human``.
        assistant: name that stands before what the model said, e.g. ``Assistant``.
    """

    def __init__(self, user: str, assistant: str) -> None:
        self._names = {"user": user, "assistant": assistant}
        self._forged = re.compile(
            rf"(?<![^{_LINE_ENDS}])(?=[ \t\u3000]*+(?:{re.escape(user)}|{re.escape(assistant)})[ \t]*+[:：])",
            re.IGNORECASE,
        )

    def __call__(self, messages: Sequence[Message]) -> list[Message]:
        """Returns one message that holds all of them."""
        said = [
            f"{self._names[message['role']]}: {self._forged.sub('> ', message['content']).strip()}"
            for message in messages
        ]
        return [{"role": "user", "content": "\n\n".join([*said, f"{self._names['assistant']}:"])}]


def read_serialiser(value: object) -> Serialiser:
    """Returns the serialiser that an option names.

    Args:
        value: ``roles``, two names as in ``Human/Assistant``, ``User/Bot`` or ``用户/助手``, or a serialiser made in code.

    Raises:
        OptionError: if it is something else.
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
