"""Networks of the self-play training: logits of actions and a value for each seat, from the tokens of a game."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.self_play.games import PAD, SEATS, Setting
from llmarena_envs.core.options import OptionError, check_int

MAX_SIZES = {"hidden": 4096, "layers": 128, "heads": 128}
"""Maximum sizes of a transformer."""


class Network(nn.Module):
    """A network that plays a game.

    Args:
        setting: the game.
        size: constructor arguments, stored in a checkpoint.

    Attributes:
        batch: maximum number of decisions in a forward pass of ``decide``.
    """

    batch = 1024

    def __init__(self, setting: Setting, size: dict[str, Any]) -> None:
        super().__init__()
        self.setting, self.size = setting, {"game": setting.name, **size}

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits (rows, tokens, actions) and values (rows, tokens, seats) of padded sequences."""
        raise NotImplementedError

    def decide(self, sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Returns logits (rows, actions) and values (rows, seats) after each sequence, on the CPU."""
        parts = []
        for start in range(0, len(sequences), self.batch):
            chunk = sequences[start : start + self.batch]
            with torch.no_grad():
                outputs = self(padded(chunk, self.device))
            rows, last = range(len(chunk)), [len(sequence) - 1 for sequence in chunk]
            parts.append([output.cpu()[rows, last] for output in outputs])
        logits, values = map(torch.cat, zip(*parts, strict=True))
        return logits, values

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device


class Block(nn.Module):
    """A transformer block with causal attention."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attention, self.joined = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))

    def forward(self, x: Tensor) -> Tensor:
        """Maps activations of shape (rows, tokens, hidden)."""
        q, k, v = self.attention(self.before_attention(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.joined(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class Transformer(Network):
    """A causal transformer over the tokens of a game, with action logits and a value for each seat.

    Args:
        setting: the game.
        hidden: width.
        layers: number of blocks.
        heads: number of attention heads; divides ``hidden``.

    Raises:
        OptionError: if a size is invalid.
    """

    def __init__(self, setting: Setting, hidden: int, layers: int, heads: int) -> None:
        super().__init__(setting, {"hidden": hidden, "layers": layers, "heads": heads})
        for name, most in MAX_SIZES.items():
            check_int(name, self.size[name], 1, most)
        if hidden % heads:
            raise OptionError(f"heads: expected a divisor of hidden = {hidden}, got {heads}")
        self.token = nn.Embedding(setting.vocabulary, hidden)
        self.position = nn.Embedding(setting.length, hidden)
        self.blocks = nn.Sequential(*(Block(hidden, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(hidden)
        self.policy, self.value = nn.Linear(hidden, setting.actions), nn.Linear(hidden, SEATS)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class."""
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        x = self.norm(self.blocks(x))
        return self.policy(x), self.value(x)


def padded(sequences: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Returns sequences as one tensor; attention is causal, so padding at the end affects nothing."""
    longest = max(map(len, sequences))
    return torch.tensor([[*sequence, *[PAD] * (longest - len(sequence))] for sequence in sequences], device=device)
