"""Batches of prompts in one forward pass."""

import copy
from collections.abc import Sequence
from typing import Any

import torch

from agents.models.local.checkpoint import LocalModel

SHORTEST_SHARED = 16
"""Shortest common prefix, in tokens, that justifies its own forward pass."""


class Rows:
    """Sequences of different lengths in one key-value cache, padded on the left.

    Their common prefix, usually the rules of a game, is read once; the padding comes after it.

    Args:
        model: the model.
        prompts: the tokens of each sequence, at least one.

    Attributes:
        logits: of the last token of each sequence, float32 of shape (rows, vocabulary).
        lengths: number of tokens of each sequence.
    """

    def __init__(self, model: LocalModel, prompts: Sequence[Sequence[int]]) -> None:
        self._model = model
        self.lengths = [len(tokens) for tokens in prompts]
        self._cache = model.new_cache()
        shared = _shared_prefix(prompts) if model.can_share else 0
        if shared >= SHORTEST_SHARED:
            prefix = model_tensor(model, [prompts[0][:shared]])
            model.forward(prefix, torch.ones_like(prefix), torch.arange(shared, device=model.device)[None], self._cache)
            self._cache.batch_repeat_interleave(len(prompts))
        else:
            shared = 0
        width = max(self.lengths) - shared
        gaps = [width + shared - length for length in self.lengths]
        ids = model_tensor(
            model, [[0] * gap + list(tokens[shared:]) for gap, tokens in zip(gaps, prompts, strict=True)]
        )
        columns = torch.arange(width, device=model.device) - model_tensor(model, gaps)[:, None]
        read = torch.ones((len(prompts), shared), dtype=torch.long, device=model.device)
        self._mask = torch.cat([read, (columns >= 0).long()], dim=1)
        self.logits = model.forward(ids, self._mask, columns.clamp(min=0) + shared, self._cache)[:, -1].float()

    def read(self, tokens: Sequence[Sequence[int]]) -> None:
        """Appends the same number of tokens to every sequence."""
        width = len(tokens[0])
        positions = model_tensor(self._model, [list(range(length, length + width)) for length in self.lengths])
        ids = model_tensor(self._model, [list(row) for row in tokens])
        self._mask = torch.cat([self._mask, torch.ones_like(ids)], dim=1)
        self.lengths = [length + width for length in self.lengths]
        self.logits = self._model.forward(ids, self._mask, positions, self._cache)[:, -1].float()

    def keep(self, rows: Sequence[int]) -> None:
        """Drops all other sequences."""
        chosen = model_tensor(self._model, list(rows))
        self._cache.reorder_cache(chosen)
        self._mask = self._mask[chosen]
        self.logits = self.logits[chosen]
        self.lengths = [self.lengths[row] for row in rows]

    def log_likelihoods(self, continuations: Sequence[tuple[int, Sequence[int]]]) -> tuple[Any, Any]:
        """Scores continuations of the sequences without changing them.

        Args:
            continuations: row and tokens of each, at least one.

        Returns:
            Two tensors, float32 of shape (continuations,): the log-probability of all tokens together, and of the end of the
            reply after them.
        """
        model, width = self._model, max(len(tokens) for _, tokens in continuations)
        rows = model_tensor(model, [row for row, _ in continuations])
        ids = model_tensor(model, [[*tokens, *[0] * (width - len(tokens))] for _, tokens in continuations])
        sizes = model_tensor(model, [len(tokens) for _, tokens in continuations])
        columns = torch.arange(width, device=model.device)
        is_token = columns < sizes[:, None]
        starts = model_tensor(model, [self.lengths[row] for row, _ in continuations])
        mask = torch.cat([self._mask[rows], is_token.long()], dim=1)
        logits = model.forward(ids, mask, starts[:, None] + columns, _select(self._cache, rows), keep=0).float()
        totals = logits.logsumexp(dim=-1)
        first = self.logits.log_softmax(dim=-1)[rows, ids[:, 0]]
        later = (logits[:, :-1].gather(2, ids[:, 1:, None])[..., 0] - totals[:, :-1]) * is_token[:, 1:]
        each, last = torch.arange(len(continuations), device=model.device), sizes - 1
        ends = logits[each, last][:, list(model.ends)].logsumexp(dim=-1) - totals[each, last]
        return first + later.sum(dim=1), ends


def model_tensor(model: LocalModel, numbers: Any) -> Any:
    """Returns integers as a tensor on the model's device."""
    return torch.tensor(numbers, dtype=torch.long, device=model.device)


def _shared_prefix(prompts: Sequence[Sequence[int]]) -> int:
    """Returns the length of the common prefix, at least one token shorter than each sequence; 0 for a single sequence."""
    if len(prompts) < 2:
        return 0
    first, last = min(map(tuple, prompts)), max(map(tuple, prompts))  # the extremes share only the common prefix of all
    longest = min(map(len, prompts)) - 1
    return next((index for index in range(longest) if first[index] != last[index]), longest)


def _select(cache: Any, rows: Any) -> Any:
    """Returns a cache with rows of another one, which is unchanged.

    Selection creates new tensors, so the layers and tables that hold them must be copied.
    """
    selected = copy.copy(cache)
    selected.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in selected.layers:
        vars(layer).update({name: dict(table) for name, table in vars(layer).items() if isinstance(table, dict)})
    selected.reorder_cache(rows)
    return selected
