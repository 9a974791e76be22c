"""Replies of a model in memory: free or one of the legal moves."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.models.local.checkpoint import LENGTH, STOP, Request
from agents.models.local.policy import CONSTRAINED, HFPolicy
from agents.play import play
from agents.player import Player
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment
from llmarena_envs.core.failures import Failure
from tests.agents.models.local.asking import MOVES, ask, complete, observations, prompts, requests

pytestmark = pytest.mark.needs("torch", "transformers")

ENUMERATED = [entry.name for entry in CATALOGUE if not load_environment(entry.name).action_examples]


def tokens_of(model, text):
    return model.tokenizer.encode(text, add_special_tokens=False)


def next_logits(model, ids):
    """Returns the logits of the next token, by a forward pass of the bare model."""
    import torch

    with torch.no_grad():
        return model.network(input_ids=torch.tensor([ids])).logits[0, -1]


def write_by_hand(model, text, max_tokens):
    """Returns the tokens of the greedy reply, by one forward pass for each token."""
    ids, written = tokens_of(model, text), []
    while len(written) < max_tokens and not set(written) & set(model.ends):
        written.append(int(next_logits(model, ids + written).argmax()))
    return written


def choose_by_hand(model, text, moves):
    """Returns the move that is the likeliest token by token."""
    ids, done = tokens_of(model, text), 0
    left = {move: [*tokens_of(model, move), model.ends[0]] for move in moves}
    while len(left) > 1 or done == 0:
        logits = next_logits(model, ids)
        best = max({tokens[done] for tokens in left.values()}, key=lambda token: logits[token].item())
        left = {move: tokens for move, tokens in left.items() if tokens[done] == best}
        ids, done = [*ids, best], done + 1
    return next(iter(left))


def test_reply_greedy_takes_the_likeliest_tokens(model):
    texts = prompts(6)
    completions = [model.reply(request) for request in requests(texts)]
    for text, completion in zip(texts, completions, strict=True):
        written = write_by_hand(model, text, 20)
        is_over = written[-1] in model.ends
        assert completion.text == model.tokenizer.decode(written[:-1] if is_over else written)
        assert completion.completion_tokens == len(written)
        assert completion.prompt_tokens == len(tokens_of(model, text))
        assert completion.finish_reason == (STOP if is_over else LENGTH)
    assert len({completion.completion_tokens for completion in completions}) > 1


@pytest.mark.parametrize("moves", [(), MOVES])
def test_reply_sampled_depends_on_the_seed_alone(path, moves):
    import torch

    texts = [*prompts(4), *prompts(4)]
    wanted = requests(texts, moves=moves, temperature=4.0)
    torch.manual_seed(1)
    together = [completion.text for completion in complete(wanted, path)]
    torch.manual_seed(2)
    state = torch.random.get_rng_state()
    alone = [complete([request], path)[0].text for request in reversed(wanted)]
    assert alone[::-1] == together
    assert together[:4] != together[4:]  # other seeds for the same prompts
    assert torch.equal(torch.random.get_rng_state(), state)


def test_reply_sampled_follows_the_model(model):
    (text,) = prompts(1)
    count = 600
    drawn = np.zeros(len(model.tokenizer))
    for number in range(count):
        completion = model.reply(Request(text, max_tokens=1, temperature=1.5, seed=number))
        tokens = tokens_of(model, completion.text) if completion.finish_reason == LENGTH else model.ends
        drawn[tokens[0]] += 1 / count
    expected = (next_logits(model, tokens_of(model, text)) / 1.5).softmax(dim=-1).numpy()
    likely = np.argsort(expected)[-5:]
    assert np.abs(drawn[likely] - expected[likely]).max() < 0.05
    assert expected[likely].max() > 0.1


@pytest.mark.slow
def test_reply_in_another_process_is_the_same(tiny_qwen):
    path = str(tiny_qwen)
    script = (
        "from tests.agents.models.local.asking import ask, observations;"
        f"print([reply.text for reply in ask({path!r}, observations(6), temperature=1.0)])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([reply.text for reply in ask(path, observations(6), temperature=1.0)])
    assert done.stderr == ""


def test_reply_beyond_the_time_limit_fails(path):
    with pytest.raises(ProviderError, match=r"no complete reply within 0\.001 s") as raised:
        ask(path, observations(1), timeout=0.001)
    assert raised.value.final


def test_reply_cancelled_ends_early(model):
    cancelled = threading.Event()
    cancelled.set()
    with pytest.raises(ProviderError):
        model.reply(Request(prompts(1)[0], max_tokens=4000, cancelled=cancelled))


def test_trie_holds_the_possible_next_tokens():
    from agents.models.local.model import build_trie

    assert build_trie([(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (1, 2, 4)]) == {1: {2: {3: {5: {}}, 4: {}}}}


def test_reply_constrained_takes_the_likeliest_move(model):
    texts = prompts(12)
    listed = [MOVES[number % 6 :] for number in range(12)]
    completions = [model.reply(Request(text, moves)) for text, moves in zip(texts, listed, strict=True)]
    for text, moves, completion in zip(texts, listed, completions, strict=True):
        assert completion.text == choose_by_hand(model, text, moves)
        assert completion.completion_tokens == len(tokens_of(model, completion.text)) + 1
        assert completion.finish_reason == STOP
    assert len({completion.text for completion in completions}) > 1


def test_reply_constrained_to_moves_that_cannot_be_written_fails(model):
    for move in ("", "O<|im_end|>"):
        with pytest.raises(ProviderError, match="has no tokens for the move") as raised:
            model.reply(Request("X", moves=("O", move)))
        assert raised.value.fatal


@pytest.mark.slow
@pytest.mark.parametrize("name", ENUMERATED)
def test_constrained_policy_plays_legal_moves_only(tiny_model, tiny_qwen, name):
    env = make_environment(name, {})
    models = [tiny_model, tiny_qwen]
    policies = {
        agent: HFPolicy(str(models[index % 2]), mode=CONSTRAINED, temperature=2.0) if index < 2 else Random()
        for index, agent in enumerate(env.possible_agents)
    }
    episode = play(env, policies, seed=3)
    own = [turn for turn in episode.turns if not isinstance(policies[turn.agent], Random)]
    assert own
    for turn in own:
        (attempt,) = turn.attempts
        assert attempt.kind is Failure.OK
        assert attempt.reply == turn.played
        assert attempt.completion_tokens > 1


def test_legal_moves_survive_the_tokenizer(model):
    for name in ENUMERATED:
        env = make_environment(name, {})
        env.reset(seed=1)
        moves = [
            env.unwrapped.format(action, env.agent_selection)
            for action in env.unwrapped.view(env.agent_selection).legal
        ]
        assert [model.tokenizer.decode(tokens_of(model, move)) for move in moves] == moves


def test_constrained_policy_reads_all_legal_moves(tiny_model):
    player = Player(HFPolicy(str(tiny_model), mode=CONSTRAINED))
    assert player.wants_all_legal
    env = make_environment("bid_v0", {})
    listed = []

    class Spy(HFPolicy):
        async def __call__(self, observation):
            listed.append(observation["legal"])
            return await super().__call__(observation)

    play(env, {agent: Spy(str(tiny_model), mode=CONSTRAINED) for agent in env.possible_agents}, seed=3)
    assert max(map(len, listed)) > 200
    assert all(len(set(moves)) == len(moves) for moves in listed)
