"""Two calls a reply: the second one restates the first in the form of the game."""

import asyncio
import itertools

import pytest

from agents.baselines.general import FirstLegal
from agents.errors import ProviderError
from agents.models.cache import ReplyCache
from agents.models.llm import LLMPolicy
from agents.models.prompts.conversation import fingerprint
from agents.models.service import ModelService
from agents.play import play, play_async
from agents.player import seat_players
from agents.policy import Reply
from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.options import OptionError
from rating.store.records import Match, Record, dump_turn, load_turn
from rating.store.replay import PromptReader
from tests.agents.llm_calls import ask
from tests.agents.models.prompts.script import policy_with
from tests.support.hostile_server import completion, error, hostile_server, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

OBSERVATION = {"rules": "the rules", "text": "the text", "form": "the form"}
FREE = "<think>hm</think>The centre is strong, so I take it."


def ask_twice(*script, **options):
    with hostile_server(*script) as server:
        (reply,) = ask(server, OBSERVATION, format_with_second_call=True, **options)
    return reply, [request.body for request in server.requests]


def moves(count):
    """Returns free replies and the moves that they are restated as, by turns."""
    free = [f"I like number {number}." for number in range(count)]
    cells = ["X: (2, 2)", "X: (2, 1)", "X: (2, 3)"]
    return [text for pair in zip(free, cells, strict=False) for text in pair]


def test_the_second_call_reads_form_and_first_reply():
    reply, (first, second) = ask_twice(say(FREE), say("X: (2, 2)"))
    assert reply.text == "X: (2, 2)"
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": "The centre is strong, so I take it."},
        {"role": "user", "content": "the form"},
    ]
    assert {**first, "messages": second["messages"]} == second


def test_both_calls_count_as_one_reply():
    calls = []
    service = ModelService(calls.append)
    script = json_answer(completion({"content": FREE})), json_answer(completion({"content": "X: (2, 2)"}))
    reply, (_, second) = ask_twice(*script, service=service)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.calls) == (22, 10, 2)
    assert [(call.prompt_tokens, call.completion_tokens) for call in calls] == [(11, 5), (11, 5)]
    assert (reply.detail["free_reply"], reply.detail["prompt"]) == (FREE, fingerprint(second["messages"]))


@pytest.mark.parametrize(
    ("free", "kind"),
    [
        (say(""), Failure.EMPTY),
        (say("I take the", "length"), Failure.TRUNCATED),
        (say("", "content_filter"), Failure.REFUSAL),
        (say("<think>hm</think>"), Failure.OK),
    ],
)
def test_a_reply_without_words_is_not_restated(free, kind):
    reply, requests = ask_twice(free)
    assert (reply.kind, len(requests)) == (kind, 1)
    assert "free_reply" not in reply.detail


def test_a_failed_second_call_is_a_provider_error():
    with pytest.raises(ProviderError, match="400"):
        ask_twice(say(FREE), error(400, "no"))


def test_the_environment_reads_and_remembers_the_second_reply():
    policy, requests = policy_with(moves(3), format_with_second_call=True, history="full")
    episode = play(tictactoe_v0.env(language="zh"), {"player_0": policy, "player_1": FirstLegal()}, 3)
    own = [turn.attempts[0].reply for turn in episode.turns if turn.agent == "player_0"]
    assert own == moves(3)[1::2]
    said = [message["content"] for message in requests[4]["messages"] if message["role"] == "assistant"]
    assert said == own[:2]
    assert "重述" in requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("options", [{"history": "full"}, {"serialiser": "Human/Assistant", "system_role": "user"}])
def test_prompts_are_rebuilt_from_the_record(options):
    replies = ["", "no move at all", "still none", *moves(3)]
    policy, requests = policy_with(replies, format_with_second_call=True, **options)
    match = Match("tictactoe_v0", 0, ("model", "first_legal"), 3, {})
    episode = play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, match.seed)
    turns = tuple(load_turn(dump_turn(turn)) for turn in episode.turns)
    prompts = PromptReader({}).read(Record(match, None, turns, episode.digest, 1, ""))
    assert prompts.missing == ""
    last = [requests[number]["messages"] for number in (0, 2, 4, 6, 8)]
    assert list(prompts.sent.values()) == last


def test_an_interrupted_match_sends_the_same_again():
    script = [say(text) for text in moves(3)]
    options = {"format_with_second_call": True, "history": "full", "send_seed": True}
    with hostile_server(*script) as server:
        policy = LLMPolicy("mock", base_url=server.url, **options)
        whole = play(tictactoe_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 3)
    with hostile_server(*script[4:]) as again:
        policy = LLMPolicy("mock", base_url=again.url, **options)
        players = seat_players({"player_0": policy, "player_1": FirstLegal()})
        episode = asyncio.run(play_async(tictactoe_v0.env(), players, 3, played=whole.turns[:4]))
    assert [request.body for request in again.requests] == [request.body for request in server.requests[4:]]
    assert episode.digest == whole.digest


def test_a_cache_holds_both_calls(tmp_path):
    cache = ReplyCache(tmp_path)
    with hostile_server(say(FREE), say("X: (2, 2)")) as server:
        first, second = (
            ask(server, OBSERVATION, format_with_second_call=True, service=ModelService(cache=cache))[0]
            for _ in range(2)
        )
    cache.close()
    assert len(server.requests) == 2
    assert (first.text, first.calls, second.text, second.calls) == ("X: (2, 2)", 2, "X: (2, 2)", 0)


def test_unknown_token_counts_stay_unknown():
    replies = itertools.cycle([Reply("free", prompt_tokens=None), Reply("X: (2, 2)", prompt_tokens=3)])
    policy, _ = policy_with(replies, format_with_second_call=True)
    assert asyncio.run(policy(OBSERVATION)).prompt_tokens is None


def test_the_option_is_a_truth_value():
    with pytest.raises(OptionError, match="format_with_second_call"):
        LLMPolicy("mock", base_url="http://localhost/v1", format_with_second_call="yes")
