"""Calls as spans and metrics, in the words of OpenTelemetry's conventions."""

import subprocess
import sys
from dataclasses import replace

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import (
    error_attributes,
    gen_ai_attributes,
    http_attributes,
    server_attributes,
)
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.trace import SpanKind, StatusCode

from agents import telemetry
from agents.models.calls import Call, CallStatus
from agents.telemetry import Telemetry

GOOD = Call(
    "m1",
    "https://models.example/v1",
    "player_0",
    1,
    CallStatus.OK,
    http_status=200,
    request_id="req-7",
    waited=0.5,
    latency=2.0,
    prompt_tokens=100,
    completion_tokens=20,
    cached_tokens=64,
    reasoning_tokens=None,
)
BAD = Call(
    "m1",
    "http://localhost:8000/v1",
    "player_0",
    2,
    CallStatus.RATE_LIMITED,
    http_status=429,
    latency=0.25,
    prompt_tokens=None,
    completion_tokens=None,
    error="HTTP 429: you said: my secret plan",
)


def recorded(*calls):
    """Returns the spans, and by name the points of the metrics, of recorded calls."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    recorder = Telemetry(tracers, meters)
    with tracers.get_tracer("a test").start_as_current_span("the match") as match:
        for call in calls:
            recorder.record(call)
        parent = match.get_span_context().span_id
    resources = reader.get_metrics_data().resource_metrics
    meters.shutdown()
    tracers.shutdown()
    finished = [span for span in spans.get_finished_spans() if span.name != "the match"]
    assert all(span.parent.span_id == parent for span in finished)
    metrics = [metric for resource in resources for scope in resource.scope_metrics for metric in scope.metrics]
    return finished, {metric.name: metric.data.data_points for metric in metrics}


def test_a_call_is_a_span():
    (good, bad), _ = recorded(GOOD, BAD)
    assert (good.name, good.kind, good.status.status_code) == ("chat m1", SpanKind.CLIENT, StatusCode.UNSET)
    assert good.end_time - good.start_time == 2_000_000_000
    assert dict(good.attributes) == {
        gen_ai_attributes.GEN_AI_OPERATION_NAME: "chat",
        gen_ai_attributes.GEN_AI_PROVIDER_NAME: "openai",
        gen_ai_attributes.GEN_AI_REQUEST_MODEL: "m1",
        gen_ai_attributes.GEN_AI_USAGE_INPUT_TOKENS: 100,
        gen_ai_attributes.GEN_AI_USAGE_OUTPUT_TOKENS: 20,
        gen_ai_attributes.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: 64,
        server_attributes.SERVER_ADDRESS: "models.example",
        server_attributes.SERVER_PORT: 443,
        http_attributes.HTTP_RESPONSE_STATUS_CODE: 200,
        "llmarena.agent": "player_0",
        "llmarena.attempt": 1,
        "llmarena.request_id": "req-7",
        "llmarena.waited": 0.5,
    }
    assert bad.status.status_code is StatusCode.ERROR
    assert bad.attributes[error_attributes.ERROR_TYPE] == "rate_limited"
    assert bad.attributes[server_attributes.SERVER_PORT] == 8000
    assert gen_ai_attributes.GEN_AI_USAGE_INPUT_TOKENS not in bad.attributes
    assert "secret" not in bad.to_json()


def test_durations_and_tokens_are_measured():
    _, metrics = recorded(GOOD, GOOD, BAD)
    durations = {
        point.attributes.get("error.type"): (point.count, point.sum)
        for point in metrics[gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION]
    }
    assert durations == {None: (2, 4.0), "rate_limited": (1, 0.25)}
    tokens = {
        point.attributes[gen_ai_attributes.GEN_AI_TOKEN_TYPE]: (point.count, point.sum)
        for point in metrics[gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE]
    }
    assert tokens == {"input": (2, 200), "output": (2, 40)}


def test_an_address_that_no_server_can_have_is_left_out():
    (left_out,), _ = recorded(replace(GOOD, base_url="http://localhost:99999/v1"))
    assert server_attributes.SERVER_ADDRESS not in left_out.attributes


def test_a_reply_out_of_the_cache_is_no_call(monkeypatch):
    calls = []
    monkeypatch.setattr(Telemetry, "record", lambda self, call: calls.append(call))
    telemetry.record(Call("m1", "", "player_0", 1, CallStatus.CACHED))
    telemetry.record(GOOD)
    assert calls == [GOOD]


@pytest.mark.slow
def test_telemetry_without_the_package_is_silent():
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from agents import telemetry\n"
        "from agents.models.calls import Call, CallStatus\n"
        "telemetry.record(Call('m', '', 'player_0', 1, CallStatus.OK))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
