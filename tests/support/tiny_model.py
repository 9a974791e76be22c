"""A tiny chat model, made on the spot: no download, some seconds on one core, and kept for the next time.

It is trained on positions of the two board games, and answers with moves, some legal and some not.
Run as a script, this file makes the model in the directory it is given: training in a process of its own keeps torch, its
threads and its random state out of the tests.
"""

import fcntl
import hashlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from llmarena_envs import connect_four_v0, tictactoe_v0

MODULES = (tictactoe_v0, connect_four_v0)
EXAMPLES = 500
STEPS = 80
BATCH = 8
VOCABULARY = 600
SHOWN = 120
"""Characters of each message that the model sees, counted from its end: that keeps it fast."""

END = "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'][-" + str(SHOWN) + ":] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


ARCHITECTURES = ("llama", "qwen3")


def make_tiny_model(path: Path, architecture: str = "llama") -> Path:
    """Makes the model in the directory ``path``, which is created, and returns the directory."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    command = [sys.executable, __file__, str(path), architecture]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"the tiny model could not be made:\n{done.stderr[-3000:]}")
    return path


def cached_tiny_model(cache: Path, architecture: str = "llama") -> Path:
    """Returns the directory of the model inside ``cache``, and makes the model if it is not there yet.

    The cache depends on this source, the training texts, and the versions of the libraries. Several processes
    may ask at once: one makes the model, the others wait.
    """
    cache.mkdir(parents=True, exist_ok=True)
    model = cache / f"{architecture}-{_fingerprint()}"
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not model.exists():
            partial = cache / "partial"  # perhaps of a killed process
            shutil.rmtree(partial, ignore_errors=True)
            make_tiny_model(partial, architecture).rename(model)
    return model


def _fingerprint() -> str:
    libraries = {name: version(name) for name in ("torch", "transformers", "tokenizers", "safetensors")}
    ingredients = [Path(__file__).read_text(), _examples(), libraries, platform.machine(), sys.version]
    return hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:20]


def _examples() -> list[tuple[list[dict[str, str]], str]]:
    return [example for example, _ in zip(positions(0), range(EXAMPLES), strict=False)]


def positions(seed: int) -> Iterator[tuple[list[dict[str, str]], str]]:
    """Yields a player's texts in random play, as chat messages, and a random legal reply."""
    envs = [module.env() for module in MODULES]
    choose = random.Random(seed)
    while True:
        env = choose.choices(envs, weights=(3, 1))[0]  # games of tic-tac-toe are shorter
        env.reset(seed=choose.randrange(2**31))
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                break
            legal = [action for action, allowed in enumerate(observation["action_mask"]) if allowed]
            messages = [("system", observation["rules"]), ("user", observation["text"])]
            reply = env.unwrapped.format(choose.choice(legal), agent)
            yield [{"role": role, "content": content} for role, content in messages], reply
            env.step(choose.choice(legal))


def _train(path: Path, architecture: str) -> None:
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    torch.set_num_threads(1)
    examples = _examples()
    bpe = ByteLevelBPETokenizer()
    texts = [message["content"][-SHOWN:] for messages, _ in examples for message in messages]
    bpe.train_from_iterator(texts, VOCABULARY, show_progress=False, special_tokens=["<pad>", "<|im_start|>", END])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, pad_token="<pad>", eos_token=END, chat_template=TEMPLATE
    )
    model = AutoModelForCausalLM.from_config(
        AutoConfig.for_model(
            architecture,
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            head_dim=16,
            max_position_embeddings=8192,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    rows = []
    for messages, reply in examples:
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        read, said = tokenizer(prompt)["input_ids"], tokenizer(reply + END)["input_ids"]
        rows.append((read + said, [-100] * len(read) + said))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS)
    choose = random.Random(1)
    for _ in range(STEPS):
        batch = choose.sample(rows, BATCH)
        width = max(len(tokens) for tokens, _ in batch)
        inputs = torch.tensor([tokens + [0] * (width - len(tokens)) for tokens, _ in batch])
        labels = torch.tensor([wanted + [-100] * (width - len(wanted)) for _, wanted in batch])
        mask = torch.tensor([[1] * len(tokens) + [0] * (width - len(tokens)) for tokens, _ in batch])
        loss = model(input_ids=inputs, attention_mask=mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    model.generation_config.do_sample = True  # the server samples only if the model's configuration allows it
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)


if __name__ == "__main__":
    _train(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ARCHITECTURES[0])
