"""Models whose memory is not keys and values of everything read: windows, and states that are updated."""

import pytest

from agents.errors import ProviderError
from agents.models.local.checkpoint import Checkpoint, load_model
from agents.models.local.jobs import CONSTRAINED, SCORE
from tests.agents.models.local.asking import complete, jobs, prompts
from tests.agents.models.local.test_scoring import score_by_hand
from tests.agents.models.local.test_writing import generate

pytestmark = pytest.mark.needs("torch", "transformers")

WINDOWS = {"head_dim": 16, "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]}
STATES = {
    "head_dim": 16,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "layer_types": ["linear_attention", "full_attention"],
}


def make(folder, tokenizer, architecture, **fields):
    """Makes a model with random weights."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    tokens = AutoTokenizer.from_pretrained(tokenizer)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(tokens),
        pad_token_id=tokens.pad_token_id,
        eos_token_id=tokens.eos_token_id,
        bos_token_id=None,
        hidden_size=64,
        num_hidden_layers=2,
        **fields,
    )
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weight in network.parameters():
            weight *= 4  # so that no choice is close
    network.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "fields"), [("gemma3_text", WINDOWS), ("qwen3_next", STATES)])
def test_batches_change_nothing(tiny_model, tmp_path, architecture, fields):
    attention = {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128}
    path = make(tmp_path / "model", tiny_model, architecture, **attention, **fields)
    model = load_model(Checkpoint(path))
    texts = prompts(8)
    for text, outcome in zip(texts, complete(jobs(texts), path), strict=True):
        assert outcome.text == model.tokenizer.decode(generate(model, text, 20)[0])
    alone = [outcome.text for outcome in complete(jobs(texts, CONSTRAINED), path, max_batch=1)]
    assert [outcome.text for outcome in complete(jobs(texts, CONSTRAINED), path)] == alone
    for text, outcome in zip(texts, complete(jobs(texts, SCORE), path), strict=True):
        assert outcome.log_likelihood == pytest.approx(score_by_hand(model, text, outcome.text)[0], rel=1e-4)


def test_a_model_without_a_cache_of_keys_and_values_is_refused(tiny_model, tmp_path):
    path = make(tmp_path / "model", tiny_model, "mamba2", num_heads=8, head_dim=16, state_size=16, n_groups=1, expand=2)
    with pytest.raises(ProviderError, match="expected a model with a key-value cache") as raised:
        complete(jobs(prompts(1)), path)
    assert raised.value.fatal
