"""Language models on OpenAI-compatible servers.

A call has three layers: ``LLMPolicy`` builds the request from observations and history (``agents.models.prompts``),
``agents.models.service`` retries until there is a valid reply, within adaptive rate limits (``agents.models.limits``), and
``agents.models.server`` sends one request and classifies errors.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar

from agents.chat import Message
from agents.errors import ProviderError
from agents.models import preflight
from agents.models.calls import CallStatus
from agents.models.chat_policy import SYSTEM_ROLES, ChatPolicy
from agents.models.limits.adaptive_limiter import RequestLimits
from agents.models.limits.retry import RetryLimits
from agents.models.prompts.conversation import Conversation
from agents.models.prompts.form import PromptForm, read_memory
from agents.models.prompts.serialisers import ROLES, Serialiser, read_serialiser
from agents.models.prompts.structured import response_format
from agents.models.server.connection import MAX_CONNECTIONS
from agents.models.server.endpoint import Endpoint, secret_fields
from agents.models.service import ModelService, Target
from agents.policy import Reply
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int

MAX_TOKENS_FIELDS = ("max_completion_tokens", "max_tokens")
SERVER_DEFAULT = "default"
"""Value of ``temperature`` and ``max_tokens`` for the server's default: the field is not sent."""

_RESERVED = frozenset({"messages", "stream", "n", *MAX_TOKENS_FIELDS})


class LLMPolicy(ChatPolicy):
    """A player that asks a chat model through the Chat Completions API.

    One object plays one seat of one match at a time.

    Args:
        model: name of the model on the server.
        base_url: address of the server, usually ending in ``/v1``; by default ``OPENAI_BASE_URL``, or OpenAI's.
        api_key_env: name of the environment variable with the key. The key is sent only to ``base_url`` and not stored. For a
            server other than OpenAI's the variable can be unset.
        temperature: sampling temperature, at least 0, or ``"default"`` for models that accept none.
        max_tokens: maximum number of tokens of a reply, at least 1, or ``"default"``. Reasoning models need more than this
            default, because reasoning tokens count.
        max_tokens_field: request field for ``max_tokens``: ``max_completion_tokens``, or ``max_tokens`` for older servers.
        timeout: seconds per attempt.
        deadline: seconds for all attempts at one reply and the random waits between them; waiting in the queue, for rate limits
            and for the end of an outage does not count.
        max_attempts: maximum number of attempts at one reply; failures during an outage do not count.
        outage: seconds of an outage or a requested pause after which calls fail; by default 3600 in a run, which has a
            ``service``, else 25.
        max_in_flight: maximum number of concurrent requests to the model, over all policies that share the service.
        requests_per_minute: maximum number of requests to the model in any minute, over all of them; ``None`` for no limit.
        tokens_per_minute: the same for prompt and completion tokens.
        history: ``single_turn`` or ``none`` sends the rules and the current text; ``full`` sends the whole conversation of the
            match, except in turns with ``fresh_history``, and uses the environment's native chat unless one of the next two
            options is given; ``updates`` also sends the whole conversation, but each turn holds only the news, so each line of
            the match is sent once. By default ``full`` with one of the next two options, else ``single_turn``.
        history_turns: maximum number of earlier turns sent.
        history_tokens: approximate maximum number of tokens of earlier turns sent; turns are sent whole.
        rejected: treatment of a rejected reply in the history while the player is asked again: ``keep`` for all of it, ``cap``
            for its last 1,000 characters, ``drop`` to remove it and send the text of the turn again. It is removed after the
            turn.
        longest_kept: maximum number of characters of a reply in a history, at least 100, counted from its end.
        system_role: role of the message with the rules; ``user`` puts them at the beginning of the first user message, for models
            without a system role.
        stream: whether to stream replies; ``timeout`` is then the maximum time without data, and only ``deadline`` limits an
            attempt. For long reasoning behind gateways that cut silent connections.
        serialiser: ``roles`` for one message per utterance, or names as in ``Human/Assistant`` for one message with the
            conversation as text; in code also a function, see ``agents.models.prompts.serialisers``.
        send_seed: whether to send a seed, derived from the match seed and the number of the call, with each request.
        structured: whether the server must constrain the model to ``{"move": "..."}``, in games with a list of moves.
        format_with_second_call: whether a second request asks the model to restate its reply in the form of the game; both count
            as one reply of one turn.
        reasoning_effort: reasoning effort in the server's terms, e.g. ``low``; by default not sent.
        extra: further fields of the request, e.g. ``{"top_p": 0.9}``; JSON values.
        service: the models of a run, which stay open when the policy is closed; by default the policy has its own service.

    Raises:
        OptionError: if an option is invalid, or a required key is missing.

    Attributes:
        OPERATIONAL: options that affect the connection to a model, but not its play.
        wants_legal: whether it reads the legal moves of a turn.
        preflight_key: policies with the same key ask the same model on the same server.
    """

    OPERATIONAL: ClassVar[frozenset[str]] = frozenset(
        {
            "base_url",
            "api_key_env",
            "timeout",
            "deadline",
            "max_attempts",
            "outage",
            "max_in_flight",
            "requests_per_minute",
            "tokens_per_minute",
            "stream",
        }
    )

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
        outage: float | None = None,
        max_in_flight: int = MAX_CONNECTIONS,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        history: str | None = None,
        history_turns: int | None = None,
        history_tokens: int | None = None,
        rejected: str = "cap",
        longest_kept: int = 8_000,
        system_role: str = "system",
        stream: bool = False,
        serialiser: str | Serialiser = ROLES,
        send_seed: bool = False,
        structured: bool = False,
        format_with_second_call: bool = False,
        reasoning_effort: str | None = None,
        extra: Mapping[str, Any] | None = None,
        service: ModelService | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise OptionError(f"model: expected the name of a model, got {model!r}")
        check_choice("max_tokens_field", max_tokens_field, MAX_TOKENS_FIELDS)
        check_choice("system_role", system_role, SYSTEM_ROLES)
        check_int("max_attempts", max_attempts, 1, 1000)
        check_bool("stream", stream)
        check_bool("send_seed", send_seed)
        check_bool("structured", structured)
        check_bool("format_with_second_call", format_with_second_call)
        _check_number("timeout", timeout, positive=True)
        _check_number("deadline", deadline, positive=True)
        if outage is None:
            outage = 25.0 if service is None else 3600.0
        _check_number("outage", outage, positive=False)
        check_int("max_in_flight", max_in_flight, 1, MAX_CONNECTIONS)
        for name, limit in (("requests_per_minute", requests_per_minute), ("tokens_per_minute", tokens_per_minute)):
            if limit is not None:
                check_int(name, limit, 1, 1_000_000_000)
        parameters: dict[str, Any] = {"model": model}
        if temperature != SERVER_DEFAULT:
            _check_number("temperature", temperature, positive=False)
            parameters["temperature"] = temperature
        if max_tokens != SERVER_DEFAULT:
            check_int("max_tokens", max_tokens, 1, 10_000_000)
            parameters[max_tokens_field] = max_tokens
        if reasoning_effort is not None:
            if not isinstance(reasoning_effort, str) or not reasoning_effort.strip():
                raise OptionError(f"reasoning_effort: expected a word such as 'low', got {reasoning_effort!r}")
            parameters["reasoning_effort"] = reasoning_effort
        later = {"seed": send_seed, "response_format": structured}
        taken = {*parameters, *[field for field, is_sent in later.items() if is_sent]}
        self._parameters = parameters | _check_extra(extra or {}, taken)
        memory = read_memory(history, history_turns, history_tokens, rejected, longest_kept)
        read_serialiser(serialiser)
        super().__init__(PromptForm(memory, system_role, serialiser), format_with_second_call, service)
        endpoint = Endpoint(base_url, api_key_env)
        endpoint.check()
        if not self._service.offline:
            endpoint.read_key()  # fails before play
        limits = RetryLimits(max_attempts, deadline if stream else timeout, deadline, outage)
        rates = RequestLimits(max_in_flight, requests_per_minute, tokens_per_minute)
        self._target = Target(endpoint, model, limits, rates, idle=timeout if stream else None)
        self.preflight_key = (endpoint, model)
        self._send_seed = send_seed
        self.wants_legal = structured

    @property
    def target(self) -> Target:
        """The model and its server."""
        return self._target

    async def _ask(self, observation: Mapping[str, Any], messages: list[Message], *, restates: bool) -> Reply:
        structure = {} if self.wants_form and not restates else self._structure(observation)
        request = {**self._parameters, **structure, **self._call_facts(), "messages": messages}
        sample = f"{self._seed}:{self._calls}"
        reply = await self._service.complete(self._target, request, agent=self._agent, sample=sample)
        is_first = self._calls == 0 and not restates
        if is_first and (reply.detail or {}).get("finish_reason") == CallStatus.CONTEXT_LENGTH:
            # The first prompt holds no reply of the model: assistant messages in it belong to a script.
            raise ProviderError(
                f"{self._target.model}: the prompt leaves no room for a reply; take a model with a longer context",
                final=True,
                status=CallStatus.CONTEXT_LENGTH,
            )
        return reply

    def _describe(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        return self._parameters | self._structure(observation)

    def _call_facts(self) -> dict[str, Any]:
        return {"seed": self._call_seed()} if self._send_seed else {}

    def _structure(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        return response_format(observation) if self.wants_legal else {}

    async def preflight(self, observation: Mapping[str, Any] | None = None) -> None:
        """Sends a small request to test the connection.

        Args:
            observation: an example observation; by default the model is asked to say one word.

        Raises:
            ProviderError: if it fails; the message gives advice.
        """
        limit = {name: preflight.MAX_TOKENS for name in MAX_TOKENS_FIELDS if name in self._parameters}
        messages = preflight.MESSAGES
        if observation is not None:
            messages = Conversation(self._form).hear({"rules": observation["rules"], "text": observation["text"]})
        await self._service.preflight(self._target, {**self._parameters, **limit, "messages": messages})


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
        fields: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise OptionError(f"extra: expected JSON values ({error})") from error
    if secrets := secret_fields(fields):
        raise OptionError(
            f"extra: expected fields without keys and passwords, since they are written into records, got {', '.join(secrets)};"
            " put the key into the environment variable that api_key_env names"
        )
    return fields
