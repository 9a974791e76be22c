"""A Hugging Face transformers model in memory, and its replies."""

import functools
import re
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GenerationConfig, LogitsProcessor
from transformers.utils import logging

from agents.errors import ProviderError
from llmarena_envs.core.options import OptionError, check_choice

STOP = "stop"
LENGTH = "length"
CONTEXT = "context_length"
"""Finish reasons: end of the reply, token limit, prompt too long for a reply."""

_DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")

Trie = dict[int, Any]
"""A prefix tree of token sequences: child nodes by token."""


@dataclass(frozen=True)
class Checkpoint:
    """A causal language model of transformers and its device.

    Attributes:
        path: a directory, or the ID of a model on the Hugging Face hub.
        device: ``auto`` (CUDA, else Apple's MPS, else the CPU), ``cpu``, ``mps``, ``cuda`` or ``cuda:1``.
        dtype: of the weights: ``auto`` for the checkpoint's, ``float32``, ``float16`` or ``bfloat16``.
    """

    path: str
    device: str = "auto"
    dtype: str = "auto"

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model."""
        return _load(AutoTokenizer, self.path)

    def check(self) -> None:
        """Raises an ``OptionError`` if the model, device or dtype is not available; does not load the weights."""
        check_choice("dtype", self.dtype, _DTYPES)
        if not isinstance(self.device, str) or not _DEVICE.fullmatch(self.device):
            raise OptionError(f"device: expected auto, cpu, mps, cuda or cuda:N, got {self.device!r}")
        count = torch.cuda.device_count() if self.device.startswith("cuda") else 1
        if self.device == "mps" and not torch.backends.mps.is_available():
            count = 0
        if count <= int(self.device.partition(":")[2] or 0):
            raise OptionError(f"device: torch finds no {self.device} on this machine; auto takes what there is")
        config = _load(AutoConfig, self.path)
        if config.is_encoder_decoder:
            raise OptionError(
                f"hf:{self.path}: expected a causal language model, got an encoder-decoder ({config.model_type})"
            )
        _load(AutoTokenizer, self.path)


@functools.lru_cache(maxsize=32)
def _load(kind: Any, path: str) -> Any:
    """Returns the configuration or the tokenizer of a model.

    Raises:
        OptionError: if it is missing.
    """
    try:
        return kind.from_pretrained(path, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        where = "it is a directory" if Path(path).is_dir() else "there is no such directory"
        reason = " ".join(str(error).split())[:300]
        raise OptionError(
            f"hf:{path}: expected the directory of a model with config.json and tokenizer, or the ID of one on the"
            f" Hugging Face hub that is in the local cache or can be downloaded; {where} ({reason})"
        ) from error


@dataclass(frozen=True)
class Request:
    """A requested reply.

    Attributes:
        prompt: text of the prompt.
        moves: the legal replies; empty for free text.
        max_tokens: maximum number of tokens of free text.
        temperature: sampling temperature; 0 for the likeliest token.
        seed: of the samples.
        timeout: seconds of computation.
        threads: number of CPU threads.
        cancelled: set if the caller stopped waiting.
    """

    prompt: str
    moves: tuple[str, ...] = ()
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    timeout: float = 600.0
    threads: int = 1
    cancelled: threading.Event = field(default_factory=threading.Event, compare=False)


@dataclass(frozen=True)
class Completion:
    """A reply.

    Attributes:
        text: the reply.
        finish_reason: ``stop``, ``length`` or ``context_length``.
        prompt_tokens: number of prompt tokens.
        completion_tokens: number of tokens of the reply, including its end.
        waited: seconds before the model began.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    waited: float = 0.0


class LocalModel:
    """A model in memory.

    Args:
        checkpoint: the model to load.

    Attributes:
        tokenizer: its tokenizer.
        network: the transformers model.
        ends: the tokens that end a reply.
        room: context length in tokens, or ``None`` if unknown.

    Raises:
        ProviderError: if it cannot be loaded.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.tokenizer = checkpoint.tokenizer
        device = _choose_device() if checkpoint.device == "auto" else checkpoint.device
        try:
            with _no_progress_bars():
                network = AutoModelForCausalLM.from_pretrained(
                    checkpoint.path, dtype=checkpoint.dtype, trust_remote_code=False
                )
            self.network = network.to(device).eval()
        except Exception as error:  # from any library that reads the weights
            raise ProviderError(f"hf:{checkpoint.path} cannot be loaded: {error}", fatal=True) from error
        ends = network.generation_config.eos_token_id
        known = [*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id]
        self.ends: list[int] = sorted({end for end in known if end is not None})
        self.room: int | None = getattr(network.config.get_text_config(), "max_position_embeddings", None)
        # Only the options of the policy affect sampling, not the checkpoint's own top_p and penalties.
        network.generation_config = GenerationConfig(
            do_sample=False, eos_token_id=self.ends or None, pad_token_id=self.ends[0] if self.ends else 0
        )
        self._lock = threading.Lock()

    def reply(self, request: Request) -> Completion:
        """Returns the reply to a request. Several threads can ask at once; they take turns.

        Raises:
            ProviderError: if the model fails, has no tokens for a legal move, or exceeds the time limit.
        """
        with self._lock, torch.inference_mode():
            torch.set_num_threads(request.threads)  # affects only this thread
            return self._reply(request)

    def _reply(self, request: Request) -> Completion:
        # Chat templates include the token that begins a text.
        prompt = self.tokenizer(
            request.prompt, add_special_tokens=not self.tokenizer.chat_template, return_tensors="pt"
        ).to(self.network.device)
        size = prompt["input_ids"].shape[1]
        moves = self._encode_moves(request.moves)
        longest = max(map(len, moves), default=0)
        limit = longest + 1 if moves else request.max_tokens
        if self.room is not None:
            if size + max(longest, 1) > self.room:
                return Completion("", CONTEXT, size, 0)
            limit = limit if moves else min(limit, self.room - size)
        deadline = time.monotonic() + request.timeout

        def gives_up(ids: torch.Tensor, scores: Any, **others: Any) -> torch.Tensor:
            is_over = request.cancelled.is_set() or time.monotonic() > deadline
            return torch.full((len(ids),), is_over, device=ids.device)

        further: dict[str, Any] = {}
        if moves:
            trie = build_trie([*tokens, end] for tokens in moves for end in self.ends)
            further["prefix_allowed_tokens_fn"] = lambda _, ids: self._allowed(trie, ids[size:].tolist())
        if request.temperature > 0:
            further["logits_processor"] = [_Sampling(request.temperature, request.seed, self.network.device)]
        written = self.network.generate(
            input_ids=prompt["input_ids"],
            attention_mask=prompt["attention_mask"],
            max_new_tokens=limit,
            stopping_criteria=[gives_up],
            **further,
        )[0, size:].tolist()
        finish_reason = STOP if written[-1] in self.ends else LENGTH
        if finish_reason == LENGTH and len(written) < limit:
            raise ProviderError(f"no complete reply within {request.timeout:g} s", final=True)
        tokens = written[:-1] if finish_reason == STOP else written
        # Control tokens mark reasoning channels.
        text = moves[tuple(tokens)] if moves else self.tokenizer.decode(tokens, skip_special_tokens=False)
        return Completion(text, finish_reason, size, len(written))

    def _allowed(self, trie: Trie, written: Sequence[int]) -> list[int]:
        """Returns the tokens that can follow the beginning of a move."""
        for token in written:
            trie = trie.get(token, {})
        return list(trie) or self.ends

    def _encode_moves(self, moves: Sequence[str]) -> dict[tuple[int, ...], str]:
        """Returns the moves by their tokens at the beginning of a reply.

        Raises:
            ProviderError: if the model has no token that ends a reply, or no tokens for a move.
        """
        if not moves:
            return {}
        if not self.ends:
            raise ProviderError("this model has no token that ends a reply: use mode=generate", fatal=True)
        written: dict[tuple[int, ...], str] = {}
        for move, tokens in zip(moves, self.tokenizer(list(moves), add_special_tokens=False)["input_ids"], strict=True):
            if not tokens or not set(self.ends).isdisjoint(tokens):
                raise ProviderError(
                    f"the tokenizer of this model has no tokens for the move {move!r}: use mode=generate", fatal=True
                )
            written.setdefault(tuple(tokens), move)
        return written


class _Sampling(LogitsProcessor):
    """Draws the next token, by the Gumbel-max trick, with a generator of its own.

    ``generate(do_sample=True)`` draws from torch's global generator, which other threads use.
    """

    def __init__(self, temperature: float, seed: int, device: torch.device) -> None:
        self._temperature = temperature
        self._generator = torch.Generator(device).manual_seed(seed)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        noise = torch.empty_like(scores).exponential_(generator=self._generator)
        return scores / self._temperature - noise.log()


def build_trie(sequences: Iterable[Sequence[int]]) -> Trie:
    """Returns the root of the prefix tree of token sequences."""
    root: Trie = {}
    for tokens in sequences:
        node = root
        for token in tokens:
            node = node.setdefault(token, {})
    return root


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Disables the progress bars of transformers, because a run shows its own progress."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _choose_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


_loaded: weakref.WeakValueDictionary[Checkpoint, LocalModel] = weakref.WeakValueDictionary()
_loading = threading.Lock()


def load_model(checkpoint: Checkpoint) -> LocalModel:
    """Returns the model in memory, shared by all current users.

    Raises:
        ProviderError: if it cannot be loaded.
    """
    with _loading:
        model = _loaded.get(checkpoint)
        if model is None:
            model = _loaded[checkpoint] = LocalModel(checkpoint)
        return model
