"""Preflight checks of the models of a run, to find a wrong port, key or name within seconds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from llmarena_envs.core.errors import ArenaError

MESSAGES = [{"role": "user", "content": "This is a test of the connection. Reply with one word: ready."}]
"""The test request."""

MAX_TOKENS = 16
"""Token limit of the test reply; a truncated reply is a success."""

MAX_ATTEMPTS = 3
"""Attempts for failures other than rate limits and loading models."""

PAUSE = 1.5
"""Seconds between attempts."""

REPLY_SECONDS = 60.0
"""Seconds per attempt."""

LOADING_SECONDS = 300.0
"""Seconds to wait for a server that is loading its model (HTTP 503)."""

_ADVICE = {
    CallStatus.AUTHENTICATION: "check the key in the variable that api_key_env names, and that it is one for this server",
    CallStatus.QUOTA: "check the credit and the limits of the account",
    CallStatus.UNKNOWN_MODEL: "check the name of the model, and base_url, whose path is /v1 for most servers",
    CallStatus.UNAVAILABLE: "check base_url, and that the server is running",
    CallStatus.TIMEOUT: "check base_url, and that the server is not stuck",
    CallStatus.MALFORMED: "check base_url, whose path is /v1 for most servers",
}
_log = logging.getLogger(__name__)


async def check_model(send: Callable[[int, float], Awaitable[None]], model: str, base_url: str) -> None:
    """Asks a model until there is any answer, for some seconds.

    A rate limit counts as success. A loading model is waited for.

    Args:
        send: makes an attempt, given its number and time limit in seconds; fails like ``Client.complete``.
        model: name of the model, for messages.
        base_url: address of the server, for messages; empty for the default one.

    Raises:
        ProviderError: if there is no answer.
    """
    time = asyncio.get_running_loop().time
    began = time()
    attempt = failures = 0
    while True:
        attempt += 1
        try:
            await send(attempt, REPLY_SECONDS)
            return
        except TransientError as error:
            if error.status is CallStatus.RATE_LIMITED:
                return
            is_loading = error.http_status == 503 and time() - began + PAUSE < LOADING_SECONDS
            failures += not is_loading
            if failures >= (1 if error.status is CallStatus.TIMEOUT else MAX_ATTEMPTS):
                raise _explain(error, model, base_url) from error
            if is_loading and attempt == 1:
                _log.info("%s at %s: %s; waiting for it", model, base_url or "the default server", error)
        except ProviderError as error:
            raise _explain(error, model, base_url) from error
        await asyncio.sleep(PAUSE)


async def check_models(
    policies: Mapping[str, Any], observations: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> dict[str, ArenaError]:
    """Checks all policies with a preflight concurrently.

    Policies can have ``preflight(observation)``, which fails if the policy cannot play, and ``preflight_key``: of policies with
    the same key only one is checked.

    Args:
        policies: the policies by name.
        observations: example observations by name, for realistic requests.

    Returns:
        The errors by policy name.
    """
    asked: dict[Hashable, asyncio.Task[ArenaError | None]] = {}
    async with asyncio.TaskGroup() as group:
        tasks = {}
        for name, policy in policies.items():
            preflight = getattr(policy, "preflight", None)
            if preflight is not None:
                key = getattr(policy, "preflight_key", id(policy))
                if key not in asked:
                    asked[key] = group.create_task(_outcome(preflight(observations.get(name))))
                tasks[name] = asked[key]
    return {name: error for name, task in tasks.items() if (error := task.result()) is not None}


async def _outcome(asking: Awaitable[None]) -> ArenaError | None:
    try:
        await asking
    except ArenaError as error:
        return error
    return None


def _explain(error: ProviderError, model: str, base_url: str) -> ProviderError:
    where = f"{model} at {base_url or 'the default server'}"
    advice = _ADVICE.get(error.status) if error.status is not None else None
    return ProviderError(
        f"{where} gave no reply: {error}" + (f"; {advice}" if advice else ""),
        fatal=error.fatal,
        final=True,
        status=error.status,
        http_status=error.http_status,
        request_id=error.request_id,
    )
