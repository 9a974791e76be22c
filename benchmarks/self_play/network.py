"""The network of the self-play training, its checkpoints, and a checkpoint as a policy."""

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from agents.policy import ScriptedPolicy
from benchmarks.self_play.games import PAD, SEATS, SETTINGS, Setting
from llmarena_envs.core.options import OptionError, check_choice, check_int

MAX_SIZES = {"hidden": 4096, "layers": 128, "heads": 128}
"""Maximum sizes of a network."""


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


class Network(nn.Module):
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
        super().__init__()
        self.setting = setting
        self.size = {"game": setting.name, "hidden": hidden, "layers": layers, "heads": heads}
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
        """Returns logits (rows, tokens, actions) and values (rows, tokens, seats) of padded sequences."""
        x = self.token(tokens) + self.position.weight[: tokens.shape[1]]
        x = self.norm(self.blocks(x))
        return self.policy(x), self.value(x)

    def decide(self, sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Returns logits (rows, actions) and values (rows, seats) after each sequence, on the CPU."""
        last = torch.tensor([len(sequence) - 1 for sequence in sequences])
        with torch.no_grad():
            logits, values = self(padded(sequences, self.device))
        rows = torch.arange(len(sequences))
        return logits.cpu()[rows, last], values.cpu()[rows, last]

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.token.weight.device


def padded(sequences: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Returns sequences as one tensor; attention is causal, so padding at the end affects nothing."""
    longest = max(map(len, sequences))
    return torch.tensor([[*sequence, *[PAD] * (longest - len(sequence))] for sequence in sequences], device=device)


def save(network: Network, path: Path) -> None:
    """Writes a checkpoint: weights and size, as safetensors."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.detach().cpu().contiguous() for name, weight in network.state_dict().items()}
    save_file(weights, path, metadata={"network": json.dumps(network.size)})


def load(path: Path) -> Network:
    """Reads a checkpoint. It is data: nothing in it is executed.

    Raises:
        OptionError: if it is not a checkpoint of this script.
    """
    expected = f"{path}: expected a checkpoint of benchmarks.train_self_play (safetensors)"
    try:
        with safe_open(path, framework="pt") as file:
            size = json.loads((file.metadata() or {})["network"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_choice("game", size["game"], SETTINGS)
        with torch.device("meta"):  # takes no memory before the weights fit
            network = Network(SETTINGS[size["game"]], size["hidden"], size["layers"], size["heads"])
        network.load_state_dict(weights, assign=True)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise OptionError(f"{expected}, got {type(error).__name__}: {str(error).splitlines()[0]:.200}") from error
    return network.float().eval()


@lru_cache(maxsize=64)
def _cached(path: Path, changed: int) -> Network:
    return load(path)


class CheckpointPolicy(ScriptedPolicy):
    """A checkpoint as a policy of the harness: samples legal moves at temperature 1, as in training.

    Args:
        network: the network.
    """

    def __init__(self, network: Network) -> None:
        self._network = network

    def __call__(self, view: Any) -> int:
        """Returns a legal action."""
        logits, _ = self._network.decide([self._network.setting.tokens(view)])
        legal = list(view.legal)
        chances = functional.softmax(logits[0, legal].double(), dim=0).numpy()
        return int(legal[self.rng.choice(len(legal), p=chances / chances.sum())])


def checkpoint(path: str) -> CheckpointPolicy:
    """Returns the policy of a checkpoint file.

    Raises:
        OptionError: if it cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise OptionError(f"path: expected a checkpoint file, got {path!r:.200}")
    return CheckpointPolicy(_cached(file, file.stat().st_mtime_ns))
