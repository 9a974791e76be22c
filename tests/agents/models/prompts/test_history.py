"""What is kept of a match, whatever a model and its game say."""

import asyncio
import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.baselines.general import FirstLegal
from agents.chat import Chat
from agents.models.llm import LLMPolicy
from agents.models.prompts.conversation import Conversation, estimate_tokens
from agents.models.prompts.form import PromptForm, read_memory
from agents.models.prompts.serialisers import ROLES
from agents.play import play
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs import connect_four_v0
from llmarena_envs.catalogue import make_environment
from llmarena_envs.core.options import OptionError
from tests.agents.models.prompts.script import Script, policy_with


def converse(history="full", turns=None, tokens=None, rejected="cap", longest_kept=8000):
    memory = read_memory(history, turns, tokens, rejected, longest_kept)
    return Conversation(PromptForm(memory, "system", ROLES))


def sent(conversation, text, **rest):
    """Returns what is sent for an observation, without the rules."""
    rules, *messages = conversation.hear({"rules": "the rules", "text": text, **rest})
    assert rules == {"role": "system", "content": "the rules"}
    assert [message["role"] for message in messages] == ["user", *["assistant", "user"] * (len(messages) // 2)]
    return [message["content"] for message in messages]


def after(conversation, *turns):
    """Plays turns of one reply each, and returns what is sent in a further one."""
    for number, reply in enumerate(turns):
        sent(conversation, f"text {number}")
        conversation.remember(reply)
    return sent(conversation, "now")


@pytest.mark.parametrize("rejected", ["keep", "cap", "drop"])
@pytest.mark.parametrize("ends_well", [True, False])
def test_a_babbling_model_does_not_make_its_requests_grow(rejected, ends_well):
    thinks = f"<think>{'hm, ' * 6000}</think>"
    last = f"{thinks}X: 4" if ends_well else f"{thinks}{'blah ' * 5400}"
    replies = itertools.cycle(["blah " * 5400, f"{thinks}{'well ' * 5400}", last])
    policy, requests = policy_with(replies, history="full", rejected=rejected)
    settings = TurnSettings(reasks=2, illegal="random_legal")
    episode = play(connect_four_v0.env(), {"player_0": policy, "player_1": FirstLegal()}, 5, settings)
    turns = [turn for turn in episode.turns if turn.agent == "player_0"]
    assert len(requests) == 3 * len(turns) >= 12
    of_a_turn = max(len(turn.read) for turn in turns) + (10 if ends_well else 8_000)
    within = {"keep": 16_000, "cap": 2_000, "drop": 1_000}[rejected]
    rules, *_ = (message["content"] for message in requests[0]["messages"])
    for number, request in enumerate(requests):
        size = sum(len(message["content"]) for message in request["messages"])
        assert size < len(rules) + (number // 3 + 1) * of_a_turn + within + 1_000


def test_reasoning_is_not_sent_back():
    contents = after(converse(), "<think>X: 1</think>I say yes", "<|channel|>analysis<|message|>X: 2")
    assert contents == ["text 0", "I say yes", "now"]


def test_the_end_of_a_long_reply_is_kept():
    _, kept, _ = after(converse(longest_kept=100), f"{'a' * 300}{'z' * 94}")
    assert kept == f"[...] {'z' * 94}"


@pytest.mark.parametrize("history", ["none", "single_turn"])
def test_nothing_is_kept_without_a_history(history):
    assert after(converse(history), "one", "two") == ["now"]


def test_a_window_of_turns_holds_the_last_ones():
    assert after(converse(turns=2), "a", "b", "c") == ["text 1", "b", "text 2", "c", "now"]


def test_a_window_of_tokens_holds_whole_turns_that_fit():
    turn = estimate_tokens("text 0") + estimate_tokens("one two three")
    for tokens, kept in ((2 * turn - 1, 1), (2 * turn, 2), (turn - 1, 0)):
        conversation = converse(tokens=tokens)
        assert len(after(conversation, *["one two three"] * 4)) == 2 * kept + 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("one two three", 4), ("internationalisation", 5), ("成语接龙", 4), ("x" * 400, 100), ("a1,b2;c3:d4", 6)],
)
def test_tokens_are_estimated_without_a_vocabulary(text, tokens):
    assert estimate_tokens(text) == tokens


def test_a_turn_that_is_to_be_answered_alone_is_sent_alone_and_kept():
    conversation = converse()
    sent(conversation, "first")
    conversation.remember("one")
    assert sent(conversation, "alone", fresh_history=True) == ["alone"]
    conversation.remember("two")
    more = {"attempt": 1, "feedback": "more", "fresh_history": True}
    assert sent(conversation, "alone, more", **more) == ["alone", "two", "more"]
    assert after(conversation, "three") == ["first", "one", "alone", "two", "text 0", "three", "now"]


def test_what_incomplete_replies_came_to_is_one_reply():
    conversation = converse()
    first = f"one: roses {'la ' * 400}"
    sent(conversation, "two lines")
    conversation.remember(first)
    more = {"attempt": 1, "feedback": "more", "kept": "one: roses"}
    assert sent(conversation, "two lines, more", **more) == ["two lines", first, "more"]
    conversation.remember("two: violets")
    assert after(conversation) == ["two lines", "one: roses\ntwo: violets", "now"]


WORDS = st.sampled_from(
    [
        "X: 1",
        "",
        " \n",
        "<think>X: 2</think>",
        "<think>hm</think>X: 3",
        "blah " * 300,
        "我选三",
        "\ud800",
        "Human: I win",
    ]
)
TURNS = st.lists(
    st.tuples(st.lists(WORDS, min_size=1, max_size=4), st.booleans(), st.booleans(), st.sampled_from(["", "one: x"])),
    min_size=1,
    max_size=6,
)
OPTIONS = st.fixed_dictionaries(
    {
        "rejected": st.sampled_from(["keep", "cap", "drop"]),
        "longest_kept": st.sampled_from([100, 8000]),
        "system_role": st.sampled_from(["system", "user"]),
        "serialiser": st.sampled_from(["roles", "Human/Assistant"]),
    }
)
HISTORY = st.sampled_from(
    [
        {"history": "none"},
        {"history": "full"},
        {"history": "updates"},
        {"history_turns": 1},
        {"history_turns": 2},
        {"history_tokens": 20},
    ]
)


def calls_of(turns):
    """Returns each call of a match: what is read, and what is replied."""
    for number, (replies, feedback, fresh, kept) in enumerate(turns):
        for attempt, reply in enumerate(replies):
            told = (
                {"attempt": attempt, "feedback": "what was wrong" if feedback else "", "kept": kept} if attempt else {}
            )
            wrong = ", and what was wrong" if told and feedback else ""
            texts = {"text": f"text {number}{wrong}", "update": f"update {number}{wrong}"}
            yield {"rules": "rules", **texts, "fresh_history": int(fresh), **told}, reply


@pytest.mark.slow
@given(TURNS, OPTIONS, HISTORY)
def test_a_match_that_is_taken_up_again_at_any_call_sends_what_an_undisturbed_one_sends(turns, options, history):
    calls = list(calls_of(turns))

    def requests_after(recalled):
        policy, requests = policy_with([reply for _, reply in calls[recalled:]], **options, **history)
        policy.reset("player_0", 3)
        for observation, reply in calls[:recalled]:
            policy.recall(observation, reply)

        async def run():
            for observation, _ in calls[recalled:]:
                await policy(observation)

        asyncio.run(run())
        return [request["messages"] for request in requests]

    whole = requests_after(0)
    for number in range(1, len(calls)):
        assert requests_after(number) == whole[number:]
    for messages in whole:
        talk = messages[1:] if options["system_role"] == "system" else messages
        assert [message["role"] for message in talk] == ["user", *["assistant", "user"] * (len(talk) // 2)]
        assert messages[0]["content"].startswith("rules")
        assert all(message["content"].strip() for message in messages)
        json.dumps(messages, ensure_ascii=False).encode()


@given(TURNS, OPTIONS)
def test_every_update_is_in_the_next_request_whatever_was_replied(turns, options):
    policy, requests = policy_with([reply for _, reply in calls_of(turns)], **options, history="updates")

    async def run():
        for observation, _ in calls_of(turns):
            await policy(observation)

    asyncio.run(run())
    sent = iter(requests)
    for number, (replies, _, fresh, _) in enumerate(turns):
        told = [f"update {earlier}" for earlier, turn in enumerate(turns[:number]) if not turn[2]] + [
            f"update {number}"
        ]
        for _ in replies:
            text = "\n".join(message["content"] for message in next(sent)["messages"])
            if fresh:
                assert "update" not in text
                assert f"text {number}" in text
            else:
                assert "text" not in text
                assert all(update in text for update in told)


class Listener:
    """Plays at random, and holds what a model with updates is told against what a seat in training is told."""

    wants_update = True

    def __init__(self, env):
        self._env = env.unwrapped
        self._service = Script(iter(lambda: self._reply, None))
        self._model = LLMPolicy("mock", base_url="http://localhost/v1", history="updates", service=self._service)
        self.chat = Chat("updates")

    def reset(self, agent, seed):
        self._agent = agent
        self._rng = np.random.default_rng(seed)

    async def __call__(self, observation):
        self._reply = self._env.format(self._env.random_action(self._agent, self._rng), self._agent)
        self.chat.hear(observation)
        await self._model(observation)
        sent = [message["content"] for message in self._service.requests[-1]["messages"] if message["role"] == "user"]
        assert sent == [message["content"] for message in self.chat.messages if message["role"] == "user"]
        self.chat.say(self._reply)
        return self._reply


@pytest.mark.parametrize("environment", ["connect_four_v0", "bargain_v0", "undercover_v0", "debate_v0"])
def test_a_model_is_told_the_updates_that_it_is_trained_on(environment):
    env = make_environment(environment, {})
    seats = {agent: Listener(env) for agent in env.possible_agents}
    play(env, seats, 5)
    assert max(len(seat.chat.messages) for seat in seats.values()) > 3


@pytest.mark.parametrize(
    ("environment", "options", "messages"),
    [
        ("tictactoe_v0", {}, 2),
        ("tictactoe_v0", {"history_turns": 1}, 4),
        ("tictactoe_v0", {"history_tokens": 1000}, 6),
        ("bargain_v0", {}, 6),
        ("bargain_v0", {"history": "none"}, 2),
        ("bargain_v0", {"history_turns": 1}, 4),
        ("tictactoe_v0", {"history": "updates"}, 6),
    ],
)
def test_the_game_decides_unless_a_history_or_a_window_is_asked_for(environment, options, messages):
    service = Script(["one", "two", "three"])
    spec = "openai:mock:base_url=http://localhost/v1"
    policy = make_policy(spec, environment, options, service=service)

    async def run():
        for text in ("first", "second", "third"):
            await policy({"rules": "rules", "text": text})

    asyncio.run(run())
    assert len(service.requests[-1]["messages"]) == messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"history": "half"}, "history: expected one of"),
        ({"history_turns": 0}, "history_turns: expected"),
        ({"history_tokens": 2.5}, "history_tokens: expected"),
        ({"history": "none", "history_turns": 3}, "history_turns: expected history='full'"),
        ({"history": "single_turn", "history_tokens": 3}, "history_tokens: expected history='full'"),
        ({"history": "updates", "history_turns": 3}, "history_turns: expected history='full'"),
        ({"history": "updates", "history_tokens": 3}, "history_tokens: expected history='full'"),
        ({"rejected": "forget"}, "rejected: expected one of"),
        ({"longest_kept": 99}, "longest_kept: expected"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(OptionError, match=message):
        policy_with([], **options)
