"""Checkpoints of the self-play training, and a checkpoint as a policy of the harness."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch.nn import functional

from agents.policy import ScriptedPolicy
from benchmarks.self_play.games import SETTINGS
from benchmarks.self_play.language_model import LanguageModel
from benchmarks.self_play.network import Network, Transformer
from llmarena_envs.core.options import OptionError, check_choice


def save(network: Network, path: Path) -> None:
    """Writes a checkpoint: trained weights and size, as safetensors."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.detach().cpu().contiguous() for name, weight in network.state_dict().items()}
    save_file(weights, path, metadata={"network": json.dumps(network.size)})


def load(path: Path, device: str = "cpu") -> Network:
    """Reads a checkpoint. It is data: nothing in it is executed, and nothing is downloaded.

    Raises:
        OptionError: if it is not a checkpoint of this script, or the language model that it names is not on this machine.
    """
    expected = f"{path}: expected a checkpoint of benchmarks.train_self_play (safetensors)"
    try:
        with safe_open(path, framework="pt") as file:
            size = json.loads((file.metadata() or {})["network"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_choice("game", size["game"], SETTINGS)
        setting = SETTINGS[size["game"]]
        network: Network
        if "model" in size:
            network = LanguageModel(setting, size["model"], size["rank"], device)
            network.load_state_dict(weights)
        else:
            with torch.device("meta"):  # takes no memory before the weights fit
                network = Transformer(setting, size["hidden"], size["layers"], size["heads"])
            network.load_state_dict(weights, assign=True)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise OptionError(f"{expected}, got {type(error).__name__}: {str(error).splitlines()[0]:.200}") from error
    return network.float().to(device).eval()


@lru_cache(maxsize=64)
def _cached(path: Path, changed: int, device: str) -> Network:
    return load(path, device)


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


def checkpoint(path: str, device: str = "cpu") -> CheckpointPolicy:
    """Returns the policy of a checkpoint file.

    Args:
        path: the file.
        device: device of the network.

    Raises:
        OptionError: if it cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise OptionError(f"path: expected a checkpoint file, got {path!r:.200}")
    return CheckpointPolicy(_cached(file, file.stat().st_mtime_ns, device))
