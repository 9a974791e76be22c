"""The web application: three addresses of OpenAI's interface, answered by a policy."""

import asyncio
import hmac
import itertools
import logging

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from agents.errors import ProviderError
from agents.serving.chat_request import MAX_BODY, RequestError, read_request
from agents.serving.chat_response import completion, completion_stream, error_body
from agents.serving.seat import ServedPolicy

BODY_SECONDS = 60.0
"""Within which a request must have come as a whole."""

_log = logging.getLogger(__name__)


def make_app(policy: ServedPolicy, model: str, key: str = "") -> Starlette:
    """Returns an application that answers ``/v1/chat/completions``, ``/v1/models`` and ``/health``.

    Args:
        policy: who answers.
        model: what clients call it.
        key: what clients must send as their key; nothing if it is empty.
    """
    numbers = itertools.count(1)

    async def chat(request: Request) -> Response:
        try:
            _check_key(request, key)
            asked = read_request(await _read_body(request))
            if asked.model != model:
                raise RequestError(f"model: expected {model!r}, got {asked.model[:80]!r}", 404, "model_not_found")
            reply = await policy.answer(asked)
        except RequestError as error:
            return _refuse(error)
        except ClientDisconnect:
            return Response(status_code=400)
        except ProviderError as error:
            _log.warning("%s", error)
            return _refuse(RequestError("the policy failed; its server says how", 500, "policy_failed"))
        number = next(numbers)
        if asked.stream:
            return StreamingResponse(completion_stream(asked, reply, number), media_type="text/event-stream")
        return JSONResponse(completion(asked, reply, number))

    async def models(request: Request) -> Response:
        try:
            _check_key(request, key)
        except RequestError as error:
            return _refuse(error)
        entry = {"id": model, "object": "model", "created": 0, "owned_by": "llmarena"}
        return JSONResponse({"object": "list", "data": [entry]})

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def unknown(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _refuse(RequestError("expected POST /v1/chat/completions, GET /v1/models or GET /health", status))

    return Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/models", models),
            Route("/health", health),
        ],
        exception_handlers={HTTPException: unknown},
    )


def _check_key(request: Request, key: str) -> None:
    """Raises a ``RequestError`` unless the client has the key; the comparison takes the same time for every wrong one."""
    given = request.headers.get("authorization", "")
    if key and not hmac.compare_digest(given.encode(), f"Bearer {key}".encode()):
        raise RequestError("expected the key of this server: Authorization: Bearer KEY", 401, "invalid_api_key")


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise RequestError(f"expected a body of at most {MAX_BODY} bytes", 413, "too_large")
    except TimeoutError:
        raise RequestError(f"expected the whole body within {BODY_SECONDS:g} s", 408, "timeout") from None
    return bytes(body)


def _refuse(error: RequestError) -> Response:
    return JSONResponse(error_body(error), error.status)
