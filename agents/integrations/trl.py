"""Matches as rollouts of TRL's ``GRPOTrainer``: each completion is one learner's side of a whole match.

    trainer = GRPOTrainer(
        model="Qwen/Qwen3-0.6B",
        train_dataset=dataset(deals("tictactoe_v0", range(1000), "random")),
        rollout_func=Rollouts(),
        reward_funcs=match_reward,
        args=GRPOConfig(max_completion_length=2048),
    )

The prompts of the data set are deals, not texts: the model reads the text of the match. The trainer repeats each of them
``num_generations`` times, so a group of completions shares a deal and a seat (Shao et al., arXiv 2402.03300). The model's replies
keep their sampled tokens, and only these are trained on (``env_mask``); text of the environment is between them.

In self-play the rows of a deal's seats share matches, if one batch has them: set ``shuffle_dataset=False``.
"""

import asyncio
import copy
import json
import math
import warnings
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

from agents.errors import ProviderError
from agents.integrations import importing
from agents.models.local.chat import ChatFormat
from agents.models.prompts.conversation import add_rules
from agents.policy import Reply
from agents.training import Deal, Match, Question
from agents.turn import STANDARD_TURNS, TurnSettings
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError, check_choice, check_int

with importing("trl"):
    import datasets
    import torch
    from accelerate.utils import gather_object
    from trl.distributed import DistributedBackend
    from trl.models import unwrap_model_for_generation

_MARK = "9f86d081"


def dataset(deals: Iterable[Deal]) -> datasets.Dataset:
    """Returns the data set of some deals: one row per learner, with deal and learner in ``prompt``."""
    return datasets.Dataset.from_list(
        [{"prompt": _write_prompt(deal, learner)} for deal in deals for learner in deal.learners]
    )


class RowKey(NamedTuple):
    """Keys of the rows that a row is compared with.

    Attributes:
        group: id of the deal, the same for all its seats and matches; see ``Deal.group``.
        baseline: game and seat; see ``Deal.baseline``.
    """

    group: str
    baseline: str


def row_key(prompt: str, *, trusted: bool = False) -> RowKey:
    """Returns the keys of a row of ``dataset``. The trainer subtracts the mean reward of the rows with equal keys.

    Args:
        prompt: the ``prompt`` of the row.
        trusted: as for ``Deal.from_json``.

    Raises:
        OptionError: if the prompt is not from ``dataset``.
    """
    deal, learner = _read_prompt(prompt, trusted)
    return RowKey(deal.group, deal.baseline(learner))


def match_reward(
    prompts: Sequence[str],
    reward: Sequence[float | None],
    match: Sequence[Match],
    learner: Sequence[str],
    log_metric: Any = None,
    **others: Any,
) -> list[float | None]:
    """Returns each learner's match reward, as the ``reward_funcs`` for ``Rollouts``.

    Matches without a result and void ones have ``None``, which the trainer ignores. Logs the shares of valid replies and of void
    matches. Custom reward functions also get the arguments ``match``, ``learner`` and ``reward``.
    """
    if log_metric is not None:
        steps = [step for one, agent in zip(match, learner, strict=True) for step in one.steps if step.agent == agent]
        if steps:
            log_metric("match/ok_replies", sum(step.kind is Failure.OK for step in steps) / len(steps))
        log_metric("match/void", sum(one.episode is None for one in match) / len(match))
    return list(reward)


class Rollouts:
    """The ``rollout_func`` of a ``GRPOTrainer``: plays the matches of a batch of prompts, all of them in parallel.

    In each round one call of ``generate``, or of vLLM with ``use_vllm``, gives the replies of all matches that ask a learner. In
    self-play the model speaks for all learners. The rows of different seats of a deal share a match; a row without its
    counterpart in the batch has a match of its own, and only its seat is trained on.

    With vLLM the trainer loads its weights into the engine before the rollout. Where processes share a model or an engine (FSDP,
    ZeRO 3, a vLLM server, tensor parallelism), they play in the same number of rounds, with batches of equal size.

    A reply ends at an end-of-turn token, after ``max_reply_tokens``, or at the maximum length of the completion
    (``max_completion_length``) or the model's context. A truncated reply is ``Failure.TRUNCATED``: it counts if it holds a legal
    move. A learner with a full conversation is not asked again: its further replies are empty and truncated, the match continues
    with the fallbacks of ``settings``, and its completion ends with its last reply.

    An opponent's ``ProviderError`` makes a match void: it has no reward, and the others continue. A fatal one ends the training.

    Args:
        settings: invalid-reply policy.
        history: ``updates`` or ``full``, see ``agents.chat.Chat``: append-only conversations, since a completion is one sequence.
        max_reply_tokens: maximum number of tokens of a reply. Scores of the whole vocabulary are kept in memory for each of them.
        trusted: whether prompts can name any environment and policy, see ``Deal.from_json``.

    Raises:
        OptionError: if there is no such history, or the number of tokens is invalid.
    """

    def __init__(
        self,
        *,
        settings: TurnSettings = STANDARD_TURNS,
        history: str = "updates",
        max_reply_tokens: int = 256,
        trusted: bool = False,
    ) -> None:
        check_choice("history", history, ("updates", "full"))
        check_int("max_reply_tokens", max_reply_tokens, 1, 10**6)
        self._settings = settings
        self._history = history
        self._max_reply_tokens = max_reply_tokens
        self._trusted = trusted

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, list[Any]]:
        """Plays the matches of a batch.

        Returns:
            For each prompt ``prompt_ids`` (text before the learner's first reply), ``completion_ids``, ``logprobs`` and
            ``env_mask`` (1 for the model's tokens of the completion), and for reward functions ``match``, ``learner``,
            ``opponents`` (names by agent id, drawn from a pool if the deal names one) and ``reward``.

        Raises:
            OptionError: if a prompt is not from ``dataset``.
            ValueError: if a learner must answer without the earlier conversation, or the chat template omits replies; there is no
                single sequence then.
            ProviderError: if an opponent fails fatally.
        """
        rows = [_read_prompt(prompt, self._trusted) for prompt in prompts]
        writer = _Writer(trainer, self._max_reply_tokens)
        seen: Counter[tuple[str, str]] = Counter()
        played: dict[tuple[str, int], _Seats] = {}
        seats = []
        for deal, learner in rows:
            number = seen[deal.group, learner]
            seen[deal.group, learner] += 1
            if (deal.group, number) not in played:
                drawn = replace(deal, opponents=deal.drawn_opponents())
                match = drawn.match(settings=self._settings, history=self._history)
                played[deal.group, number] = _Seats(match, drawn.opponents, writer)
            seats.append(played[deal.group, number])
        if trainer.model.training and sum(len(one.match.learners) for one in played.values()) > len(rows):
            warnings.warn(
                "self-play: expected the rows of all seats of a deal in one batch, got some without their counterparts, whose"
                " matches train one seat only: set shuffle_dataset=False, and a batch of a multiple of seats x num_generations",
                stacklevel=2,
            )
        _run(_play(list(played.values()), writer))
        sides = [one.side(learner) for one, (_, learner) in zip(seats, rows, strict=True)]
        return {
            "prompt_ids": [side.prompt for side in sides],
            "completion_ids": [side.said for side in sides],
            "logprobs": [side.logprobs for side in sides],
            "env_mask": [side.mask for side in sides],
            "match": [one.match for one in seats],
            "learner": [learner for _, learner in rows],
            "opponents": [dict(one.opponents) for one in seats],
            "reward": [one.reward(learner) for one, (_, learner) in zip(seats, rows, strict=True)],
        }


class _Said(NamedTuple):
    """A reply as generated."""

    ids: list[int]
    logprobs: list[float]
    is_cut: bool


class _Writer:
    """The trainer's model as generator of replies, with its tokenizer."""

    def __init__(self, trainer: Any, max_reply_tokens: int) -> None:
        self._trainer = trainer
        processor = trainer.processing_class
        self._tokenizer = getattr(processor, "tokenizer", processor)
        self._format = ChatFormat(self._tokenizer, trainer.chat_template_kwargs)
        self._takes_system = self._format.knows_role("system")
        self._ends = set(trainer.eos_token_ids)
        self._max_reply_tokens = max_reply_tokens
        self._backend = DistributedBackend(trainer.accelerator)
        self._is_sharded = self._backend.is_fsdp or self._backend.is_zero3
        self._engine = trainer.vllm_generation if trainer.use_vllm else None
        engine = self._engine
        shares_engine = engine is not None and (engine.mode == "server" or engine.tensor_parallel_size > 1)
        self._is_collective = trainer.accelerator.num_processes > 1 and (self._is_sharded or shares_engine)
        self.end: int = self._tokenizer.eos_token_id
        self.max_completion: int = trainer.max_completion_length
        if engine is not None and engine.mode == "colocate":
            self.max_context: int = engine.llm.llm_engine.model_config.max_model_len
        else:
            config = trainer.accelerator.unwrap_model(trainer.model).config.get_text_config()
            self.max_context = getattr(config, "max_position_embeddings", None) or 10**9

    def begin(self, question: Question) -> list[int]:
        """Returns the tokens of the beginning of a conversation."""
        rules, *others = question.messages
        messages = add_rules(rules["content"], others, "system" if self._takes_system else "user")
        return self._encode(self._format.write(messages))

    def go_on(self, question: Question, last: int) -> list[int]:
        """Returns the tokens between a reply, ending with token ``last``, and the next one.

        They are tokenised from the text that the template writes after any reply, so replies are never tokenised again.
        """
        before = [{"role": "user", "content": "?"}, {"role": "assistant", "content": _MARK}]
        _, reply, behind = self._format.write([*before, *question.new]).partition(_MARK)
        if not reply:
            raise ValueError(
                "the chat template leaves out or alters replies of the assistant that are followed by other messages:"
                " such a conversation is no sequence of tokens that grows; give the tokenizer another chat_template"
            )
        ids = self._encode(behind)
        return ids[1:] if last in self._ends and ids[:1] == [last] else ids

    def read(self, ids: Sequence[int]) -> str:
        """Returns the text of a reply."""
        return self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def gather(self, fact: Any) -> list[Any]:
        """Returns a fact of each process that shares the model or the engine."""
        return list(gather_object([fact])) if self._is_collective else [fact]

    def write(self, sides: Sequence["_Side"]) -> list[_Said]:
        """Generates a reply for every side, each within its own limit."""
        limits = [min(self._max_reply_tokens, side.room) for side in sides]
        sizes: Counter[int] = Counter()
        for counts in self.gather(Counter(limits)):
            sizes |= counts  # the largest of the processes
        replies: dict[int, _Said] = {}
        for limit, size in sorted(sizes.items()):  # usually one, except for nearly full conversations
            chosen = [index for index, own in enumerate(limits) if own == limit]
            sequences = [sides[index].sequence for index in chosen]
            fill = [[self.end]] * (size - len(chosen))  # calls of all processes must have the same size
            said = self._generate(sequences + fill, limit)
            replies.update(zip(chosen, said[: len(chosen)], strict=True))
        return [replies[index] for index in range(len(sides))]

    def _generate(self, sequences: Sequence[list[int]], limit: int) -> list[_Said]:
        if self._engine is None:
            ids, logprobs = self._generate_by_model(sequences, limit)
        else:
            ids, logprobs = self._generate_by_engine(self._engine, sequences, limit)
        return [self._end(*row, limit) for row in zip(ids, logprobs, strict=True)]

    def _generate_by_engine(
        self, engine: Any, sequences: Sequence[list[int]], limit: int
    ) -> tuple[list[list[int]], list[list[float]]]:
        """Asks TRL's vLLM engine for one reply to each sequence."""
        usual = engine.max_completion_length
        engine.max_completion_length = limit
        try:
            _, ids, logprobs, _ = engine.generate(prompts=list(sequences), images=None, num_generations=1)
        finally:
            engine.max_completion_length = usual
        if len(ids) != len(sequences) or logprobs is None:
            raise ValueError(
                f"vLLM: expected one reply with log probabilities for each of {len(sequences)} prompts, got {len(ids)}:"
                " remove n and logprobs from generation_kwargs"
            )
        return [list(row) for row in ids], [[_number(token[0]) for token in row] for row in logprobs]

    def _generate_by_model(
        self, sequences: Sequence[list[int]], limit: int
    ) -> tuple[list[list[int]], list[list[float]]]:
        """Generates with the model in training."""
        trainer = self._trainer
        width = max(map(len, sequences))
        device = trainer.accelerator.device
        padded = [[self._tokenizer.pad_token_id] * (width - len(ids)) + ids for ids in sequences]
        shown = [[0] * (width - len(ids)) + [1] * len(ids) for ids in sequences]
        config = copy.deepcopy(trainer.generation_config)
        config.max_new_tokens = limit
        config.return_dict_in_generate = config.output_scores = True
        together = {"synced_gpus": True} if self._is_collective else {}
        with (
            unwrap_model_for_generation(
                trainer.model_wrapped,
                trainer.accelerator,
                gather_deepspeed3_params=trainer.args.ds3_gather_for_generation,
                generation_kwargs=trainer.generation_kwargs,
                gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
            ) as model,
            torch.no_grad(),
            self._backend.summon_full_params(trainer.model_wrapped, recurse=False),
        ):
            out = model.generate(
                input_ids=torch.tensor(padded, device=device),
                attention_mask=torch.tensor(shown, device=device),
                generation_config=config,
                **together,
            )
            logprobs = model.compute_transition_scores(out.sequences, out.scores, normalize_logits=True)
        return out.sequences[:, width:].tolist(), logprobs.tolist()

    def _end(self, ids: list[int], logprobs: list[float], limit: int) -> _Said:
        """Returns a row of the batch up to its first end-of-turn token."""
        end = next((index + 1 for index, token in enumerate(ids[:limit]) if token in self._ends), 0)
        length = end or min(len(ids), limit)
        return _Said(ids[:length], logprobs[:length], is_cut=not end)

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


class _Side:
    """A learner's side of a match as one append-only sequence of tokens.

    Attributes:
        prompt: tokens before the first reply.
        said: later tokens, up to the end of the last reply.
        mask: 1 for the model's tokens in ``said``.
        logprobs: of the model's tokens under the sampling distribution; 0 for others.
    """

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer
        self._is_full = False
        self.prompt: list[int] = []
        self.said: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] = []

    @property
    def sequence(self) -> list[int]:
        """All tokens."""
        return self.prompt + self.said

    @property
    def room(self) -> int:
        """Number of tokens that can be added."""
        writer = self._writer
        left = min(writer.max_completion, writer.max_context - len(self.prompt)) - len(self.said)
        return 0 if self._is_full else max(0, left)

    def hear(self, question: Question) -> None:
        """Adds the question, if there is room for it and a reply."""
        if self._is_full:
            return
        if not self.prompt:
            self.prompt = self._writer.begin(question)
            self._is_full = not self.room
            return
        if not question.continues:
            raise ValueError(
                f"{question.agent} is to answer without what was said before, which is no part of one sequence of tokens:"
                " give its seat to an opponent"
            )
        told = self._writer.go_on(question, self.said[-1])
        if len(told) >= self.room:
            self._is_full = True
            return
        self._add(told, [0.0] * len(told), 0)

    def say(self, reply: _Said) -> Reply:
        """Adds a reply of the model and returns it in the format of the match."""
        self._add(reply.ids, reply.logprobs, 1)
        return Reply(self._writer.read(reply.ids), Failure.TRUNCATED if reply.is_cut else Failure.OK)

    def finish(self) -> None:
        """Adds a masked token to an empty prompt or completion, because the trainer requires at least one."""
        self.prompt = self.prompt or [self._writer.end]
        if not self.said:
            self._add([self._writer.end], [0.0], 0)

    def _add(self, ids: Sequence[int], logprobs: Sequence[float], said: int) -> None:
        self.said += ids
        self.logprobs += logprobs
        self.mask += [said] * len(ids)


class _Seats:
    """A match with its learners' sides, and the names of its opponents."""

    def __init__(self, match: Match, opponents: Mapping[str, str], writer: _Writer) -> None:
        self.match = match
        self.opponents = opponents
        self._sides = {agent: _Side(writer) for agent in match.learners}

    def side(self, learner: str) -> _Side:
        """Returns a learner's side of a finished match."""
        side = self._sides[learner]
        side.finish()
        return side

    def hear(self, question: Question) -> _Side:
        """Adds the question to the learner's side, and returns the side."""
        side = self._sides[question.agent]
        side.hear(question)
        return side

    def reward(self, learner: str) -> float | None:
        """Returns a learner's reward, or ``None`` if the match is void or has no result."""
        episode = self.match.episode
        return None if episode is None or episode.undecided else self.match.reward(learner)


async def _play(seats: Sequence[_Seats], writer: _Writer) -> None:
    """Plays matches to their ends, with batched replies."""
    try:
        asked = await _next([(one, one.match.start()) for one in seats])
        while any(writer.gather(bool(asked))):
            sides = [one.hear(question) for one, question in asked]
            replies = iter(writer.write([side for side in sides if side.room]))
            answers = [side.say(next(replies)) if side.room else Reply("", Failure.TRUNCATED) for side in sides]
            asked = await _next([(one, one.match.reply(said)) for (one, _), said in zip(asked, answers, strict=True)])
    finally:
        for one in seats:
            await one.match.close()


def _number(logprob: float | None) -> float:
    """Returns a log probability; NaN, which the trainer ignores, where vLLM has none."""
    return math.nan if logprob is None else logprob


async def _next(
    going: Sequence[tuple[_Seats, Coroutine[Any, Any, Question | None]]],
) -> list[tuple[_Seats, Question]]:
    """Waits for the next question of each match; skips matches that are over or void."""
    results = await asyncio.gather(*[waiting for _, waiting in going], return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and (not isinstance(result, ProviderError) or result.fatal):
            raise result
    return [(one, result) for (one, _), result in zip(going, results, strict=True) if isinstance(result, Question)]


def _run(waiting: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine to its end, in a separate thread if an event loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(waiting)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, waiting).result()


def _write_prompt(deal: Deal, learner: str) -> str:
    return json.dumps({"deal": deal.to_json(), "learner": learner})


def _read_prompt(prompt: Any, trusted: bool) -> tuple[Deal, str]:
    try:
        row = json.loads(prompt)
        text, learner = row["deal"], row["learner"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise OptionError(f"prompt: expected a row of agents.integrations.trl.dataset, got {prompt!r:.200}") from None
    deal = Deal.from_json(text, trusted=trusted)
    check_choice("prompt: learner", learner, deal.learners)
    return deal, learner
