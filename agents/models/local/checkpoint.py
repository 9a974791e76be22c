"""The checkpoint of a local model, and its requests and replies; importing this module needs neither torch nor transformers."""

import functools
import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError, check_choice

STOP = "stop"
LENGTH = "length"
CONTEXT = "context_length"
"""Finish reasons: end of the reply, token limit, prompt too long for a reply."""

_DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,2})?")


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
        from transformers import AutoTokenizer

        return _load(AutoTokenizer, self.path)

    def check(self) -> None:
        """Raises an ``OptionError`` if the model, device or dtype is not available; does not load the weights."""
        import torch
        from transformers import AutoConfig, AutoTokenizer

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
