"""Replies a second of a local model that many games share, beside a bare batched ``generate`` of the same model.

    python -m benchmarks.performance.local_models --model DIRECTORY
    python -m benchmarks.performance.local_models --smoke --model DIRECTORY

Both contestants take turns in this process. Ours plays whole matches of connect four, the model at temperature 0 against random
play: the game's texts, the queue, the tokens, the replies read back, all of it counts. The bare one has what the model read in
those matches lying ready as messages, and does no more than the chat template, the tokenizer, ``generate`` and the decoding, in
full batches of the same size; it plays no game and waits for nobody. Both write with the same limit of tokens, and one thread.
"""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from agents.baselines.general import Random
from agents.models.local.checkpoint import Checkpoint, LocalModel, load_model
from agents.models.local.policy import HFPolicy
from agents.models.prompts.history import Message
from agents.models.service import ModelService
from agents.play import play_async
from agents.player import seat_players
from benchmarks.options import option, parse
from llmarena_envs import connect_four_v0


@dataclass(frozen=True)
class Options:
    """Options of the benchmark."""

    model: str = option("", "directory of a model, e.g. of tests/support/tiny_model.py")
    games: int = option(64, "games in flight", smoke=2)
    matches: int = option(128, "matches of a round", smoke=2)
    rounds: int = option(5, "rounds, of which the median counts", smoke=1)
    max_batch: int = option(32, "replies in one forward pass")
    max_tokens: int = option(16, "greatest length of a reply")
    mode: str = option("generate", "mode of our policy: generate, constrained or score")
    device: str = option("cpu", "where the model is computed")
    json: str = option("", "file to write the result to, as JSON")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


@dataclass(frozen=True)
class Result:
    """Replies a second, medians over the rounds.

    Attributes:
        ours: of the matches.
        bare: of ``generate``.
        ratio: median of the ratios of the rounds.
        replies: of a round.
        passes: forward passes of ours a round.
    """

    ours: float
    bare: float
    ratio: float
    replies: int
    passes: int


class _Seat(HFPolicy):
    """The policy, which notes what its model reads."""

    asked: list[list[Message]]

    async def __call__(self, observation: Any) -> Any:
        told = {"system": observation["rules"], "user": observation["text"]}
        self.asked.append([{"role": role, "content": text} for role, text in told.items()])
        return await super().__call__(observation)


def measure(options: Options) -> Result:
    """Lets both contestants take turns."""
    checkpoint = Checkpoint(options.model, options.device)
    model = load_model(checkpoint)
    rounds = []
    for number in range(options.rounds + 1):
        asked: list[list[Message]] = []
        start, passes = time.perf_counter(), model.passes
        asyncio.run(_play(options, number, asked))
        ours = len(asked) / (time.perf_counter() - start)
        passes = model.passes - passes
        start = time.perf_counter()
        for first in range(0, len(asked), options.max_batch):
            _generate(model, asked[first : first + options.max_batch], options.max_tokens)
        bare = len(asked) / (time.perf_counter() - start)
        rounds.append((ours, bare, len(asked), passes))
    rounds = rounds[1:]  # the first one warms up
    return Result(
        median(ours for ours, _, _, _ in rounds),
        median(bare for _, bare, _, _ in rounds),
        median(ours / bare for ours, bare, _, _ in rounds),
        rounds[0][2],
        rounds[0][3],
    )


async def _play(options: Options, number: int, asked: list[list[Message]]) -> None:
    """Plays the matches of a round, so many at once."""
    service = ModelService()
    slots = asyncio.Semaphore(options.games)

    async def match(seed: int) -> None:
        async with slots:
            seat = _Seat(
                options.model,
                mode=options.mode,
                device=options.device,
                max_tokens=options.max_tokens,
                max_batch=options.max_batch,
                service=service,
            )
            seat.asked = asked
            await play_async(connect_four_v0.env(), seat_players({"player_0": seat, "player_1": Random()}), seed)

    await asyncio.gather(*[match(number * options.matches + index) for index in range(options.matches)])
    await service.close()


def _generate(model: LocalModel, conversations: Sequence[Sequence[Message]], max_tokens: int) -> list[str]:
    """Returns the replies of one batch, as somebody would write it who has nothing but transformers."""
    import torch

    tokenizer = model.tokenizer
    prompts = [
        tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        for messages in conversations
    ]
    batch = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False)
    batch = batch.to(model.device)
    with torch.inference_mode():
        written = model.network.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            do_sample=False,
            max_new_tokens=max_tokens,
        )
    replies: list[str] = tokenizer.batch_decode(written[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
    return replies


def main(options: Options) -> Result:
    """Measures and prints the table."""
    import torch

    torch.set_num_threads(1)
    result = measure(options)
    print(
        f"{options.mode}, {options.games} games in flight, batches of {options.max_batch}, {result.replies} replies a round\n"
        f"ours {result.ours:.0f} replies a second in {result.passes} forward passes a round, bare generate {result.bare:.0f},"
        f" ratio {result.ratio:.2f}"
    )
    if options.json:
        Path(options.json).write_text(json.dumps([{**asdict(options), **asdict(result)}], indent=2), encoding="utf-8")
    return result


if __name__ == "__main__":
    main(parse(Options, __doc__))
