"""Models on disk or on the hub, and in memory."""

import functools
import inspect
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.errors import ProviderError
from agents.models.local.trie import Node, build_trie
from llmarena_envs.core.options import OptionError, check_choice

DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")
_KEPT_MOVES = 65_536
_KEPT_TRIES = 1024


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

    def check(self) -> None:
        """Raises an ``OptionError`` if the model, device or dtype is not available; does not load the weights."""
        import torch

        check_choice("dtype", self.dtype, DTYPES)
        if not isinstance(self.device, str) or not _DEVICE.fullmatch(self.device):
            raise OptionError(f"device: expected auto, cpu, mps, cuda or cuda:N, got {self.device!r}")
        there = torch.cuda.device_count() if self.device.startswith("cuda") else 1
        if self.device == "mps" and not torch.backends.mps.is_available():
            there = 0
        if there <= int(self.device.partition(":")[2] or 0):
            raise OptionError(f"device: this machine has no {self.device} that torch can use; auto takes what there is")
        config = load_config(self.path)
        if config.is_encoder_decoder:
            raise OptionError(
                f"hf:{self.path}: expected a causal language model, got an encoder-decoder ({config.model_type})"
            )
        load_tokenizer(self.path)


@functools.lru_cache(maxsize=16)
def load_config(path: str) -> Any:
    """Returns the configuration of a model.

    Raises:
        OptionError: if it is missing.
    """
    from transformers import AutoConfig

    return _load(AutoConfig, path)


@functools.lru_cache(maxsize=16)
def load_tokenizer(path: str) -> Any:
    """Returns the tokenizer of a model.

    Raises:
        OptionError: if it is missing.
    """
    from transformers import AutoTokenizer

    return _load(AutoTokenizer, path)


def _load(kind: Any, path: str) -> Any:
    try:
        return kind.from_pretrained(path, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        where = "it is a directory" if Path(path).is_dir() else "there is no such directory"
        reason = " ".join(str(error).split())[:300]
        raise OptionError(
            f"hf:{path}: expected the directory of a model with config.json and tokenizer, or the ID of one on the"
            f" Hugging Face hub that is in the local cache or can be downloaded; {where} ({reason})"
        ) from error


class LocalModel:
    """A model in memory.

    Args:
        checkpoint: the model to load.

    Attributes:
        tokenizer: its tokenizer.
        network: the transformers model.
        device: its device.
        ends: the tokens that end a reply.
        room: context length in tokens, or ``None`` if unknown.
        can_share: whether padding can follow tokens already read: not with sliding windows, and only with key-value caches.
        passes: number of forward passes.

    Raises:
        ProviderError: if it cannot be loaded.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.cache_utils import CacheLayerMixin, DynamicLayer

        self.tokenizer = load_tokenizer(checkpoint.path)
        self.device = torch.device(_choose_device() if checkpoint.device == "auto" else checkpoint.device)
        try:
            with _no_progress_bars():
                network = AutoModelForCausalLM.from_pretrained(
                    checkpoint.path, dtype=checkpoint.dtype, trust_remote_code=False
                )
            self.network = network.to(self.device).eval()
        except Exception as error:  # from any library that reads the weights
            raise ProviderError(f"hf:{checkpoint.path} cannot be loaded: {error}", fatal=True) from error
        accepted = inspect.signature(network.forward).parameters
        self._cache_name = "cache" if "cache" in accepted else "past_key_values"  # the name before transformers 5.24
        layers = self.new_cache().layers
        has_keys = not layers or any(
            isinstance(layer, CacheLayerMixin) for layer in layers
        )  # state-space models have none
        if self._cache_name not in accepted or not has_keys:
            raise ProviderError(
                f"hf:{checkpoint.path}: expected a model with a key-value cache; serve this one", fatal=True
            )
        self._takes_positions = "position_ids" in accepted
        self._takes_keep = "logits_to_keep" in accepted
        ends = network.generation_config.eos_token_id
        known = [*(ends if isinstance(ends, list) else [ends]), self.tokenizer.eos_token_id]
        self.ends: tuple[int, ...] = tuple(sorted({end for end in known if end is not None}))
        self.room: int | None = getattr(network.config.get_text_config(), "max_position_embeddings", None)
        self.can_share = self._takes_positions and bool(layers) and all(type(layer) is DynamicLayer for layer in layers)
        self.passes = 0
        self._encode_move = functools.lru_cache(_KEPT_MOVES)(self._encode_new_move)
        self.trie = functools.lru_cache(_KEPT_TRIES)(self._build_trie)

    def new_cache(self) -> Any:
        """Returns an empty key-value cache."""
        from transformers import DynamicCache

        return DynamicCache(config=self.network.config)

    def forward(self, ids: Any, mask: Any, positions: Any, cache: Any, keep: int = 1) -> Any:
        """Reads tokens after those in the cache, and adds them to it.

        Args:
            ids: int64 of shape (rows, tokens).
            mask: int64 of shape (rows, cached and new tokens): 0 for padding.
            positions: int64 of shape (rows, tokens).
            cache: the cache.
            keep: number of last tokens to return logits for; 0 for all.

        Returns:
            Logits of shape (rows, kept, vocabulary).
        """
        self.passes += 1
        further: dict[str, Any] = {self._cache_name: cache}
        if self._takes_positions:
            further["position_ids"] = positions
        if self._takes_keep:
            further["logits_to_keep"] = keep
        logits = self.network(input_ids=ids, attention_mask=mask, use_cache=True, **further).logits
        return logits[:, -keep:]

    def encode(self, prompts: Sequence[str]) -> list[list[int]]:
        """Returns the tokens of each prompt; chat templates include the token that begins a text."""
        written: list[list[int]] = self.tokenizer(list(prompts), add_special_tokens=not self.tokenizer.chat_template)[
            "input_ids"
        ]
        return written

    def encode_moves(self, moves: Sequence[str]) -> list[tuple[int, ...]]:
        """Returns the tokens of each move at the beginning of a reply.

        Raises:
            ProviderError: if the model has no token that ends a reply, or no tokens for a move.
        """
        if not self.ends:
            raise ProviderError("this model has no token that ends a reply: use mode=generate", fatal=True)
        return [self._encode_move(move) for move in moves]

    def _encode_new_move(self, move: str) -> tuple[int, ...]:
        tokens = tuple(self.tokenizer.encode(move, add_special_tokens=False))
        if not tokens:
            raise ProviderError(
                f"the tokenizer of this model has no tokens for the move {move!r}: use mode=generate", fatal=True
            )
        return tokens

    def _build_trie(self, moves: tuple[str, ...]) -> Node:
        """Returns the prefix tree of the moves."""
        return build_trie(self.encode_moves(moves))


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    """Disables the progress bars of transformers, because a run shows its own progress."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _choose_device() -> str:
    import torch

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
