"""Classification of server errors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus

_QUOTA = frozenset(
    {
        "insufficient_quota",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_funds",
        "exceeded_current_quota_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "payment_required",
        "arrearage",
    }
)
_AUTHENTICATION = frozenset({"invalid_api_key", "api_key_invalid", "authentication_error", "account_deactivated"})
_UNKNOWN_MODEL = frozenset(
    {"model_not_found", "model_not_available", "invalid_model", "unknown_model", "deploymentnotfound"}
)
_CONTEXT = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length"}
)
_FILTERED = frozenset(
    {"content_filter", "content_policy_violation", "invalid_prompt", "data_inspection_failed", "datainspectionfailed"}
)
_FATAL = frozenset({CallStatus.AUTHENTICATION, CallStatus.QUOTA, CallStatus.UNKNOWN_MODEL})
_PASSING = frozenset({CallStatus.RATE_LIMITED, CallStatus.UNAVAILABLE, CallStatus.MALFORMED})

_MAX_READ = 4000  # maximum message length inspected
_RETRIED = frozenset({408, 409, 425})
_RATE = frozenset({"rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "too_many_requests"})

_CREDIT = re.compile(r"credit balance is too low|insufficient (?:balance|credits|funds)", re.IGNORECASE)
_KEY = re.compile(
    r"(?:incorrect|invalid|wrong|unknown|expired|missing) (?:api[ _-]?|access )key"
    r"|api[ _-]?key (?:is )?(?:not valid|invalid|expired)",
    re.IGNORECASE,
)
_OTHER_403 = re.compile(r"country|region|territory|moderation|flagged|content.?(?:filter|policy)", re.IGNORECASE)
# The wording of OpenAI, vLLM, SGLang, llama.cpp, Anthropic and TGI.
_TOO_LONG = re.compile(
    r"maximum context length|(?:model|context)(?:'s)? context length|context (?:length|window|size) (?:is )?(?:exceeded|only)"
    r"|exceed(?:s|ed)? (?:the |this )?(?:model's |available |maximum |max )*(?:context|input length)"
    r"|prompt is too long|(?:prompt|input) is longer than|longer than the (?:model's )?(?:maximum )?context"
    r"|`?inputs`? tokens \+ `?max_new_tokens`? must be|reduce the length of the (?:input|messages|prompt)|request too large",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\b(?:no such|unknown|invalid|nonexistent) model\b|\bmodel id\b[^.\n]{0,20}\bnot valid\b|\bserver is pinned to\b"
    r"|\bmodels?\b[^\n]{0,120}?(?:\bnot found\b|\bnot exist\b|\bdoesn't exist\b|\bis not available\b|\bnot a valid model\b"
    r"|\bnot loaded\b|\bis not recogni[sz]ed\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ServerError:
    """An error reported by a server.

    Attributes:
        http_status: of the response; for an error inside a response of status 200 the code it names, or ``None``.
        message: the server's message; bounded.
        codes: its codes and types in lower case.
        param: name of the request field in question, or an empty string.
    """

    http_status: int | None
    message: str
    codes: frozenset[str] = frozenset()
    param: str = ""

    @property
    def status(self) -> CallStatus:
        """The status of the call."""
        code, text = self.http_status or 0, self.message
        if self.codes & _QUOTA or code == 402 or _CREDIT.search(text):
            return CallStatus.QUOTA
        if self.codes & _AUTHENTICATION or code == 401 or (code in (400, 403) and _KEY.search(text)):
            return CallStatus.AUTHENTICATION
        if self.codes & _CONTEXT or code == 413 or _TOO_LONG.search(text):
            return CallStatus.CONTEXT_LENGTH
        names_model = code in (400, 422) and (self.param == "model" or _NO_MODEL.search(text))
        if self.codes & _UNKNOWN_MODEL or code == 404 or names_model:
            return CallStatus.UNKNOWN_MODEL
        if code == 403 and not (self.is_filtered or _OTHER_403.search(f"{text} {' '.join(self.codes)}")):
            return CallStatus.AUTHENTICATION
        if code == 429 or (not code and self.codes & _RATE):
            return CallStatus.RATE_LIMITED
        if code in _RETRIED or code >= 500:
            return CallStatus.UNAVAILABLE
        return CallStatus.REJECTED if code else CallStatus.MALFORMED

    @property
    def is_filtered(self) -> bool:
        """Whether a content filter rejected the prompt."""
        return bool(self.codes & _FILTERED)


def read_error(body: object, http_status: int | None, otherwise: str = "") -> ServerError:
    """Returns the error in a body, in any known format.

    Args:
        body: the decoded JSON of an error response, or the ``error`` inside another; of any shape.
        http_status: of the response; ``None`` for an error inside a response of status 200.
        otherwise: the message if the body has none.
    """
    if isinstance(body, list) and body:  # Google
        body = body[0]
    error: Any = body
    if isinstance(body, dict):
        held = (body.get(key) for key in ("error", "errors", "detail"))
        error = next((value for value in held if value and isinstance(value, dict | list | str)), body)
        if isinstance(error, str) and isinstance(
            body.get("message"), str
        ):  # {"error": "invalid_key", "message": "..."}
            error = {"code": body.get("code"), "type": error, "message": f"{error}: {body['message']}"}
    if not isinstance(error, dict):
        return ServerError(http_status, _text(error) or otherwise[:_MAX_READ])
    inner, metadata = error.get("innererror"), error.get("metadata")
    named = [error.get("code"), error.get("type"), error.get("status")]
    if isinstance(inner, dict):
        named.append(inner.get("code"))
    raw = metadata.get("raw") if isinstance(metadata, dict) else None  # OpenRouter: the upstream message
    message = ": ".join(part for part in (_text(error.get("message")), _text(raw)) if part)
    param = error.get("param")
    if http_status is None:
        http_status = next((code for code in map(_http_status, named) if code), None)
    return ServerError(
        http_status,
        message[:_MAX_READ] or _text(error) or otherwise[:_MAX_READ],
        frozenset(name.lower() for name in named if isinstance(name, str)),
        param if isinstance(param, str) else "",
    )


def failure(error: ServerError, message: str) -> ProviderError:
    """Returns the exception for an error: a ``TransientError`` if a retry can succeed."""
    status = error.status
    if status in _PASSING:
        return TransientError(message, status=status, http_status=error.http_status)
    return ProviderError(message, fatal=status in _FATAL, final=True, status=status, http_status=error.http_status)


def _http_status(code: object) -> int | None:
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3:
        code = int(code)
    return code if type(code) is int and 400 <= code < 600 else None


def _text(value: object) -> str:
    """Returns a message of any shape as bounded text; for FastAPI's validation errors, fields and messages."""
    if isinstance(value, str):
        return value[:_MAX_READ]
    if isinstance(value, list):
        return "; ".join(_mistakes(value))[:_MAX_READ]
    return repr(value)[:_MAX_READ] if value else ""


def _mistakes(items: list[object]) -> Iterator[str]:
    for item in items[:20]:
        if isinstance(item, dict) and "msg" in item:
            location = item.get("loc")
            names = [str(part) for part in location[:5]] if isinstance(location, list) else []
            yield f"{'.'.join(names)}: {item['msg']!s:.300}"
        else:
            yield f"{item!s:.300}"
