"""Language models behind OpenAI-compatible servers.

A call goes through three layers: ``LLMPolicy`` makes the request out of what is read and remembered (``agents.models.prompts``),
``agents.models.service`` asks until there is a valid reply, as fast as the server bears (``agents.models.limits``), and
``agents.models.server`` sends one request and sorts what can go wrong with it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from agents.errors import ProviderError
from agents.models import preflight
from agents.models.calls import CallStatus
from agents.models.limits.gate import GateLimits
from agents.models.limits.retry import RetryLimits
from agents.models.prompts.history import read_memory
from agents.models.prompts.prompter import FORM, PROMPT, Prompter, PromptForm, fingerprint
from agents.models.prompts.serialisers import ROLES, Serialiser, read_serialiser
from agents.models.prompts.structured import response_format
from agents.models.server.connection import MAX_CONNECTIONS
from agents.models.server.endpoint import Endpoint, secret_fields
from agents.models.service import ModelService, Target
from agents.policy import Reply
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
        deadline: seconds that all attempts for one reply may take with the random waits between them; waiting for a turn, for a
            limit of the server and for the end of an outage is no part of it.
        max_attempts: greatest number of attempts for one reply; those that fail while the server is out do not count.
        outage: seconds that the server may be out, or may ask to wait, before its calls are given up.
        max_in_flight: greatest number of requests to the model at once, by all policies that share the service.
        requests_per_minute: greatest number of requests to the model in any minute, by all of them; ``None`` for no limit.
        tokens_per_minute: the same for tokens, read and written.
        history: ``single_turn`` or ``none`` sends the rules and what is read now; ``full`` sends the whole conversation of the
            match, except in a turn that is to be answered without it (``fresh_history``), and takes the environment's native
            chat unless one of the next two options is given; ``updates`` sends the whole conversation too and says in
            each turn only what is new, so that each line of the match is sent once. By default ``full`` with one of the next
            two options, else ``single_turn``.
        history_turns: greatest number of earlier turns that are sent.
        history_tokens: greatest number of tokens of earlier turns that are sent, about; only whole turns are.
        rejected: what a history holds of a reply while it is asked for again: ``keep`` for all of it, ``cap`` for its last
            1,000 characters, ``drop`` for nothing, so that the text of the turn is sent anew. Once the turn is over nothing
            of it stays.
        longest_kept: greatest number of characters of a reply that a history holds, at least 100; its end stays.
        system_role: role of the message that holds the rules; with ``user`` they stand at the beginning of the first
            user message, for models without a system role.
        stream: whether replies are streamed; then ``timeout`` is the time without a sign of life, and only ``deadline``
            bounds an attempt. For long reasoning behind gateways that cut silent connections.
        serialiser: ``roles`` for a message for each thing that was said, or names as in ``Human/Assistant`` for one message that
            holds the conversation as a text; in code also a function, see ``agents.models.prompts.serialisers``.
        send_seed: whether a seed, made from that of the match and the number of the call, is sent with each request.
        structured: whether the server is to hold the model to ``{"move": "..."}``, in games with a list of moves.
        reasoning_effort: how much a model is to reason, as its server names it, e.g. ``low``; by default nothing is sent.
        extra: further fields of the request, e.g. ``{"top_p": 0.9}``; JSON values.
        service: the models of a run, which stay open when the policy is closed; by default it has a service of its own.

    Raises:
        OptionError: if an option has no valid value, or a key is needed and not there.

    Attributes:
        OPERATIONAL: options that change how a model is reached and not how it plays.
        keeps_deadline: it bounds its own time.
        wants_update: whether it reads what is new in a turn.
        wants_chat: whether it reads the match in native roles, where its environment writes it so.
        uses_service: it shares connections, limits and accounts with the other policies of its service.
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
    keeps_deadline: ClassVar[bool] = True
    uses_service: ClassVar[bool] = True

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
        outage: float = 3600.0,
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
        _check_number("timeout", timeout, positive=True)
        _check_number("deadline", deadline, positive=True)
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
        self._form = PromptForm(memory, system_role, serialiser)
        endpoint = Endpoint(base_url, api_key_env)
        endpoint.check()
        if service is not None and not isinstance(service, ModelService):
            raise OptionError(f"service: expected a ModelService, made in code, got {service!r}")
        self._owns_service = service is None
        self._service = ModelService() if service is None else service
        if not self._service.offline:
            endpoint.read_key()  # before anything is played
        limits = RetryLimits(max_attempts, deadline if stream else timeout, deadline, outage)
        rates = GateLimits(max_in_flight, requests_per_minute, tokens_per_minute)
        self._target = Target(endpoint, model, limits, rates, idle=timeout if stream else None)
        self.preflight_key = (endpoint, model)
        self._send_seed = send_seed
        self.wants_legal = structured
        self.wants_update = memory.updates
        self.wants_chat = memory.wants_chat
        self.reset("", 0)

    @property
    def target(self) -> Target:
        """Which model is asked, and where."""
        return self._target

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match with an empty history; ``seed`` is what the seeds of requests are made from."""
        self._agent = agent
        self._seed = seed
        self._calls = 0
        self._prompter = Prompter(self._form)

    async def __call__(self, observation: Mapping[str, Any]) -> Reply:
        """Asks the model and returns its reply.

        The reply's detail holds ``finish_reason``, ``model`` and ``system_fingerprint`` as the server names them,
        the ``seed`` if one was sent, the fingerprint of the messages as ``prompt``, and in the first call of a match the
        ``request`` without its messages and how those are put together, as ``prompt_form``.

        Raises:
            ProviderError: if no valid reply could be had.
        """
        messages = self._prompter.hear(observation)
        parameters = self._parameters | (response_format(observation) if self.wants_legal else {})
        request = {**parameters, "messages": messages}
        facts: dict[str, Any] = {PROMPT: fingerprint(messages)}
        if self._calls == 0:
            facts |= {"request": parameters, FORM: self._form.table()}
        if self._send_seed:
            facts["seed"] = request["seed"] = self._call_seed()
        sample = f"{self._seed}:{self._calls}"
        reply = await self._service.complete(self._target, request, agent=self._agent, sample=sample)
        if self._calls == 0 and (reply.detail or {}).get("finish_reason") == CallStatus.CONTEXT_LENGTH:
            # No reply of the model is in its first prompt: the answers there belong to a script.
            raise ProviderError(
                f"{self._target.model}: the prompt leaves no room for a reply; take a model with a longer context",
                final=True,
                status=CallStatus.CONTEXT_LENGTH,
            )
        self._remember(reply.text)
        return replace(reply, detail={**(reply.detail or {}), **facts})

    def recall(self, observation: Mapping[str, Any], reply: Reply | str) -> None:
        """Lives through a call that was made before an interruption: restores the history and the count of calls."""
        self._prompter.hear(observation)
        self._remember(reply.text if isinstance(reply, Reply) else reply)

    async def preflight(self, observation: Mapping[str, Any] | None = None) -> None:
        """Asks the model one small thing, to find out whether it is there.

        Args:
            observation: what it might read in a match; by default it is asked to say one word.

        Raises:
            ProviderError: if it is not; the message says what to check.
        """
        limit = {name: preflight.MAX_TOKENS for name in MAX_TOKENS_FIELDS if name in self._parameters}
        messages = preflight.MESSAGES
        if observation is not None:
            messages = Prompter(self._form).hear({"rules": observation["rules"], "text": observation["text"]})
        await self._service.preflight(self._target, {**self._parameters, **limit, "messages": messages})

    async def close(self) -> None:
        """Closes the connections, unless they belong to somebody else; the policy may be asked again afterwards."""
        if self._owns_service:
            await self._service.close()

    def _remember(self, reply: str) -> None:
        self._calls += 1
        self._prompter.remember(reply)

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
        fields: dict[str, Any] = json.loads(json.dumps(dict(extra), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise OptionError(f"extra: expected JSON values ({error})") from error
    if secrets := secret_fields(fields):
        raise OptionError(
            f"extra: expected fields without keys and passwords, since they are written into records, got {', '.join(secrets)};"
            " put the key into the environment variable that api_key_env names"
        )
    return fields
