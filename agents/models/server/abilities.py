"""Parameters that a model accepts, learned once per model from server errors."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from agents.models.server.server_error import ServerError

_OPTIONAL = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "repetition_penalty",
    "stop",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "stream_options",
)
"""Parameters that can be omitted. A token limit is only renamed: without one a reply has unlimited cost."""

_RENAMED = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}

_STATUSES = frozenset({400, 422})
_TEMPLATE_STATUSES = frozenset({400, 422, 500})  # llama.cpp reports errors of chat templates as server errors
_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"})
_REFUSED = re.compile(
    r"unsupported (?:parameter|value|field|argument)|(?:not|n't) (?:currently )?support"
    r"|unrecognized (?:request )?(?:argument|parameter|field)"
    r"|(?:unknown|unexpected) (?:name|parameter|fields?|argument|keyword)"
    r"|(?:extra|additional) (?:inputs|fields|properties) (?:are )?not (?:permitted|allowed)|is deprecated"
    r"|not (?:be )?(?:permitted|allowed|available) (?:for|with|on|in) this model",
    re.IGNORECASE,
)
_ROLE_REFUSED = re.compile(
    r"\b(?:system|developer)\W{1,2}(?:roles?|messages?|instructions?|prompts?)\b[^\n]{0,40}\b(?:not|isn't|unsupported)\b"
    r"|\b(?:unknown|unexpected|invalid|unsupported)(?: message)? role\b[^\n]{0,20}\b(?:system|developer)\b"
    r"|\brole\b[^\n]{0,20}\bnot support\W{1,2}(?:system|developer)\b"
    r"|\b(?:system|developer)\W{1,2}is not one of\b"
    r"|\broles must alternate\b|only user(?:,| and) (?:assistant|model) roles are supported",
    re.IGNORECASE,
)

_LEFT_OUT = "left out"
_JOINED = "joined to the first message of the user"
_log = logging.getLogger(__name__)


class Abilities:
    """Parameters and roles that one model on one server does not accept.

    Args:
        model: its name.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._changes: dict[str, str] = {}

    def adapt(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns a request that the model accepts, and the changes: ``{"temperature": "left out"}``."""
        adapted = dict(request)
        changed = {}
        for name, change in sorted(self._changes.items()):  # developer before system, because it can become system
            if name in ("system", "developer"):
                messages = _change_role(adapted.get("messages"), name, change)
                if messages is None:
                    continue
                adapted["messages"] = messages
            elif name in adapted:
                value = adapted.pop(name)
                if change != _LEFT_OUT:
                    adapted[_RENAMED[name]] = value
            else:
                continue
            changed[name] = change
        return adapted, changed

    def learn(self, error: ServerError, sent: Mapping[str, Any]) -> bool:
        """Remembers the parameter of a request that the server rejected.

        Args:
            error: the server's error.
            sent: the rejected request.

        Returns:
            Whether the error names a parameter and the request can be sent without it.
        """
        name = _refused_field(error, sent)
        change = _LEFT_OUT
        if name in _RENAMED:
            if _RENAMED[name] in self._changes:  # rejected under its other name as well
                return False
            change = f"sent as {_RENAMED[name]}"
        elif not name:
            name = _refused_role(error, sent)
            change = "sent as system" if name == "developer" else _JOINED
        if name and name not in self._changes:
            self._changes[name] = change
            _log.info("%s does not take %s: %s from now on", self._model, name, change)
        return bool(name)


def change_roles(messages: list[dict[str, str]], adapted: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns messages with the role changes of an adapted request.

    Args:
        messages: before the changes.
        adapted: the changes returned by ``Abilities.adapt``.
    """
    for name in ("developer", "system"):
        if name in adapted:
            messages = _change_role(messages, name, adapted[name]) or messages
    return messages


def _refused_field(error: ServerError, sent: Mapping[str, Any]) -> str:
    """Returns the request field that an error reports as unsupported, or an empty string."""
    if error.http_status not in _STATUSES or not (error.codes & _CODES or _REFUSED.search(error.message)):
        return ""
    known = [name for name in (*_OPTIONAL, *_RENAMED) if name in sent]
    if error.param:
        return error.param if error.param in known else ""
    named = [(match.start(), name) for name in known if (match := re.search(rf"\b{name}\b", error.message))]
    return min(named)[1] if named else ""


def _refused_role(error: ServerError, sent: Mapping[str, Any]) -> str:
    """Returns the role of the first message if an error reports it as unsupported, or an empty string."""
    messages = sent.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    role = first.get("role") if isinstance(first, dict) else None
    if role not in ("system", "developer") or error.http_status not in _TEMPLATE_STATUSES:
        return ""
    return role if _ROLE_REFUSED.search(error.message) else ""


def _change_role(messages: object, role: str, change: str) -> list[Any] | None:
    """Returns messages with the role of the first one changed, or ``None`` if it has another role."""
    if not isinstance(messages, list) or not messages or messages[0].get("role") != role:
        return None
    first, *others = messages
    if change != _JOINED:
        return [{**first, "role": "system"}, *others]
    if others and others[0].get("role") == "user" and isinstance(others[0].get("content"), str):
        return [{**others[0], "content": f"{first['content']}\n\n{others[0]['content']}"}, *others[1:]]
    return [{**first, "role": "user"}, *others]
