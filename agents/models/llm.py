"""Language models behind OpenAI-compatible servers.

A call goes through three layers: ``LLMPolicy`` makes the request out of what is read and remembered, ``agents.models.service``
asks until there is a valid reply, and ``agents.models.client`` sends one request and sorts what can go wrong with it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from agents.models.endpoint import Endpoint
from agents.models.history import Conversation
from agents.models.retry import RetryLimits
from agents.models.service import ModelService, Target
from agents.policy import Reply
from llmarena_envs.core.declaration import HISTORIES
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int

SYSTEM_ROLES = ("system", "developer", "user")
MAX_TOKENS_FIELDS = ("max_completion_tokens", "max_tokens")
SERVER_DEFAULT = "default"
"""Value of ``temperature`` and ``max_tokens`` that leaves the choice to the server: nothing is sent."""

_RESERVED = frozenset({"messages", "stream", "n", *MAX_TOKENS_FIELDS})


class LLMPolicy:
    """A player that asks a chat model, over the Chat Completions interface.

    One object plays one seat of one match at a time.

    Args:
        model: name of the model as the server knows it.
        base_url: address of the server, mostly ending in ``/v1``; by default what ``OPENAI_BASE_URL`` says, or OpenAI's.
        api_key_env: name of the environment variable that holds the key. The key is sent to ``base_url`` and appears
            nowhere else. A server other than OpenAI's is asked without a key if the variable is not set.
        temperature: sampling temperature, at least 0, or ``"default"`` for models that take none.
        max_tokens: greatest number of tokens of a reply, at least 1, or ``"default"``. Models that reason need more than
            the default here, as their reasoning counts.
        max_tokens_field: the field that carries ``max_tokens``: ``max_completion_tokens``, or ``max_tokens`` for older
            servers.
        timeout: seconds an attempt may take.
        deadline: seconds that all attempts for one reply may take with the waits between them.
        max_attempts: greatest number of attempts for one reply.
        history: ``single_turn`` sends the rules and what is read now; ``full`` sends the whole conversation of the match, except
            in a turn that is to be answered without it (``fresh_history``).
        system_role: role of the message that holds the rules; with ``user`` they stand at the beginning of the first
            user message, for models without a system role.
        send_seed: whether a seed, made from that of the match and the number of the call, is sent with each request.
        extra: further fields of the request, e.g. ``{"top_p": 0.9}``; JSON values.
        service: the models of a run, which stay open when the policy is closed; by default it has a service of its own.

    Raises:
        OptionError: if an option has no valid value, or a key is needed and not there.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        temperature: float | str = 0.0,
        max_tokens: int | str = 1024,
        max_tokens_field: str = "max_completion_tokens",
        timeout: float = 180.0,
        deadline: float = 540.0,
        max_attempts: int = 8,
        history: str = "single_turn",
        system_role: str = "system",
        send_seed: bool = False,
        extra: Mapping[str, Any] | None = None,
        service: ModelService | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise OptionError(f"model: expected the name of a model, got {model!r}")
        check_choice("max_tokens_field", max_tokens_field, MAX_TOKENS_FIELDS)
        check_choice("history", history, HISTORIES)
        check_choice("system_role", system_role, SYSTEM_ROLES)
        check_int("max_attempts", max_attempts, 1, 1000)
        check_bool("send_seed", send_seed)
        _check_number("timeout", timeout, positive=True)
        _check_number("deadline", deadline, positive=True)
        parameters: dict[str, Any] = {"model": model}
        if temperature != SERVER_DEFAULT:
            _check_number("temperature", temperature, positive=False)
            parameters["temperature"] = temperature
        if max_tokens != SERVER_DEFAULT:
            check_int("max_tokens", max_tokens, 1, 10_000_000)
            parameters[max_tokens_field] = max_tokens
        self._parameters = parameters | _check_extra(extra or {}, {*parameters, *(["seed"] if send_seed else [])})
        endpoint = Endpoint(base_url, api_key_env)
        endpoint.check()
        if service is not None and not isinstance(service, ModelService):
            raise OptionError(f"service: expected a ModelService, made in code, got {service!r}")
        self._owns_service = service is None
        self._service = ModelService() if service is None else service
        self._target = Target(endpoint, model, RetryLimits(max_attempts, timeout, deadline))
        self._keeps_history = history == "full"
        self._system_role = system_role
        self._send_seed = send_seed
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match with an empty history; ``seed`` is what the seeds of requests are made from."""
        self._agent = agent
        self._seed = seed
        self._calls = 0
        self._conversation = Conversation(self._keeps_history, self._system_role)

    async def __call__(self, observation: Mapping[str, Any]) -> Reply:
        """Asks the model and returns its reply.

        The reply's detail holds ``finish_reason``, ``model`` and ``system_fingerprint`` as the server names them,
        the ``seed`` if one was sent, and in the first call of a match the ``request`` without its messages.

        Raises:
            ProviderError: if no valid reply could be had.
        """
        user = self._conversation.next_message(observation)
        fresh = bool(observation.get("fresh_history"))
        messages = self._conversation.messages(observation["rules"], user, fresh=fresh)
        request = {**self._parameters, "messages": messages}
        facts: dict[str, Any] = {}
        if self._calls == 0:
            facts["request"] = dict(self._parameters)
        if self._send_seed:
            facts["seed"] = request["seed"] = self._call_seed()
        sample = f"{self._seed}:{self._calls}"
        reply = await self._service.complete(self._target, request, agent=self._agent, sample=sample)
        self._calls += 1
        self._conversation.remember(user, reply.text)
        return replace(reply, detail={**(reply.detail or {}), **facts})

    def recall(self, observation: Mapping[str, Any], reply: Reply | str) -> None:
        """Lives through a call that was made before an interruption: restores the history and the count of calls."""
        self._calls += 1
        self._conversation.recall(observation, reply.text if isinstance(reply, Reply) else reply)

    async def close(self) -> None:
        """Closes the connections, unless they belong to somebody else; the policy may be asked again afterwards."""
        if self._owns_service:
            await self._service.close()

    def _call_seed(self) -> int:
        """Returns the seed of the next call, 31 bits: many servers take no more."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(self._calls,))
        return int(sequence.generate_state(1)[0]) >> 1


def _check_number(name: str, value: object, *, positive: bool) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0
    if not number or (positive and value == 0):
        wanted = "a number above 0" if positive else "a number of at least 0"
        raise OptionError(f"{name}: expected {wanted}, got {value!r}")


def _check_extra(extra: object, taken: set[str]) -> dict[str, Any]:
    if not isinstance(extra, Mapping):
        raise OptionError(f"extra: expected a table of request fields, got {extra!r}")
    clash = sorted((_RESERVED | taken) & set(extra))
    if clash:
        raise OptionError(f"extra: {', '.join(clash)} cannot be given here; the policy sets what is sent for it")
    try:
        return json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise OptionError(f"extra: expected JSON values ({error})") from error
