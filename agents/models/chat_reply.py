"""What an OpenAI-compatible server sent back, checked and turned into a reply."""

from typing import Any

from agents.policy import Reply
from agents.records import encodable
from llmarena_envs.core.failures import Failure

_CUT = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "refusal"})
_FAILED = frozenset({"error", "abort", "insufficient_system_resource"})  # of gateways, vLLM and DeepSeek
_ENDED = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "tool_calls", "function_call"})


def read_reply(completion: object) -> Reply:
    """Returns the reply of a chat completion.

    Its kind is ``REFUSAL`` if the model refused or a content filter cut in, ``TRUNCATED`` if the token limit was reached,
    ``EMPTY`` if there is no text for another reason, else ``OK``. Token counts that are missing are 0. The detail holds
    ``finish_reason``, ``model`` and ``system_fingerprint`` as far as the server names them. What a model thought before it
    replied (``reasoning_content``, ``reasoning``) is no part of the reply.

    Args:
        completion: the decoded JSON; of any shape, since servers and proxies between send what they like.

    Raises:
        ValueError: if it is no chat completion, or one that the server itself says has failed, or that has no text for a
            reason that is not known to be the model's own.
    """
    if not isinstance(completion, dict):
        raise _unexpected(completion, "not a JSON object; base_url may be wrong, the path of most servers is /v1")
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _unexpected(completion, "no message in it")
    content, refusal, finish_reason = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    if not isinstance(content, str | None) or not isinstance(refusal, str | None):
        raise _unexpected(message, "the content is no text")
    error = choice.get("error") or completion.get("error")
    reason = finish_reason.lower() if isinstance(finish_reason, str) else finish_reason
    if error or _is(reason, _FAILED):
        raise _unexpected(
            error or message, f"the server failed in the middle of the reply, finish_reason {reason!r:.40}"
        )
    kind, text = Failure.OK, content or ""
    if refusal or _is(reason, _FILTERED):
        kind, text = Failure.REFUSAL, text or refusal or ""
    elif _is(reason, _CUT):
        kind = Failure.TRUNCATED
    elif not text.strip():
        if reason and not _is(reason, _ENDED):
            raise _unexpected(message, f"no text, for an unknown reason, finish_reason {reason!r:.40}")
        kind = Failure.EMPTY
    facts = {
        "finish_reason": finish_reason,
        "model": completion.get("model"),
        "system_fingerprint": completion.get("system_fingerprint"),
    }
    return Reply(
        encodable(text),
        kind,
        _tokens(completion, "prompt_tokens"),
        _tokens(completion, "completion_tokens"),
        detail={name: encodable(value) for name, value in facts.items() if isinstance(value, str)},
    )


def _is(reason: object, kinds: frozenset[str]) -> bool:
    return isinstance(reason, str) and reason in kinds


def _tokens(completion: dict[str, Any], name: str) -> int:
    usage = completion.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and count > 0 else 0


def _unexpected(value: object, why: str) -> ValueError:
    return ValueError(encodable(f"{why}: {value!r:.200}"))
