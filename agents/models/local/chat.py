"""Conversion of chat messages to a model's text format."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agents.chat import Message

PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ {'user': 'User: ', 'assistant': 'Assistant: '}.get(message['role'], '') }}"
    "{{ message['content'] }}\n\n{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
"""For models without a chat template, which were not trained to chat."""

_MARK = "d41d8cd9"


class ChatFormat:
    """The chat format of a tokenizer.

    Messages cannot inject control tokens: a token such as ``<|im_end|>`` inside a message is broken up.

    Args:
        tokenizer: a tokenizer of transformers.
        variables: further variables of the template, e.g. ``enable_thinking``.
    """

    def __init__(self, tokenizer: Any, variables: Mapping[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._variables = dict(variables)
        self._template = None if tokenizer.chat_template else PLAIN_TEMPLATE
        control = sorted((str(token) for token in tokenizer.added_tokens_decoder.values() if token.special), key=len)
        self._control = re.compile("|".join(re.escape(token) for token in reversed(control)) or "(?!)")

    def knows_role(self, role: str) -> bool:
        """Returns whether a first message of this role is written: some templates reject it, some omit it."""
        try:
            written = self.write([{"role": role, "content": _MARK}, {"role": "user", "content": "?"}])
        except ValueError:
            return False
        return _MARK in written

    def write(self, messages: Sequence[Message]) -> str:
        """Returns the messages as text, ending at the start of the model's reply.

        Raises:
            ValueError: if the template rejects them.
        """
        from jinja2 import TemplateError

        told = [{**message, "content": self._control.sub(_break_up, message["content"])} for message in messages]
        try:
            return self._tokenizer.apply_chat_template(
                told, chat_template=self._template, tokenize=False, add_generation_prompt=True, **self._variables
            )
        except (TemplateError, TypeError) as error:
            raise ValueError(f"the chat template does not take the messages: {error}") from error


def _break_up(token: re.Match[str]) -> str:
    return f"{token[0][:1]} {token[0][1:]}"
