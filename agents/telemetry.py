"""OpenTelemetry spans and metrics of model calls, following the conventions for generative AI.

To use them, install the extra ``telemetry`` and configure an SDK as usual, e.g. ``opentelemetry-instrument llmarena run ...``.
Without an SDK nothing is recorded, without the package nothing is imported. Spans and metrics hold no prompts, replies, server
messages or keys.
"""

import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agents.models.calls import Call, CallStatus

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_SCOPE = "llmarena"
_NANOSECONDS = 1_000_000_000
_PORTS = {"http": 80, "https": 443}

# Recommended by the conventions.
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = tuple(float(4**power) for power in range(14))


def record(call: Call) -> None:
    """Records a call that has just ended, in the current span of the calling task.

    Cached replies are not recorded.
    """
    telemetry = _telemetry()
    if telemetry is not None and call.status is not CallStatus.CACHED:
        telemetry.record(call)


@cache
def _telemetry() -> "Telemetry | None":
    """Returns the recorder for the process's SDK, or ``None`` if OpenTelemetry is not installed."""
    try:
        return Telemetry()
    except ModuleNotFoundError:
        return None


class Telemetry:
    """Records calls.

    Args:
        tracers: provider of tracers; by default the process's, which can be set later.
        meters: the same for metrics.

    Raises:
        ModuleNotFoundError: if OpenTelemetry is not installed.
    """

    def __init__(self, tracers: "TracerProvider | None" = None, meters: "MeterProvider | None" = None) -> None:
        from opentelemetry import metrics, trace

        self._kind = trace.SpanKind.CLIENT
        self._failed = trace.StatusCode.ERROR
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracers)
        meter = metrics.get_meter(_SCOPE, meter_provider=meters)
        self._duration = meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "Duration of a call of a model",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Tokens read and written in a call of a model",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )

    def record(self, call: Call) -> None:
        """Records a call that has just ended."""
        common = _common(call)
        self._trace(call, common)
        self._duration.record(call.latency, common)
        for kind, tokens in (("input", call.prompt_tokens), ("output", call.completion_tokens)):
            if tokens is not None and call.status is CallStatus.OK:
                self._tokens.record(tokens, {**common, "gen_ai.token.type": kind})

    def _trace(self, call: Call, common: dict[str, str | int]) -> None:
        end = time.time_ns()
        span = self._tracer.start_span(
            f"chat {call.model}", kind=self._kind, attributes=common, start_time=end - int(call.latency * _NANOSECONDS)
        )
        if span.is_recording():
            span.set_attributes(_details(call))
            if call.status is not CallStatus.OK:
                span.set_status(self._failed)
            span.end(end)


def _common(call: Call) -> dict[str, str | int]:
    """Returns the attributes shared by spans and metrics: few values, to keep metrics small."""
    attributes: dict[str, str | int] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",  # the API in use; the actual provider is unknown
        "gen_ai.request.model": call.model,
    }
    attributes |= _server(call.base_url)
    if call.status is not CallStatus.OK:
        attributes["error.type"] = str(call.status)
    return attributes


@lru_cache(maxsize=1000)
def _server(base_url: str) -> dict[str, str | int]:
    """Returns host and port of an address; empty for the SDK's default or an invalid address."""
    try:
        parts = urlsplit(base_url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname and port else {}


def _details(call: Call) -> dict[str, str | int | float]:
    """Returns further attributes of a span, without unknown values."""
    details = {
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": call.reasoning_tokens,
        "http.response.status_code": call.http_status,
        "llmarena.agent": call.agent,
        "llmarena.attempt": call.attempt,
        "llmarena.request_id": call.request_id or None,
        "llmarena.waited": call.waited,
    }
    return {name: value for name, value in details.items() if value is not None}
