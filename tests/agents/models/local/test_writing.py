"""Replies written token by token: alone or side by side, freely or within the legal moves."""

import subprocess
import sys

import numpy as np
import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.models.local.jobs import CONSTRAINED, GENERATE, LENGTH, SCORE, STOP, Job
from agents.models.local.policy import HFPolicy
from agents.models.local.trie import END, build_trie, follow
from agents.play import play
from agents.player import Player
from llmarena_envs.catalogue import CATALOGUE, load_environment, make_environment
from llmarena_envs.core.failures import Failure
from tests.agents.models.local.asking import MOVES, ask, complete, jobs, observations, prompts

pytestmark = pytest.mark.needs("torch", "transformers")

ENUMERATED = [entry.name for entry in CATALOGUE if not load_environment(entry.name).action_examples]


def generate(model, prompt, max_tokens):
    """Returns what the library itself writes."""
    import torch

    ids = torch.tensor(model.encode([prompt]))
    written = model.network.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=max_tokens
    )[0, ids.shape[1] :].tolist()
    return [token for token in written if token not in model.ends], written


def test_greedy_replies_are_those_of_the_library_whatever_is_beside_them(model, path):
    texts = prompts(14)
    together = complete(jobs(texts), path)
    assert [outcome.text for outcome in complete(jobs(texts), path, max_batch=1)] == [item.text for item in together]
    assert [outcome.text for outcome in complete(jobs(texts[::-1]), path, max_batch=5)][::-1] == [
        item.text for item in together
    ]
    for text, outcome in zip(texts, together, strict=True):
        kept, written = generate(model, text, 20)
        assert outcome.text == model.tokenizer.decode(kept)
        assert outcome.completion_tokens == len(written)
        assert outcome.prompt_tokens == len(model.encode([text])[0])
        assert outcome.finish_reason == (STOP if written[-1] in model.ends else LENGTH)
    assert len({outcome.completion_tokens for outcome in together}) > 1


@pytest.mark.parametrize("mode", [GENERATE, CONSTRAINED, SCORE])
def test_draws_do_not_depend_on_what_is_computed_beside_them(path, mode):
    texts = [*prompts(8), *prompts(8)]
    warm = {"mode": mode, "temperature": 1.5}
    together = [outcome.text for outcome in complete(jobs(texts, **warm), path)]
    assert together == [outcome.text for outcome in complete(jobs(texts, **warm), path, max_batch=3)]
    assert together[:8] != together[8:]  # other draws for the same prompts


def test_draws_follow_the_model(model, path):
    import torch

    (text,) = prompts(1)
    count = 600
    wanted = [Job(GENERATE, text, max_tokens=1, temperature=2.0, seed=(1, number)) for number in range(count)]
    drawn = np.zeros(len(model.tokenizer))
    for outcome in complete(wanted, path):
        tokens = model.tokenizer.encode(outcome.text) if outcome.finish_reason == LENGTH else [model.ends[0]]
        drawn[tokens[0]] += 1 / count
    logits = model.network(input_ids=torch.tensor(model.encode([text]))).logits[0, -1]
    expected = (logits / 2).softmax(dim=-1).detach().numpy()
    likely = np.argsort(expected)[-5:]
    assert np.abs(drawn[likely] - expected[likely]).max() < 0.05
    assert expected[likely].max() > 0.1


@pytest.mark.slow
def test_replies_are_the_same_in_another_process(tiny_qwen):
    path = str(tiny_qwen)
    script = (
        "from tests.agents.models.local.asking import ask, observations;"
        f"print([reply.text for reply in ask({path!r}, observations(6))])"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([reply.text for reply in ask(path, observations(6))])


def test_a_reply_that_takes_too_long_is_given_up(path):
    read = observations(1)
    with pytest.raises(ProviderError, match=r"no complete reply within 0\.001 s") as raised:
        ask(path, read, timeout=0.001)
    assert raised.value.final


def test_a_trie_knows_what_may_come_next():
    root = build_trie([(1, 2, 3), (1, 2, 4), (1, 2, 3, 5), (1, 2, 4)])
    tokens, node = follow(root)
    assert tokens == [1, 2]
    assert list(node) == [3, 4]
    assert node[4] == {END: 1}
    assert follow(node[3]) == ([], {END: 0, 5: {END: 2}})
    assert follow(node[3][5]) == ([], {END: 2})


def choose_by_hand(model, prompt, moves):
    """Returns the move that is the likeliest token by token, by one forward pass of the bare model for each token."""
    import torch

    ids = model.encode([prompt])[0]
    left, done = dict.fromkeys(moves), 0
    left = {move: tuple(model.tokenizer.encode(move, add_special_tokens=False)) for move in moves}
    while True:
        logits = model.network(input_ids=torch.tensor([ids])).logits[0, -1]
        options = {tokens[done] if len(tokens) > done else model.ends[0] for tokens in left.values()}
        best = max(options, key=lambda token: logits[token].item())
        left = {
            move: tokens
            for move, tokens in left.items()
            if (tokens[done] if len(tokens) > done else model.ends[0]) == best
        }
        if best == model.ends[0]:
            return next(iter(left))
        ids, done = [*ids, best], done + 1


def test_the_choice_among_moves_is_that_of_the_model(model, path):
    texts = prompts(10)
    outcomes = complete(jobs(texts, CONSTRAINED), path)
    assert [outcome.text for outcome in outcomes] == [choose_by_hand(model, text, MOVES) for text in texts]
    for outcome in outcomes:
        assert outcome.completion_tokens == len(model.tokenizer.encode(outcome.text)) + 1
        assert outcome.finish_reason == STOP


def test_a_single_legal_move_needs_no_forward_pass(model, path):
    before = model.passes
    (outcome,) = complete(jobs(prompts(1), CONSTRAINED, moves=("pass",)), path)
    assert (outcome.text, model.passes) == ("pass", before)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [CONSTRAINED, SCORE])
@pytest.mark.parametrize("name", ENUMERATED)
def test_every_reply_is_a_legal_move(tiny_model, tiny_qwen, name, mode):
    env = make_environment(name, {})
    models = [tiny_model, tiny_qwen]
    policies = {
        agent: HFPolicy(str(models[index % 2]), mode=mode, temperature=2.0) if index < 2 else Random()
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


def test_every_move_is_written_as_the_tokens_say(model):
    for name in ENUMERATED:
        env = make_environment(name, {})
        env.reset(seed=1)
        moves = [
            env.unwrapped.format(action, env.agent_selection)
            for action in env.unwrapped.view(env.agent_selection).legal
        ]
        assert [model.tokenizer.decode(tokens) for tokens in model.encode_moves(moves)] == moves


def test_all_legal_moves_are_there_to_choose_from(tiny_model):
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
