"""Presets of providers, each against a server that refuses what the provider's documentation says it refuses."""

import asyncio
import json

import pytest

from agents.models.llm import LLMPolicy
from agents.providers import REASONING_TOKENS, VARIABLE, find_preset, providers
from agents.registry import make_policy, split_spec
from llmarena_envs.core.options import OptionError
from tests.support.fault_server import OK, Fault, fault_server

GAME = "tictactoe_v0"
OBSERVATION = {"rules": "rules", "text": "text"}


def openai_error(field):
    message = f"Unsupported value: '{field}' does not support this value with this model."
    if field == "max_tokens":
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    return 400, {
        "error": {"message": message, "type": "invalid_request_error", "param": field, "code": "unsupported_value"}
    }


def anthropic_error(field):
    message = f"`{field}` may not be set to this value: it is deprecated for this model."
    return 400, {
        "error": {"code": "invalid_request_error", "message": message, "type": "invalid_request_error", "param": None}
    }


def gemini_error(field):
    message = f'Invalid JSON payload received. Unknown name "{field}": Cannot find field.'
    return 400, [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


def mistral_error(field):
    detail = [{"type": "extra_forbidden", "loc": ["body", field], "msg": "Extra inputs are not permitted"}]
    return 422, {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error", "code": None}


def fastapi_error(field):
    return 422, {"detail": [{"loc": ["body", field], "msg": "extra fields not permitted", "type": "value_error.extra"}]}


SERVERS = {
    "openai": (openai_error, {"max_tokens"}, "gpt-5-mini", {"temperature"}),
    "azure": (openai_error, {"max_tokens"}, "o3", {"temperature"}),
    "anthropic": (anthropic_error, set(), "claude-opus-4-7", {"temperature"}),
    "gemini": (gemini_error, {"seed"}, "gemini-3.6-flash", {"temperature"}),
    "openrouter": (openai_error, set(), "openai/gpt-5", {"temperature"}),
    "together": (openai_error, set(), "openai/gpt-oss-120b", set()),
    "groq": (openai_error, set(), "openai/gpt-oss-120b", set()),
    "mistral": (mistral_error, {"seed", "max_completion_tokens"}, "mistral-medium-latest", set()),
    "deepseek": (openai_error, set(), "deepseek-v4-pro", set()),
    "xai": (openai_error, set(), "grok-4.7", set()),
    "vllm": (fastapi_error, set(), "Qwen/Qwen3-32B", set()),
    "ollama": (openai_error, {"max_completion_tokens"}, "qwen3:8b", set()),
}
"""Error of a refused field, fields refused by every model, a reasoning model, and further fields that it refuses."""


def asked(name, model, refused, error, **options):
    """Asks a model of a provider for a reply; returns the bodies of the requests."""
    bodies = []

    def plan(request):
        bodies.append(request.body)
        for field in sorted(refused & request.body.keys()):
            status, body = error(field)
            return Fault("refused", status, json.dumps(body).encode())
        return OK

    async def ask(url):
        policy = make_policy(f"{name}/{model}", GAME, {"base_url": url, **options})
        assert isinstance(policy, LLMPolicy)
        try:
            return await policy(OBSERVATION)
        finally:
            await policy.close()

    with fault_server(plan, reply=lambda request: "X: (1, 1)") as server:
        reply = asyncio.run(ask(server.url))
    assert reply.text == "X: (1, 1)" and {body["model"] for body in bodies} == {model}
    return bodies


def test_every_provider_has_a_server_here():
    assert SERVERS.keys() == providers().keys()


@pytest.mark.parametrize("name", SERVERS)
def test_preset_sends_nothing_that_the_provider_refuses(name):
    error, always, reasoning, more = SERVERS[name]
    (plain,) = asked(name, "plain-model", always, error)
    assert plain["temperature"] == 0
    (request,) = asked(name, reasoning, always | more, error)
    limit = {"max_tokens", "max_completion_tokens"} & request.keys()
    assert [request[field] for field in limit] == [REASONING_TOKENS]


@pytest.mark.parametrize("name", SERVERS)
def test_fields_that_the_user_sets_and_the_provider_refuses_are_left_out(name):
    error, always, reasoning, more = SERVERS[name]
    first, *_, last = asked(name, reasoning, always | more | {"seed"}, error, temperature=0.5, send_seed=True)
    assert "seed" in first and "seed" not in last and ("temperature" in last) == ("temperature" not in more)


def test_specs_with_slashes_are_models_of_known_providers_only(monkeypatch):
    assert split_spec("ollama/qwen3:8b:temperature=0.5")[0] == "openai:qwen3:8b"
    assert split_spec("ollama/qwen3:8b:temperature=0.5")[1]["temperature"] == 0.5
    assert split_spec("openrouter/qwen/qwen3-32b")[0] == "openai:qwen/qwen3-32b"
    assert split_spec("hf/org/name") == ("hf:org/name", {})
    assert find_preset("nobody/model") is find_preset("openai/") is None
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(OptionError, match=r"no key for https://api.anthropic.com/v1: set .* ANTHROPIC_API_KEY"):
        make_policy("anthropic/claude-x", GAME)
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(OptionError, match="needs the environment variable AZURE_OPENAI_ENDPOINT, which is not set"):
        make_policy("azure/gpt-5", GAME)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "key")
    policy = make_policy("azure/gpt-5", GAME)
    assert policy.target.base_url == "https://mine.openai.azure.com/openai/v1"
    assert "mine" not in str(policy.target.endpoint)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[mine\n", "expected the path of a TOML file"),
        ('[mine]\nbase_url = "http://x/v1"\n', "mine.api_key_env: field required"),
        ('[mine]\nbase_url = "http://x/v1"\napi_key_env = "X"\nkey = "no"\n', "mine.key: input should be"),
        ('[mine]\nbase_url = "http://x/v1"\napi_key_env = "X"\nsecret = "s"\n', "mine.secret: extra inputs"),
    ],
)
def test_own_table_with_a_mistake_is_refused(tmp_path, monkeypatch, text, message):
    (tmp_path / "own.toml").write_text(text)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own.toml"))
    with pytest.raises(OptionError, match=message):
        make_policy("mine/model", GAME)


def test_own_table_replaces_a_provider(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(
        '[openai]\nbase_url = "http://proxy/v1"\napi_key_env = "PROXY_KEY"\nkey = "optional"\n'
    )
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own.toml"))
    assert make_policy("openai/gpt-x", GAME).target.base_url == "http://proxy/v1"
    assert providers()["mistral"].base_url == "https://api.mistral.ai/v1"
