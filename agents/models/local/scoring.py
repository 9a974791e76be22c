"""Scoring of legal moves by likelihood, with each prompt read once."""

import time
from collections.abc import Sequence

from agents.models.local.checkpoint import LocalModel
from agents.models.local.draws import draw
from agents.models.local.jobs import STOP, Job, Outcome
from agents.models.local.rows import Rows


def score(model: LocalModel, jobs: Sequence[Job], prompts: Sequence[Sequence[int]], width: int) -> None:
    """Settles each job with its likeliest move, or with one drawn by likelihood.

    Args:
        model: the model.
        jobs: jobs of mode ``score``.
        prompts: the prompt tokens of each job.
        width: maximum number of moves in one forward pass.
    """
    moves = [model.encode_moves(job.moves) for job in jobs]
    rows = Rows(model, prompts)
    flat = [(row, tokens) for row, written in enumerate(moves) for tokens in written]
    values: list[float] = []
    for start in range(0, len(flat), width):
        if not [job for job in jobs if not job.gives_up(time.monotonic())]:
            return
        said, ends = rows.log_likelihoods(flat[start : start + width])
        values += (said + ends).tolist()
    rest = iter(values)
    for job, prompt, written in zip(jobs, prompts, moves, strict=True):
        own = [next(rest) for _ in written]
        weighed = [value / (len(tokens) + 1) for value, tokens in zip(own, written, strict=True)]
        best = draw(weighed if job.normalise else own, job.temperature, job.generator())
        if not job.is_settled:
            job.settle(Outcome(job.moves[best], STOP, len(prompt), len(written[best]) + 1, own[best]))
