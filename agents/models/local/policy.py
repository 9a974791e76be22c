"""HFPolicy: a player that runs a Hugging Face transformers model in this process."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from agents.chat import Message
from agents.errors import ProviderError
from agents.models.chat_policy import SYSTEM_ROLES, ChatPolicy
from agents.models.local.chat import ChatFormat
from agents.models.local.checkpoint import CONTEXT, LENGTH, Checkpoint, Request
from agents.models.prompts.form import PromptForm, read_memory
from agents.models.prompts.serialisers import ROLES
from agents.models.service import ModelService
from agents.policy import Reply
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int, check_number

GENERATE = "generate"
CONSTRAINED = "constrained"
_MODES = (GENERATE, CONSTRAINED)

_SHORTEST, _LONGEST = 1e-3, 1e9
"""Bounds of values without natural ones: seconds, and the maximum temperature."""


class HFPolicy(ChatPolicy):
    """A player that asks a Hugging Face transformers chat model in this process.

    One object plays one seat of one match at a time. Policies with the same model share its weights, and their replies are
    computed one after another; for throughput serve the model, e.g. with vLLM, and play it with ``LLMPolicy``.

    Args:
        model: a model directory, or a model ID on the Hugging Face hub.
        mode: ``generate`` for free text; ``constrained`` to choose among the legal moves, token by token, in games with
            enumerated actions; every reply is then a legal move, without reasoning before it.
        temperature: sampling temperature, at least 0; 0 for the likeliest token.
        max_tokens: maximum number of tokens of a reply in mode ``generate``, at least 1.
        history: as in ``LLMPolicy``, like the next four options.
        history_turns: maximum number of earlier turns sent.
        history_tokens: approximate maximum number of tokens of earlier turns sent.
        rejected: treatment of a rejected reply in the history: ``keep``, ``cap`` or ``drop``.
        longest_kept: maximum number of characters of a reply in a history.
        format_with_second_call: in mode ``generate``, whether a second call asks the model to restate its reply in the form of
            the game; both count as one reply of one turn.
        system_role: role of the message with the rules; if the model's chat template does not support it, they are put at the
            beginning of the first user message, as with ``user``.
        chat_template_kwargs: further variables of the chat template, e.g. ``{"enable_thinking": False}``; JSON values.
        device: ``auto`` (CUDA, else Apple's MPS, else the CPU), ``cpu``, ``mps``, ``cuda`` or ``cuda:1``.
        dtype: of the weights: ``auto`` for the checkpoint's, ``float32``, ``float16`` or ``bfloat16``.
        threads: number of CPU threads.
        timeout: seconds of computation for a reply.
        service: the models of a run; by default the policy has its own service.

    Raises:
        OptionError: if an option is invalid, or the model or device is missing.
    """

    reads: ClassVar[str] = "text"
    OPERATIONAL: ClassVar[frozenset[str]] = frozenset({"device", "threads", "timeout"})

    def __init__(
        self,
        model: str,
        *,
        mode: str = GENERATE,
        temperature: float = 0.0,
        max_tokens: int = 1024,
        history: str | None = None,
        history_turns: int | None = None,
        history_tokens: int | None = None,
        rejected: str = "cap",
        longest_kept: int = 8_000,
        format_with_second_call: bool = False,
        system_role: str = "system",
        chat_template_kwargs: Mapping[str, Any] | None = None,
        device: str = "auto",
        dtype: str = "auto",
        threads: int = 1,
        timeout: float = 600.0,
        service: ModelService | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise OptionError(f"model: expected a directory or the ID of a model, got {model!r}")
        check_choice("mode", mode, _MODES)
        check_number("temperature", temperature, 0, _LONGEST)
        check_int("max_tokens", max_tokens, 1, 10_000_000)
        check_bool("format_with_second_call", format_with_second_call)
        if format_with_second_call and mode != GENERATE:
            raise OptionError(f"format_with_second_call: expected mode={GENERATE!r} with it, got mode={mode!r}")
        check_choice("system_role", system_role, SYSTEM_ROLES)
        check_int("threads", threads, 1, 1024)
        check_number("timeout", timeout, _SHORTEST, _LONGEST)
        self._checkpoint = Checkpoint(model, device, dtype)
        self._checkpoint.check()
        self.preflight_key = self._checkpoint
        self._chat = ChatFormat(self._checkpoint.tokenizer, _check_variables(chat_template_kwargs))
        self._mode = mode
        self._temperature = float(temperature)
        self._max_tokens = max_tokens
        self._threads = threads
        self._timeout = float(timeout)
        memory = read_memory(history, history_turns, history_tokens, rejected, longest_kept)
        system_role = system_role if self._chat.knows_role(system_role) else "user"
        super().__init__(PromptForm(memory, system_role, ROLES), format_with_second_call, service)
        self.wants_legal: Literal["all"] | bool = "all" if mode == CONSTRAINED else False

    async def _ask(self, observation: Mapping[str, Any], messages: list[Message], *, restates: bool) -> Reply:
        moves = tuple(observation.get("legal", ())) if self.wants_legal else ()
        if self.wants_legal and not moves:
            raise ProviderError(
                f"mode={self._mode} needs legal moves to choose from, and this game lists none", fatal=True
            )
        request = Request(
            self._write(messages),
            moves,
            self._max_tokens,
            self._temperature,
            self._call_seed(),
            self._timeout,
            self._threads,
        )
        completion = await self._service.local.complete(self._checkpoint, request, agent=self._agent)
        has_own_words = self._calls > 0 and any(message["role"] == "assistant" for message in messages)
        if completion.finish_reason == CONTEXT and not has_own_words:
            raise ProviderError(
                f"{self._checkpoint.path}: a prompt of {completion.prompt_tokens} tokens leaves no room for a reply",
                final=True,
            )
        return Reply(
            completion.text,
            Failure.TRUNCATED if completion.finish_reason in (LENGTH, CONTEXT) else Failure.OK,
            completion.prompt_tokens,
            completion.completion_tokens,
            {"finish_reason": completion.finish_reason},
            calls=1,
            waited=completion.waited,
        )

    async def preflight(self, observation: Mapping[str, Any] | None = None) -> None:
        """Loads the model.

        Raises:
            ProviderError: if it cannot be loaded.
        """
        await self._service.local.load(self._checkpoint)

    def _write(self, messages: list[Message]) -> str:
        try:
            return self._chat.write(messages)
        except ValueError as error:
            raise ProviderError(f"{self._checkpoint.path}: {error}", final=True) from error

    def _describe(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = {
            "model": self._checkpoint.path,
            "mode": self._mode,
            "temperature": self._temperature,
            "dtype": self._checkpoint.dtype,
            "system_role": self._form.system_role,
        }
        if self._mode == GENERATE:
            described["max_tokens"] = self._max_tokens
        return described


def _check_variables(variables: object) -> dict[str, Any]:
    if variables is None:
        return {}
    try:
        if isinstance(variables, Mapping):
            return json.loads(json.dumps(dict(variables), allow_nan=False))
    except (TypeError, ValueError):
        pass
    raise OptionError(f"chat_template_kwargs: expected a table of JSON values, got {variables!r}")
