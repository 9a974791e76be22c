"""LLMPolicy: what is sent, and what becomes of what comes back."""

import asyncio
import itertools
import json

import pytest

from agents.baselines.general import FirstLegal
from agents.models.llm import LLMPolicy
from agents.models.prompts.conversation import fingerprint
from agents.play import play
from agents.policy import Reply
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import Failure
from tests.agents.llm_calls import OBSERVATION, SECRET, ask, ask_once
from tests.support.hostile_server import Answer, completion, error, hostile_server, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")


def test_a_reply_comes_with_tokens_and_facts():
    answer = json_answer(completion({"content": "X: (1, 2)"}, system_fingerprint="fp_1"))
    reply, (request,) = ask_once(answer)
    assert reply == Reply("X: (1, 2)", Failure.OK, 11, 5, reply.detail, cached_tokens=None, calls=1)
    parameters = {"model": "mock", "temperature": 0.0, "max_completion_tokens": 1024}
    assert reply.detail == {
        "finish_reason": "stop",
        "model": "mock-2026",
        "system_fingerprint": "fp_1",
        "request": parameters,
        "prompt": fingerprint(request.body["messages"]),
        "prompt_form": {
            "turns": 0,
            "tokens": None,
            "rejected": "drop",
            "longest_kept": 8000,
            "updates": False,
            "system_role": "system",
            "serialiser": "roles",
        },
    }
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    messages = [{"role": "system", "content": "the rules"}, {"role": "user", "content": "the text"}]
    assert request.body == {**parameters, "messages": messages}
    assert request.headers["authorization"] == f"Bearer {SECRET}"


def test_the_parameters_are_recorded_once_a_match():
    with hostile_server(then=itertools.repeat(say("hm"))) as server:
        replies = ask(server, OBSERVATION, OBSERVATION)
    assert [{"request", "prompt_form"} <= reply.detail.keys() for reply in replies] == [True, False]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"temperature": 0.7}, {"temperature": 0.7, "max_completion_tokens": 1024}),
        ({"temperature": "default", "max_tokens": "default"}, {}),
        ({"max_tokens": 9, "max_tokens_field": "max_tokens"}, {"temperature": 0.0, "max_tokens": 9}),
        (
            {"extra": {"top_p": 0.5, "chat_template_kwargs": {"enable_thinking": False}}, "max_tokens": "default"},
            {"temperature": 0.0, "top_p": 0.5, "chat_template_kwargs": {"enable_thinking": False}},
        ),
    ],
)
def test_what_is_sent_for_the_options(options, expected):
    reply, (request,) = ask_once(say("hm"), **options)
    body = dict(request.body)
    del body["messages"]
    assert body == {"model": "mock", **expected} == reply.detail["request"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_role_of_the_rules(role):
    _, (request,) = ask_once(say("hm"), system_role=role)
    assert request.body["messages"][0] == {"role": role, "content": "the rules"}


def test_rules_at_the_beginning_of_the_first_user_message():
    with hostile_server(say("one"), say("two")) as server:
        ask(server, OBSERVATION, {"rules": "the rules", "text": "more"}, system_role="user", history="full")
    assert [(item["role"], item["content"]) for item in server.requests[1].body["messages"]] == [
        ("user", "the rules\n\nthe text"),
        ("assistant", "one"),
        ("user", "more"),
    ]


def test_what_a_model_thought_is_neither_its_reply_nor_sent_back():
    thought = {"reasoning_content": "hidden thought", "reasoning": "hidden thought"}
    with hostile_server(json_answer(completion({"content": "X: 1", **thought})), say("X: 2")) as server:
        first, _ = ask(server, OBSERVATION, {"rules": "the rules", "text": "more"}, history="full")
    assert first.text == "X: 1"
    assert "hidden thought" not in json.dumps(server.requests[1].body)
    assert "hidden thought" not in json.dumps(first.detail)


def sent_seeds(match_seed, calls, recalled=0):
    policy_seeds = []
    with hostile_server(then=itertools.repeat(say("hm"))) as server:
        policy = LLMPolicy("mock", base_url=server.url, send_seed=True)

        async def run():
            policy.reset("player_0", match_seed)
            for _ in range(recalled):
                policy.recall(OBSERVATION, "hm")
            for _ in range(calls):
                policy_seeds.append((await policy(OBSERVATION)).detail["seed"])
            await policy.close()

        asyncio.run(run())
        assert [request.body["seed"] for request in server.requests] == policy_seeds
    return policy_seeds


def test_seeds_follow_from_the_match_and_the_number_of_the_call():
    seeds = sent_seeds(5, 4)
    assert len({*seeds, *sent_seeds(6, 4)}) == 8
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert sent_seeds(5, 2, recalled=2) == seeds[2:]


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (say("X: 1"), Failure.OK, "X: 1"),
        (say("X: 1", None), Failure.OK, "X: 1"),
        (say("X: (1,", "length"), Failure.TRUNCATED, "X: (1,"),
        (say(None, "length"), Failure.TRUNCATED, ""),
        (say(None), Failure.EMPTY, ""),
        (say(""), Failure.EMPTY, ""),
        (say(" \n\u3000"), Failure.EMPTY, " \n\u3000"),
        (say(None, "tool_calls"), Failure.EMPTY, ""),
        (say("", "end_turn"), Failure.EMPTY, ""),
        (say("", "EOS"), Failure.EMPTY, ""),
        (say("X: (1,", "max_tokens"), Failure.TRUNCATED, "X: (1,"),
        (json_answer(completion({"content": [{"type": "text", "text": "X: 1"}]})), Failure.OK, "X: 1"),
        (say("X: 1", ""), Failure.OK, "X: 1"),
        (json_answer(completion({"content": "", "reasoning_content": "X: 3"})), Failure.EMPTY, ""),
        (json_answer(completion({"role": "assistant"})), Failure.EMPTY, ""),
        (json_answer(completion({"content": None, "refusal": "I will not."})), Failure.REFUSAL, "I will not."),
        (json_answer(completion({"content": "X: 1", "refusal": ""})), Failure.OK, "X: 1"),
        (say("X:", "content_filter"), Failure.REFUSAL, "X:"),
        (say(None, "content_filter"), Failure.REFUSAL, ""),
        (error(400, "content_filter"), Failure.REFUSAL, ""),
        (say("井字棋 🎲"), Failure.OK, "井字棋 🎲"),
        (Answer(body=json.dumps(completion({"content": "a\ud800b"})).encode()), Failure.OK, "a?b"),
        (say("x" * 1_000_000), Failure.OK, "x" * 1_000_000),
    ],
)
def test_kinds_of_replies(answer, kind, text):
    reply, requests = ask_once(answer)
    assert (reply.kind, reply.text, len(requests)) == (kind, text, 1)


def test_a_match_is_played_and_its_tokens_are_recorded():
    moves = ["(2, 2)", "(3, 1)", "(1, 3)"]
    with hostile_server(*[say(f"X: {move}") for move in moves]) as server:
        policies = {"player_0": LLMPolicy("mock", base_url=server.url), "player_1": FirstLegal()}
        episode = play(tictactoe_v0.env(), policies, seed=0)
    own = [turn.attempts[0] for turn in episode.turns if turn.agent == "player_0"]
    assert [attempt.reply for attempt in own] == [f"X: {move}" for move in moves]
    assert [(attempt.prompt_tokens, attempt.completion_tokens) for attempt in own] == [(11, 5)] * 3
    assert episode.rewards == {"player_0": 1.0, "player_1": -1.0}
