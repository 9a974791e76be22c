"""A Hugging Face transformers model in memory, and its replies."""

import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig, LogitsProcessor
from transformers.utils import logging

from agents.errors import ProviderError
from agents.models.local.checkpoint import CONTEXT, LENGTH, STOP, Checkpoint, Completion, Request

Trie = dict[int, Any]
"""A prefix tree of token sequences: child nodes by token."""


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
