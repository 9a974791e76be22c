"""A pretrained language model with LoRA weights as a network of the self-play training."""

import string
import warnings
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, count
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from benchmarks.self_play.games import FIRST_FACT, FIRST_SEAT, PAD, SEATS, START, Setting
from benchmarks.self_play.network import Network, padded
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.options import OptionError, check_int
from rating.cli.flags import check_extra

MAX_RANK = 256
"""Maximum rank of the LoRA weights."""

LABELS = string.ascii_uppercase + string.ascii_lowercase + string.digits
"""Labels of moves."""


class LanguageModel(Network):
    """A causal language model of Transformers that reads a match as text and answers with the label of a move.

    The text has the rules, the label of each move, the seat's own information, and the labels of the moves so far. Networks of
    one model share its weights; each has LoRA weights (Hu et al., arXiv 2106.09685) and a value head of its own.

    Args:
        setting: the game.
        model: directory of the model, or the name of one in the cache of the Hugging Face hub.
        rank: rank of the LoRA weights of all linear layers.
        device: device of all weights, e.g. ``cuda``.

    Raises:
        OptionError: if the model cannot be loaded, or has no single token for each label.
    """

    batch = 64

    def __init__(self, setting: Setting, model: str, rank: int, device: str = "cpu") -> None:
        super().__init__(setting, {"model": model, "rank": rank})
        check_extra("A language model needs", "trl", "transformers", "peft")
        from peft import LoraConfig
        from peft.functional import inject_adapter_in_model

        check_int("rank", rank, 1, MAX_RANK)
        pretrained = _pretrained(model, device)
        self._texts, self._labels = _vocabulary(setting, pretrained.tokenizer)
        self._shared = (pretrained.network,)  # in a tuple: no part of the checkpoint
        self._name = f"adapter{next(pretrained.numbers)}"
        config = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=pretrained.linear)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of several adapters in a model, which is the purpose
            network = inject_adapter_in_model(config, pretrained.network, self._name)
        own = [weight for name, weight in network.named_parameters() if f".{self._name}." in name]
        self.adapter = nn.ParameterList(own)
        self.value = nn.Linear(network.get_input_embeddings().embedding_dim, SEATS, device=device)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """See the base class."""
        from peft.functional import set_adapter

        (network,) = self._shared
        set_adapter(network, self._name)
        rows = [[self._texts[token] for token in row] for row in tokens.tolist()]
        ids = padded([[token for text in row for token in text] for row in rows], self.device)
        ends = torch.tensor([[*accumulate(map(len, row))] for row in rows], device=self.device).sub(1).clamp(min=0)
        hidden = network.base_model(input_ids=ids, use_cache=False).last_hidden_state
        hidden = hidden.gather(1, ends[..., None].expand(-1, -1, hidden.shape[-1]))
        return hidden @ network.get_output_embeddings().weight[self._labels].T, self.value(hidden)


class _Pretrained(NamedTuple):
    """A frozen model.

    Attributes:
        tokenizer: its tokenizer.
        network: its weights, with the LoRA weights of all networks.
        linear: names of its linear layers.
        numbers: numbers of the networks.
    """

    tokenizer: Any
    network: Any
    linear: list[str]
    numbers: Iterator[int]


@lru_cache(maxsize=2)
def _pretrained(model: str, device: str) -> _Pretrained:
    """Loads a model. Downloads nothing, as a checkpoint may name any model."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"trust_remote_code": False, "local_files_only": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, **options)
        network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32, use_safetensors=True, **options)
    except (OSError, ValueError) as error:
        expected = "expected the directory of a causal language model, or one downloaded by `hf download NAME`"
        raise OptionError(f"model: {expected}, got {model!r:.200}: {str(error).splitlines()[0]:.200}") from error
    head = network.get_output_embeddings()
    linear = [name for name, part in network.named_modules() if isinstance(part, nn.Linear) and part is not head]
    return _Pretrained(tokenizer, network.to(device).eval().requires_grad_(False), linear, count())


def _vocabulary(setting: Setting, tokenizer: Any) -> tuple[list[list[int]], list[int]]:
    """Returns the text of each token of a game, as tokens of the model, and the label of each move."""

    def encoded(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
        return ids

    labels = [label for label in LABELS if len(encoded(label)) == 1][: setting.actions]
    if len(labels) < setting.actions:
        raise OptionError(
            f"model: expected a tokenizer with {setting.actions} single letters and digits, got {len(labels)}"
        )
    env = make_environment(setting.name, setting.options)
    env.reset(seed=0)
    legend = "\n".join(f"{label}: {move}" for label, move in zip(labels, setting.moves, strict=True))
    texts = {PAD: "", START: ""}
    for seat, agent in enumerate(env.agents):
        rules = env.observe(agent)["rules"]
        texts[FIRST_SEAT + seat] = f"{rules}\n\nLabels of moves:\n{legend}\n\nYou are {agent}.\n"
    texts |= {FIRST_FACT + number: f"{fact}\n" for number, fact in enumerate(setting.facts)}
    texts |= {setting.first_move + number: label for number, label in enumerate(labels)}
    ids = [encoded(texts[token]) for token in range(setting.vocabulary)]
    ids[START] = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    return ids, [token for (token,) in ids[setting.first_move :]]
