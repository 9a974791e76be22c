"""HFPolicy: a player that is a model of Hugging Face transformers in this process."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from agents.errors import ProviderError
from agents.models.llm import SYSTEM_ROLES
from agents.models.local.batcher import LocalTarget
from agents.models.local.chat import ChatFormat
from agents.models.local.checkpoint import Checkpoint, load_tokenizer
from agents.models.local.jobs import CONTEXT, GENERATE, LENGTH, MODES, Job
from agents.models.prompts.history import Message, read_memory
from agents.models.prompts.prompter import FORM, PROMPT, Prompter, PromptForm, fingerprint
from agents.models.prompts.serialisers import ROLES
from agents.models.service import ModelService
from agents.policy import Reply
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError, check_bool, check_choice, check_int, check_number

_SHORTEST, _LONGEST = 1e-3, 1e9
"""Bounds of what has no natural ones: seconds, and the temperature above."""


class HFPolicy:
    """A player that asks a chat model of Hugging Face transformers, computed in this process.

    One object plays one seat of one match at a time; all policies of a service that name the same model share it, and its forward
    passes.

    Args:
        model: a directory with a model, or the ID of one on the Hugging Face hub.
        mode: ``generate`` lets the model write what it likes; ``constrained`` lets it choose, token by token, among the legal
            moves; ``score`` takes the legal move that is the likeliest as a whole. The latter two are for games with enumerated
            actions, where every reply is a legal move and no thinking comes before it.
        temperature: of the tokens in the first two modes, of the moves in the third, at least 0; 0 takes the likeliest.
        max_tokens: greatest number of tokens of a reply in mode ``generate``, at least 1.
        normalise: in mode ``score``, whether moves are compared by log-likelihood per token.
        history: as in ``LLMPolicy``, like the next four options.
        history_turns: greatest number of earlier turns that are sent.
        history_tokens: greatest number of tokens of earlier turns that are sent, about.
        rejected: what a history holds of a reply while it is asked for again: ``keep``, ``cap`` or ``drop``.
        longest_kept: greatest number of characters of a reply that a history holds.
        system_role: role of the message that holds the rules; where the model's chat template does not know it, they stand at
            the beginning of the first user message, as with ``user``.
        chat_template_kwargs: further variables of the chat template, e.g. ``{"enable_thinking": False}``; JSON values.
        device: ``auto`` (CUDA, else Apple's MPS, else the CPU), ``cpu``, ``mps``, ``cuda`` or ``cuda:1``.
        dtype: of the weights: ``auto`` for that of the checkpoint, ``float32``, ``float16`` or ``bfloat16``.
        threads: of the computation on a CPU.
        max_batch: greatest number of replies in one forward pass.
        timeout: seconds a reply may take once its batch has begun.
        service: the models of a run; by default the policy has a service of its own.

    Raises:
        OptionError: if an option has no valid value, or there is no such model or device.
    """

    reads: ClassVar[str] = "text"
    keeps_deadline: ClassVar[bool] = True
    uses_service: ClassVar[bool] = True
    OPERATIONAL: ClassVar[frozenset[str]] = frozenset({"device", "threads", "max_batch", "timeout"})

    def __init__(
        self,
        model: str,
        *,
        mode: str = GENERATE,
        temperature: float = 0.0,
        max_tokens: int = 1024,
        normalise: bool = False,
        history: str | None = None,
        history_turns: int | None = None,
        history_tokens: int | None = None,
        rejected: str = "cap",
        longest_kept: int = 8_000,
        system_role: str = "system",
        chat_template_kwargs: Mapping[str, Any] | None = None,
        device: str = "auto",
        dtype: str = "auto",
        threads: int = 1,
        max_batch: int = 32,
        timeout: float = 600.0,
        service: ModelService | None = None,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise OptionError(f"model: expected a directory or the ID of a model, got {model!r}")
        check_choice("mode", mode, MODES)
        check_number("temperature", temperature, 0, _LONGEST)
        check_int("max_tokens", max_tokens, 1, 10_000_000)
        check_bool("normalise", normalise)
        check_choice("system_role", system_role, SYSTEM_ROLES)
        check_int("threads", threads, 1, 1024)
        check_int("max_batch", max_batch, 1, 4096)
        check_number("timeout", timeout, _SHORTEST, _LONGEST)
        if service is not None and not isinstance(service, ModelService):
            raise OptionError(f"service: expected a ModelService, made in code, got {service!r}")
        checkpoint = Checkpoint(model, device, dtype)
        checkpoint.check()
        self._target = LocalTarget(checkpoint, threads, max_batch)
        self.preflight_key = self._target
        self._chat = ChatFormat(load_tokenizer(model), _check_variables(chat_template_kwargs))
        self._mode = mode
        self._temperature = float(temperature)
        self._max_tokens = max_tokens if mode == GENERATE else 0
        self._normalise = normalise
        self._timeout = float(timeout)
        memory = read_memory(history, history_turns, history_tokens, rejected, longest_kept)
        self._form = PromptForm(memory, system_role if self._chat.knows_role(system_role) else "user", ROLES)
        self.wants_update = memory.updates
        self.wants_chat = memory.wants_chat
        self.wants_legal: Literal["all"] | bool = "all" if mode != GENERATE else False
        self._owns_service = service is None
        self._service = ModelService() if service is None else service
        self.reset("", 0)

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match with an empty history; ``seed`` is what the draws of all calls are made from."""
        self._agent = agent
        self._seed = seed
        self._calls = 0
        self._prompter = Prompter(self._form)

    async def __call__(self, observation: Mapping[str, Any]) -> Reply:
        """Asks the model and returns its reply.

        The reply's detail holds ``finish_reason``, in mode ``score`` the ``log_likelihood`` of the move, the fingerprint of the
        messages as ``prompt``, and in the first call of a match the ``request``, what was asked for, and how messages are put
        together, as ``prompt_form``.

        Raises:
            ProviderError: if no reply could be had.
        """
        moves = tuple(observation.get("legal", ())) if self.wants_legal else ()
        if self.wants_legal and not moves:
            raise ProviderError(
                f"mode={self._mode} needs legal moves to choose from, and this game lists none", fatal=True
            )
        messages = self._prompter.hear(observation)
        job = Job(
            self._mode,
            self._write(messages),
            moves=moves,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            normalise=self._normalise,
            seed=(self._seed, self._calls),
            timeout=self._timeout,
        )
        outcome = await self._service.local.complete(self._target, job, agent=self._agent)
        has_own_words = self._calls > 0 and any(message["role"] == "assistant" for message in messages)
        if outcome.finish_reason == CONTEXT and not has_own_words:
            raise ProviderError(
                f"{self._target.checkpoint.path}: a prompt of {outcome.prompt_tokens} tokens leaves no room for a reply",
                final=True,
            )
        detail: dict[str, Any] = {"finish_reason": outcome.finish_reason, PROMPT: fingerprint(messages)}
        if outcome.log_likelihood is not None:
            detail["log_likelihood"] = outcome.log_likelihood
        if self._calls == 0:
            detail |= {"request": self._describe(), FORM: self._form.table()}
        self._remember(outcome.text)
        return Reply(
            outcome.text,
            Failure.TRUNCATED if outcome.finish_reason in (LENGTH, CONTEXT) else Failure.OK,
            outcome.prompt_tokens,
            outcome.completion_tokens,
            detail,
            calls=1,
            waited=outcome.waited,
        )

    def recall(self, observation: Mapping[str, Any], reply: Reply | str) -> None:
        """Lives through a call that was made before an interruption: restores the history and the count of calls."""
        self._prompter.hear(observation)
        self._remember(reply.text if isinstance(reply, Reply) else reply)

    async def preflight(self, observation: Mapping[str, Any] | None = None) -> None:
        """Loads the model.

        Raises:
            ProviderError: if it cannot be loaded.
        """
        await self._service.local.batcher(self._target).load()

    async def close(self) -> None:
        """Releases the model, unless it belongs to somebody else's service; the policy may be asked again afterwards."""
        if self._owns_service:
            await self._service.close()

    def _remember(self, reply: str) -> None:
        self._calls += 1
        self._prompter.remember(reply)

    def _write(self, messages: list[Message]) -> str:
        try:
            return self._chat.write(messages)
        except ValueError as error:
            raise ProviderError(f"{self._target.checkpoint.path}: {error}", final=True) from error

    def _describe(self) -> dict[str, Any]:
        """Returns what is asked for in every call of a match."""
        described: dict[str, Any] = {
            "model": self._target.checkpoint.path,
            "mode": self._mode,
            "temperature": self._temperature,
            "dtype": self._target.checkpoint.dtype,
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
