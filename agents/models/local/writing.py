"""Token-by-token generation: free, or constrained to legal moves."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch

from agents.models.local.checkpoint import LocalModel
from agents.models.local.draws import draw
from agents.models.local.jobs import GIVEN_UP, LENGTH, STOP, Job, Outcome
from agents.models.local.rows import Rows
from agents.models.local.trie import END, Node, follow


class _Writer(ABC):
    """A reply in progress.

    Attributes:
        written: the tokens of the reply, without its end.
        pending: tokens that the model has not read yet.
        finish_reason: why it has ended, or an empty string.
    """

    def __init__(self, job: Job, prompt: Sequence[int], room: int) -> None:
        self.job = job
        self.prompt = prompt
        self.limit = min(job.max_tokens, room)
        self.rng = job.generator()
        self.written: list[int] = []
        self.pending: list[int] = []
        self.finish_reason = ""

    @abstractmethod
    def text(self, model: LocalModel) -> str:
        """Returns the reply."""

    def settle(self, model: LocalModel) -> None:
        """Settles the job with the finished reply."""
        tokens = len(self.written) + (self.finish_reason == STOP)
        self.job.settle(Outcome(self.text(model), self.finish_reason, len(self.prompt), tokens))


class _FreeWriter(_Writer):
    """Any tokens, up to the end or the limit; control tokens are kept, because they mark reasoning channels."""

    def text(self, model: LocalModel) -> str:
        written: str = model.tokenizer.decode(self.written, skip_special_tokens=False)
        return written

    def take(self, token: int, ends: Sequence[int]) -> None:
        if token in ends:
            self.finish_reason = STOP
            return
        self.written.append(token)
        self.pending = [token]
        if len(self.written) >= self.limit:
            self.finish_reason = LENGTH


class _MoveWriter(_Writer):
    """One of the legal moves. Forced tokens need no forward pass; a single legal move needs none at all."""

    def __init__(self, job: Job, prompt: Sequence[int], room: int, root: Node) -> None:
        super().__init__(job, prompt, room)
        self._node = root
        self._follow()

    def text(self, model: LocalModel) -> str:
        return self.job.moves[self._node[END]]

    @property
    def choices(self) -> list[int]:
        """The possible next tokens; ``END`` for the end of a move."""
        return list(self._node)

    def take(self, scores: Sequence[float]) -> None:
        """Chooses by the logits of ``choices``."""
        choice = self.choices[draw(scores, self.job.temperature, self.rng)]
        if choice == END:
            self.finish_reason = STOP
            return
        self.written.append(choice)
        self.pending = [choice]
        self._node = self._node[choice]
        self._follow()

    def _follow(self) -> None:
        tokens, self._node = follow(self._node)
        self.written += tokens
        self.pending = [*self.pending, *tokens]
        if len(self._node) == 1:
            self.finish_reason = STOP


def write(model: LocalModel, jobs: Sequence[Job], prompts: Sequence[Sequence[int]]) -> None:
    """Writes a reply for each job in parallel; each job is settled as soon as its reply is finished.

    Args:
        model: the model.
        jobs: jobs of mode ``generate`` or ``constrained``.
        prompts: the prompt tokens of each job; each leaves room for at least one token.
    """
    writers = [_begin(model, job, prompt) for job, prompt in zip(jobs, prompts, strict=True)]
    live = _settle_those_over(model, writers)
    if not live:
        return
    rows = Rows(model, [[*writer.prompt, *writer.pending] for writer in live])
    for writer in live:
        writer.pending = []
    while True:
        _choose(model, rows.logits, live)
        still = _settle_those_over(model, live)
        if not still:
            return
        if len(still) < len(live):
            rows.keep([index for index, writer in enumerate(live) if not writer.finish_reason])
            live = still
        width = min(len(writer.pending) for writer in live)
        rows.read([writer.pending[:width] for writer in live])
        for writer in live:
            writer.pending = writer.pending[width:]


def _begin(model: LocalModel, job: Job, prompt: Sequence[int]) -> _FreeWriter | _MoveWriter:
    room = job.max_tokens if model.room is None else model.room - len(prompt)
    if job.moves:
        return _MoveWriter(job, prompt, room, model.trie(job.moves))
    return _FreeWriter(job, prompt, room)


def _settle_those_over(
    model: LocalModel, writers: Sequence[_FreeWriter | _MoveWriter]
) -> list[_FreeWriter | _MoveWriter]:
    """Settles finished jobs, and returns the others."""
    now = time.monotonic()
    for writer in writers:
        if writer.finish_reason:
            writer.settle(model)
        elif writer.job.gives_up(now):
            writer.finish_reason = GIVEN_UP
    return [writer for writer in writers if not writer.finish_reason]


def _choose(model: LocalModel, logits: Any, writers: Sequence[_FreeWriter | _MoveWriter]) -> None:
    """Chooses the next token of every writer without pending tokens."""
    free: list[tuple[int, _FreeWriter]] = []
    bound: list[tuple[int, _MoveWriter]] = []
    for row, writer in enumerate(writers):
        if writer.pending:
            continue
        if isinstance(writer, _MoveWriter):
            bound.append((row, writer))
        else:
            free.append((row, writer))
    if free:
        for (_, writer), token in zip(free, _draw_tokens(logits, free), strict=True):
            writer.take(token, model.ends)
    if bound:
        for (_, mover), scores in zip(bound, _score_choices(model, logits, bound), strict=True):
            mover.take(scores)


def _draw_tokens(logits: Any, writers: Sequence[tuple[int, _FreeWriter]]) -> list[int]:
    """Returns a token for each row: the likeliest, or one drawn with the row's own generator."""
    tokens: list[int] = logits.argmax(dim=-1)[[row for row, _ in writers]].tolist()
    warm = [index for index, (_, writer) in enumerate(writers) if writer.job.temperature > 0]
    if not warm:
        return tokens
    exact = torch.float32 if logits.device.type == "mps" else torch.float64
    temperatures = torch.tensor(
        [writers[index][1].job.temperature for index in warm], dtype=exact, device=logits.device
    )
    uniform = torch.tensor([writers[index][1].rng.random() for index in warm], dtype=exact, device=logits.device)
    scaled = logits[[writers[index][0] for index in warm]].to(exact) / temperatures[:, None]
    cumulative = scaled.softmax(dim=-1).cumsum(dim=-1)
    drawn = torch.searchsorted(cumulative, (uniform * cumulative[:, -1])[:, None], right=True)
    for index, token in zip(warm, drawn[:, 0].clamp(max=logits.shape[1] - 1).tolist(), strict=True):
        tokens[index] = token
    return tokens


def _score_choices(model: LocalModel, logits: Any, writers: Sequence[tuple[int, _MoveWriter]]) -> list[list[float]]:
    """Returns the logits of each row's choices; ``END`` has the combined logit of all end tokens."""
    choices = [writer.choices for _, writer in writers]
    rows = [row for (row, _), tokens in zip(writers, choices, strict=True) for _ in tokens]
    columns = [token if token != END else model.ends[0] for tokens in choices for token in tokens]
    values = iter(logits[rows, columns].tolist())
    ends = logits[:, list(model.ends)].logsumexp(dim=-1).tolist()
    return [
        [value if token != END else ends[row] for token, value in zip(tokens, values, strict=False)]
        for (row, _), tokens in zip(writers, choices, strict=True)
    ]
