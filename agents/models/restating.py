"""A reply in two calls: the model answers freely, then restates its answer in the form of the game.

Source: DeepEval (arXiv 2309.04369), appendix A.1.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from agents.models.prompts.history import Message
from agents.models.prompts.prompter import FREE_REPLY, Prompter
from agents.policy import Reply
from llmarena_envs.core.failures import Failure

_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")

Ask = Callable[[list[Message]], Awaitable[Reply]]


async def ask_twice(ask: Ask, prompter: Prompter, messages: list[Message], form: str) -> tuple[list[Message], Reply]:
    """Asks for a free reply, then for the same reply in the form of the game.

    Empty, truncated and refused replies are not restated.

    Args:
        ask: sends messages.
        prompter: built ``messages``.
        messages: the first request.
        form: the request to restate a reply.

    Returns:
        The messages of the last request, and the reply with the cost of both calls.

    Raises:
        ProviderError: if a call got no reply.
    """
    free = await ask(messages)
    restating = prompter.restate(free.text, form) if free.kind is Failure.OK else []
    if not restating:
        return messages, free
    return restating, _joined(free, await ask(restating))


def _joined(free: Reply, restated: Reply) -> Reply:
    """Returns the second reply with the cost of both and the first one in its detail."""
    pairs = {name: (getattr(free, name), getattr(restated, name)) for name in _COUNTS}
    counts: dict[str, Any] = {name: None if None in pair else sum(pair) for name, pair in pairs.items()}
    return replace(
        restated,
        **counts,
        calls=free.calls + restated.calls,
        waited=free.waited + restated.waited,
        reasoning="\n\n".join(filter(None, (free.reasoning, restated.reasoning))),
        detail={**(restated.detail or {}), FREE_REPLY: free.text},
    )
