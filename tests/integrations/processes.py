"""Plays matches of different lengths in one of several processes that share a model or an engine; see ``test_trl``.

Arguments: ``server`` or ``fsdp``, the directory of a tiny model, a folder. Prints one line of JSON.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.distributed.fsdp import fully_shard
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

from agents.integrations.trl import Rollouts, dataset, match_reward
from agents.training import Deal
from tests.integrations.engines import install

mode, path, out = sys.argv[1:]
torch.set_num_threads(1)
torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained(path)
model = AutoModelForCausalLM.from_pretrained(path)
patch = pytest.MonkeyPatch()
engine = install(patch, model)
# A short match and a long one: two replies, and up to nine.
deals = [Deal("bid_v0", 1), Deal("tictactoe_v0", 1)]
trainer = GRPOTrainer(
    model=model,
    reward_funcs=match_reward,
    args=GRPOConfig(
        output_dir=out,
        use_cpu=True,
        bf16=False,
        report_to=[],
        max_steps=2,
        num_generations=2,
        per_device_train_batch_size=4,
        max_completion_length=600,
        shuffle_dataset=False,
        learning_rate=1e-2,
        save_strategy="no",
        gradient_checkpointing=False,
        use_vllm=mode == "server",
        vllm_mode="server",
    ),
    train_dataset=dataset(deals),
    processing_class=tokenizer,
    rollout_func=Rollouts(max_reply_tokens=6),
)
accelerator = trainer.accelerator
rank = accelerator.process_index
if mode == "fsdp":
    fully_shard(model)
    accelerator.state.fsdp_plugin = SimpleNamespace(fsdp_version=2)
    result = Rollouts(max_reply_tokens=6)(list(dataset(deals[rank : rank + 1])["prompt"]), trainer)
    lengths = sorted({len(match.steps) for match in result["match"]})
else:
    trainer.train()
    lengths = []
Path(out, f"{rank}.json").write_text(
    json.dumps({"lengths": lengths, "calls": engine.calls, "stale": engine.stale, "steps": trainer.state.global_step})
)
