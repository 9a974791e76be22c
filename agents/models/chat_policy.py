"""Base of policies that play by a chat model."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from agents.chat import Message
from agents.models.prompts.conversation import FREE_REPLY, PROMPT, Conversation, fingerprint
from agents.models.prompts.form import FORM, PromptForm
from agents.models.service import ModelService
from agents.policy import Reply
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError

SYSTEM_ROLES = ("system", "developer", "user")

_COUNTS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")


class ChatPolicy(ABC):
    """A player that asks a chat model; one object plays one seat of one match at a time.

    Args:
        form: format of the messages.
        format_with_second_call: whether a second call asks the model to restate its reply in the form of the game.
        service: the models of a run; by default the policy has its own service.

    Raises:
        OptionError: if ``service`` is something else.

    Attributes:
        keeps_deadline: it limits its own time.
        uses_service: it shares connections, limits and accounts with the other policies of its service.
        wants_form: whether it reads the request to restate a reply.
        wants_update: whether it reads the news of a turn.
        wants_chat: whether it reads the match in native roles, if its environment supports it.
    """

    keeps_deadline: ClassVar[bool] = True
    uses_service: ClassVar[bool] = True

    def __init__(self, form: PromptForm, format_with_second_call: bool, service: ModelService | None) -> None:
        if service is not None and not isinstance(service, ModelService):
            raise OptionError(f"service: expected a ModelService, made in code, got {service!r}")
        self._form = form
        self._owns_service = service is None
        self._service = ModelService() if service is None else service
        self.wants_form = format_with_second_call
        self.wants_update = form.memory.updates
        self.wants_chat = form.memory.wants_chat
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Starts a match with an empty history; ``seed`` is the base of the seeds of calls."""
        self._agent = agent
        self._seed = seed
        self._calls = 0
        self._conversation = Conversation(self._form)

    async def __call__(self, observation: Mapping[str, Any]) -> Reply:
        """Asks the model and returns its reply.

        The reply's detail holds what the model reports, the fingerprint of the messages as ``prompt``, and in the first call of a
        match the ``request`` options and the format of messages as ``prompt_form``. With a second call these describe the second
        one, whose messages begin with the first ones; ``free_reply`` is the restated reply.

        Raises:
            ProviderError: if there was no valid reply.
        """
        messages = self._conversation.hear(observation)
        reply = await self._ask(observation, messages, restates=False)
        if self.wants_form and reply.kind is Failure.OK:
            # Source: DeepEval (arXiv 2309.04369), appendix A.1. Empty, truncated and refused replies are not restated.
            restating = self._conversation.restate(reply.text, observation["form"])
            if restating:
                messages = restating
                reply = _join(reply, await self._ask(observation, messages, restates=True))
        facts: dict[str, Any] = {PROMPT: fingerprint(messages), **self._call_facts()}
        if self._calls == 0:
            facts |= {"request": self._describe(observation), FORM: self._form.table()}
        self._remember(reply.text)
        return replace(reply, detail={**(reply.detail or {}), **facts})

    def recall(self, observation: Mapping[str, Any], reply: Reply | str) -> None:
        """Restores the history and the number of calls for a call from before an interruption."""
        self._conversation.hear(observation)
        self._remember(reply.text if isinstance(reply, Reply) else reply)

    async def close(self) -> None:
        """Closes the service, unless it is shared; the policy can be asked again afterwards."""
        if self._owns_service:
            await self._service.close()

    @abstractmethod
    async def _ask(self, observation: Mapping[str, Any], messages: list[Message], *, restates: bool) -> Reply:
        """Sends one request; ``restates`` says whether it is the second one of a turn."""

    @abstractmethod
    def _describe(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the request options of a match."""

    def _call_facts(self) -> dict[str, Any]:
        """Returns further facts of the current call."""
        return {}

    def _call_seed(self) -> int:
        """Returns the seed of the current call, 31 bits, because many servers accept no more."""
        sequence = np.random.SeedSequence(self._seed, spawn_key=(self._calls,))
        return int(sequence.generate_state(1)[0]) >> 1

    def _remember(self, reply: str) -> None:
        self._calls += 1
        self._conversation.remember(reply)


def _join(free: Reply, restated: Reply) -> Reply:
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
