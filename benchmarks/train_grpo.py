"""Trains a tiny language model by GRPO to earn more in auctions with a scripted bidder, on one core of a CPU.

    python -m benchmarks.train_grpo
    python -m benchmarks.train_grpo --seed 1 --json result.json --picture curve

The model (144,000 weights, made on the spot with its own tokenizer) reads and writes the texts of the sealed-bid auction.

1. Warm start: it imitates bidders with random bids below their valuation, to learn the form of a reply.
2. GRPO (Shao et al., arXiv 2402.03300), by TRL's ``GRPOTrainer`` with the rollouts of ``agents.integrations.trl``: a group is
   several matches of one deal; the reward is the match's reward, minus 1 for a reply that does not end. An illegal bid
   forfeits the match.
3. Before and after, it plays the same held-out deals on both seats by ``agents.play``.

Needs ``pip install 'llmarena-envs[trl]'``.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from agents.chat import Chat, Message
from agents.integrations.trl import Rollouts, dataset, match_reward
from agents.play import play
from agents.policy import Policy
from agents.registry import make_policy
from agents.training import Deal, Match, deals
from agents.turn import TurnSettings
from benchmarks.experiments.proportions import paired_change
from benchmarks.options import option, parse
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.failures import Failure
from rating.cli.flags import check_extra
from rating.stats.estimates import Estimate, mean_estimate, rate_estimate

GAME = "bid_v0"
SETTINGS = TurnSettings(reasks=0, unparsable="forfeit", illegal="forfeit")
"""One reply per turn: an illegal move loses the match, which gives the model something to learn."""

END = "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MAX_REPLY = 12
"""Tokens; a bid has six."""

IGNORED = -100
"""Label of tokens that the loss ignores."""

MEAN_OF = 15
"""Steps of a running mean in the figure."""


@dataclass(frozen=True)
class Options:
    """Options of the training."""

    seed: int = option(0, "seed of everything")
    opponent: str = option("equilibrium", "the scripted opponent")
    imitated: int = option(1000, "matches of random bidders to imitate", smoke=12)
    passes: int = option(3, "passes over these matches", smoke=1)
    steps: int = option(150, "steps of GRPO", smoke=2)
    groups: int = option(8, "deals in a step", smoke=2)
    group: int = option(8, "matches of a deal", smoke=2)
    learning_rate: float = option(5e-4, "learning rate of GRPO")
    evaluated: int = option(200, "deals to play before and after, on each seat", smoke=2)
    hidden: int = option(64, "width of the model", smoke=32)
    layers: int = option(2, "layers of the model", smoke=1)
    json: str = option("", "file to write the result to, as JSON")
    picture: str = option("", "file to draw the curve in, as PNG and SVG, without their endings")
    smoke: bool = option(False, "the smallest size, which only shows that everything runs")


def random_play(seeds: Sequence[int], rng: np.random.Generator) -> Iterator[list[Message]]:
    """Yields the conversation of every seat of matches with random legal bids."""
    for deal in deals(GAME, seeds, None):
        match = deal.match(settings=SETTINGS)
        question = match.start_sync()
        while question is not None:
            bid = match.env.unwrapped.random_action(question.agent, rng)
            question = match.reply_sync(match.env.unwrapped.format(bid, question.agent))
        last = {step.agent: step for step in match.steps}
        for step in last.values():
            yield [*step.question.messages, {"role": "assistant", "content": step.reply}]


def make_tokenizer(conversations: Sequence[Sequence[Message]]) -> PreTrainedTokenizerFast:
    """Returns a tokenizer for the texts of the game: whole phrases, dollar amounts and each digit of the cents are tokens."""
    pieces = pre_tokenizers.Split(Regex(r"player_\d|\$\d+\.|\d|\n"), "isolated")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pieces, pre_tokenizers.ByteLevel(False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<pad>", "<|im_start|>", END]
    trainer = trainers.BpeTrainer(
        vocab_size=1200, show_progress=False, special_tokens=special, initial_alphabet=alphabet
    )
    tokenizer.train_from_iterator([message["content"] for chat in conversations for message in chat], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token=END, chat_template=TEMPLATE, padding_side="left"
    )


def make_model(tokenizer: PreTrainedTokenizerFast, options: Options) -> LlamaForCausalLM:
    """Returns a model with random weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=options.hidden,
        intermediate_size=2 * options.hidden,
        num_hidden_layers=options.layers,
        num_attention_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config)


def imitate(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    conversations: Sequence[Sequence[Message]],
    options: Options,
    rng: random.Random,
) -> list[float]:
    """Trains the model on whole conversations, with a higher weight on replies than on prompts, and returns the losses."""
    rows = [_labelled(tokenizer, chat) for chat in conversations]
    batches = [batch for _ in range(options.passes) for batch in _batches(rows, 8, rng)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=len(batches))
    losses = []
    for batch in batches:
        ids, whole, said = (
            pad_sequence(side, batch_first=True, padding_value=IGNORED) for side in zip(*batch, strict=True)
        )
        logits = model(input_ids=ids.clamp(min=0), attention_mask=(ids >= 0).long()).logits[:, :-1].flatten(0, 1)
        loss = cross_entropy(logits, whole[:, 1:].flatten()) + cross_entropy(logits, said[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def _labelled(tokenizer: PreTrainedTokenizerFast, chat: Sequence[Message]) -> tuple[torch.Tensor, ...]:
    """Returns the tokens of a conversation, and two sets of labels: all tokens, and those in the last message."""
    told = tokenizer(tokenizer.apply_chat_template(chat[:-1], tokenize=False, add_generation_prompt=True))["input_ids"]
    ids = torch.tensor(tokenizer(tokenizer.apply_chat_template(chat, tokenize=False))["input_ids"])
    said = ids.clone()
    said[: len(told)] = IGNORED
    return ids, ids, said


def _batches(rows: list[Any], size: int, rng: random.Random) -> list[list[Any]]:
    order = rng.sample(rows, len(rows))
    return [order[start : start + size] for start in range(0, len(order), size)]


def cut_off(match: Sequence[Match], reward: Sequence[float | None], **given: Any) -> list[float | None]:
    """Returns a penalty of 1 for a reply without an end: the match reads the bid in it and does not penalise the length."""
    cut = [any(step.kind is Failure.TRUNCATED for step in one.steps) for one in match]
    return [None if own is None else -float(is_cut) for own, is_cut in zip(reward, cut, strict=True)]


class Speaker:
    """The model as a policy of the harness."""

    wants_update = True

    def __init__(self, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
        self._model = model
        self._tokenizer = tokenizer

    def reset(self, agent: str, seed: int) -> None:
        """Begins a match."""
        self._chat = Chat()
        torch.manual_seed(seed % 2**63)

    def __call__(self, observation: Mapping[str, Any]) -> str:
        """Returns the model's reply, sampled at temperature 1 as in training."""
        self._chat.hear(observation)
        text = self._tokenizer.apply_chat_template(self._chat.messages, tokenize=False, add_generation_prompt=True)
        read = self._tokenizer(text, return_tensors="pt", return_token_type_ids=False)
        out = self._model.generate(**read, do_sample=True, top_k=0, max_new_tokens=MAX_REPLY)
        reply: str = self._tokenizer.decode(out[0, read["input_ids"].shape[1] :], skip_special_tokens=True)
        self._chat.say(reply)
        return reply


class Played(NamedTuple):
    """Results of the learner, one entry per match.

    Attributes:
        seeds: of the deals; the two seats of a deal are one case.
        earned: its rewards; a forfeit counts -1.
        won: whether it won the item with a gain.
        legal: whether it made a legal bid.
    """

    seeds: list[int]
    earned: list[float]
    won: list[bool]
    legal: list[bool]


def evaluate(policy: Policy, chosen: Sequence[Deal]) -> Played:
    """Plays the learner's seat of each deal."""
    played = Played([], [], [], [])
    env = make_environment(GAME)
    for deal in chosen:
        (learner,) = deal.learners
        opponents = {agent: make_policy(spec, GAME) for agent, spec in deal.opponents.items()}
        episode = play(env, {learner: policy, **opponents}, deal.seed, SETTINGS)
        played.seeds.append(deal.seed)
        played.earned.append(episode.rewards[learner])
        played.won.append(episode.rewards[learner] > 0)
        played.legal.append(not episode.forfeit(learner))
    return played


def summary(played: Played) -> dict[str, list[float | None]]:
    """Returns the mean reward, the share of auctions won, and the share of legal bids, each with its 95 % interval."""
    won, legal = (rate_estimate(sum(hits), len(hits)) for hits in (played.won, played.legal))
    return {
        "earned": interval(mean_estimate(played.earned, played.seeds)),
        "won": interval(won),
        "legal": interval(legal),
    }


def changes(before: Played, after: Played) -> dict[str, list[float | None]]:
    """Returns the changes after training, paired by deal, with their intervals."""
    more = [new - old for old, new in zip(before.earned, after.earned, strict=True)]
    won, legal = paired_change(before.won, after.won), paired_change(before.legal, after.legal)
    return {"earned": interval(mean_estimate(more, before.seeds)), "won": interval(won), "legal": interval(legal)}


def interval(estimate: Estimate | None) -> list[float | None]:
    """Returns a value with the limits of its interval; ``None`` for missing limits if all matches are equal."""
    assert estimate is not None
    return [None if number is None else round(number, 4) for number in estimate[:3]]


def run(options: Options) -> dict[str, Any]:
    """Trains and plays.

    Returns:
        ``options``; ``weights``, the number of weights; ``imitation_loss``, the first and the last; ``before`` and ``after``,
        with results of ``random`` bids and of the ``opponent`` (see ``summary``); ``change`` (see ``changes``); ``steps`` of
        GRPO: mean reward and share of valid replies; ``seconds``.
    """
    torch.set_num_threads(1)  # for reproducible models
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    seconds, start = {}, time.perf_counter()

    def lap(name: str) -> None:
        nonlocal start
        seconds[name] = round(time.perf_counter() - start, 1)
        start = time.perf_counter()

    # Disjoint deals: seeds to imitate, to train on, and to play before and after.
    first = 10**7 * options.seed
    needed = (options.steps * options.groups + 1) // 2
    training = list(deals(GAME, range(first + 10**6, first + 10**6 + needed), options.opponent))
    held_out = list(deals(GAME, range(first + 2 * 10**6, first + 2 * 10**6 + options.evaluated), options.opponent))

    conversations = list(random_play(range(first, first + options.imitated), np.random.default_rng(options.seed)))
    tokenizer = make_tokenizer(conversations)
    model = make_model(tokenizer, options)
    losses = imitate(model, tokenizer, conversations, options, rng)
    lap("warm start")

    before = evaluate(Speaker(model.eval(), tokenizer), held_out)
    lap("playing before")

    with tempfile.TemporaryDirectory() as out:
        trainer = GRPOTrainer(
            model=model.train(),
            reward_funcs=[match_reward, cut_off],
            rollout_func=Rollouts(settings=SETTINGS, max_reply_tokens=MAX_REPLY),
            train_dataset=dataset(training),
            processing_class=tokenizer,
            args=GRPOConfig(
                output_dir=out,
                seed=options.seed,
                max_steps=options.steps,
                per_device_train_batch_size=options.groups * options.group,
                num_generations=options.group,
                max_completion_length=512,
                learning_rate=options.learning_rate,
                lr_scheduler_type="constant_with_warmup",
                warmup_steps=min(5, options.steps),
                gradient_checkpointing=False,
                bf16=False,
                use_cpu=True,
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
            ),
        )
        trainer.train()
    steps = [
        {"reward": round(entry["rewards/match_reward/mean"], 4), "legal": round(entry["match/ok_replies"], 4)}
        for entry in trainer.state.log_history
        if "reward" in entry
    ]
    lap("GRPO")

    after = evaluate(Speaker(model.eval(), tokenizer), held_out)
    lap("playing after")
    return {
        "options": asdict(options),
        "weights": model.num_parameters(),
        "imitation_loss": [round(losses[0], 3), round(losses[-1], 3)],
        "random": summary(evaluate(make_policy("random", GAME), held_out)),
        "opponent": summary(evaluate(make_policy(options.opponent, GAME), held_out)),
        "before": summary(before),
        "after": summary(after),
        "change": changes(before, after),
        "steps": steps,
        "seconds": seconds,
    }


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Draws the mean reward and the share of valid bids over the steps of GRPO, and their running means."""
    from benchmarks.experiments import pictures  # Matplotlib is needed for a picture only

    labels = {"reward": "mean reward of a match", "legal": "share of bids without fault"}
    with pictures.axes(columns=2) as (figure, fields):
        for field, (name, label) in zip(fields, labels.items(), strict=True):
            values = [step[name] for step in result["steps"]]
            field.plot(range(1, len(values) + 1), values, color=pictures.COLOURS[0], linewidth=1, alpha=0.3)
            means = [sum(values[end - MEAN_OF : end]) / MEAN_OF for end in range(MEAN_OF, len(values) + 1)]
            field.plot(range(MEAN_OF, len(values) + 1), means, color=pictures.COLOURS[0])
            field.set_ylabel(label)
            field.set_xlabel("step of GRPO")
        pictures.save(figure, path)


def main() -> None:
    """Trains, plays, prints the result, and writes the requested files."""
    options = parse(Options, __doc__)
    if options.picture:
        check_extra("--picture needs", "plots", "matplotlib")
    result = run(options)
    text = json.dumps(result)
    print(json.dumps({**result, "steps": f"{len(result['steps'])} steps"}, indent=2))
    if options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")
    if options.picture:
        draw(result, Path(options.picture))


if __name__ == "__main__":
    main()
