"""Finding out before play whether the models of a run are there: a wrong port, key or name shows within seconds."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from llmarena_envs.core.errors import ArenaError

MESSAGES = [{"role": "user", "content": "This is a test of the connection. Reply with one word: ready."}]
"""What a model is asked."""

MAX_TOKENS = 16
"""Tokens that it may reply with; a reply that is cut is a reply."""

MAX_ATTEMPTS = 3
"""Attempts where the server fails otherwise than by saying that it is busy or not yet ready."""

PAUSE = 1.5
"""Seconds between attempts."""

REPLY_SECONDS = 60.0
"""Seconds an attempt may take."""

LOADING_SECONDS = 300.0
"""Seconds that a server which loads its model (HTTP 503) is waited for."""

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
    """Asks a model until there is an answer of any kind, for some seconds.

    A server that refuses since it has too many requests is there. One that still loads its model is waited for.

    Args:
        send: makes an attempt, given its number and the seconds it may take; fails like ``Client.complete``.
        model: name of the model, for messages.
        base_url: address of the server, for messages; empty for the default one.

    Raises:
        ProviderError: if there is none.
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
    """Checks all policies that can be checked at once, before anything is played.

    Policies may have ``preflight(observation)``, which fails if the policy could not play, and ``preflight_key``: what holds for
    one policy holds for all with the same key, so only one of them is asked.

    Args:
        policies: the policies by name.
        observations: by name what they might read in a match, so that they are asked what they will be asked.

    Returns:
        What keeps policies from playing, by name; empty if nothing does.
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
