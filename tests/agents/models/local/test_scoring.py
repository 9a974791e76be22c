"""Moves scored behind a prompt that is read once, against one forward pass for each move."""

import math

import numpy as np
import pytest

from agents.models.local.jobs import SCORE
from tests.agents.models.local.asking import MOVES, complete, jobs, prompts

pytestmark = pytest.mark.needs("torch", "transformers")


def score_by_hand(model, prompt, move):
    """Returns the log-likelihood of a move and of the end behind it, by a forward pass of the bare model."""
    import torch

    ids, said = model.encode([prompt])[0], model.tokenizer.encode(move, add_special_tokens=False)
    logits = model.network(input_ids=torch.tensor([ids + said])).logits[0].log_softmax(dim=-1)
    known = sum(logits[len(ids) - 1 + index, token].item() for index, token in enumerate(said))
    return known + logits[-1, model.ends[0]].item(), len(said) + 1


@pytest.mark.parametrize("max_batch", [32, 4, 1])
def test_the_likeliest_move_with_its_likelihood(model, path, max_batch):
    texts = prompts(9)
    outcomes = complete(jobs(texts, SCORE), path, max_batch)
    for text, outcome in zip(texts, outcomes, strict=True):
        by_hand = {move: score_by_hand(model, text, move)[0] for move in MOVES}
        assert outcome.text == max(by_hand, key=by_hand.get)
        assert outcome.log_likelihood == pytest.approx(by_hand[outcome.text], abs=2e-5)
    assert len({outcome.text for outcome in outcomes}) > 1


def test_likelihood_per_token(model, path):
    texts = prompts(9)
    plain = complete(jobs(texts, SCORE), path)
    outcomes = complete(jobs(texts, SCORE, normalise=True), path)
    for text, outcome in zip(texts, outcomes, strict=True):
        by_hand = {move: value / tokens for move in MOVES for value, tokens in [score_by_hand(model, text, move)]}
        assert outcome.text == max(by_hand, key=by_hand.get)
    assert [outcome.text for outcome in plain] != [outcome.text for outcome in outcomes]


def test_moves_are_drawn_by_their_likelihood(model, path):
    (text,) = prompts(1)
    count, temperature = 400, 4.0
    outcomes = complete(jobs([text] * count, SCORE, temperature=temperature), path)
    weights = np.array([math.exp(score_by_hand(model, text, move)[0] / temperature) for move in MOVES])
    drawn = np.array([sum(outcome.text == move for outcome in outcomes) for move in MOVES])
    assert np.abs(drawn / count - weights / weights.sum()).max() < 0.06


def test_moves_of_different_number_and_length_side_by_side(model, path):
    texts = prompts(4)
    wanted = jobs(texts, SCORE)
    for job, moves in zip(wanted, [MOVES[:1], MOVES, MOVES[3:5], ("pass " * 30,)], strict=True):
        job.moves = moves
    for job, text, outcome in zip(wanted, texts, complete(wanted, path), strict=True):
        by_hand = {move: score_by_hand(model, text, move)[0] for move in job.moves}
        assert outcome.text == max(by_hand, key=by_hand.get)
        assert outcome.log_likelihood == pytest.approx(max(by_hand.values()), rel=1e-5)
