"""What a server receives where the environment writes the match in native roles."""

import asyncio
import json

import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.models.llm import LLMPolicy
from agents.play import play, play_async
from agents.player import seat_players
from agents.registry import make_policy
from agents.turn import TurnSettings
from llmarena_envs import debate_v0, simulation_v0
from tests.llmarena_envs.option_sets.simulation_v0 import SCRIPT, TASKS
from tests.support.hostile_server import error, hostile_server, say

pytestmark = pytest.mark.usefixtures("own_environment")

TASK = TASKS[0]["task_description"]
SYSTEM = ("system", "You are a helpful assistant.")
REQUESTS = [json.dumps({"user": {"strategy": 2, "request": request}}) for request in ("GET bo", "COUNT")]
TURNS = [
    "<respond>A1</respond>",
    "<criticize>B1</criticize>",
    "<think>plot</think><raise>B1</raise>",
    "<respond>A1 again</respond>",
    "<respond>B2</respond>",
]


def sent_to(server):
    return [
        [(message["role"], message["content"]) for message in request.body["messages"]] for request in server.requests
    ]


def simulated(server, *, mode="dialogue", **options):
    """Plays a simulation with a model on each seat but the judge's."""
    given = {"scripts": [SCRIPT]} if mode != "dialogue" else {"number": 0, "turns": 3}
    env = simulation_v0.env(tasks=TASKS, mode=mode, **given)
    models = {agent: LLMPolicy("mock", base_url=server.url, **options) for agent in env.possible_agents[:-1]}
    return play(env, {**models, "judge_0": Random()}, 3)


def debated(server, played=(), **options):
    """Plays a debate of models until the server has no answer left."""
    env = debate_v0.env(question="Why?", n_judges=0)
    players = seat_players({agent: LLMPolicy("mock", base_url=server.url, **options) for agent in env.possible_agents})
    found = []
    with pytest.raises(ProviderError):
        asyncio.run(play_async(env, players, 1, played=played, on_turn=found.append))
    return found


def test_full_history_of_a_simulator_is_the_dialogue():
    script = ["one", REQUESTS[0], "<think>hm</think>", REQUESTS[1], "three"]
    with hostile_server(*map(say, script)) as server:
        simulated(server, history="full")
    first, asked, second, _, third = sent_to(server)
    assert first == [SYSTEM, ("user", TASK)]
    assert second == [*first, ("assistant", "one"), ("user", "GET bo")]
    assert third == [*second, ("assistant", "simulator_0:"), ("user", "COUNT")]
    assert [role for role, _ in asked] == ["system", "user"] and "> one" in asked[1][1]


@pytest.mark.parametrize("mode", ["script", "pairwise"])
def test_full_history_of_a_script_holds_its_earlier_answers(mode):
    with hostile_server(say("one"), say("two")) as server:
        simulated(server, mode=mode, history="full")
    roles = {"user": "user", "assistant": "assistant"}
    script = [SYSTEM, *((roles[each["role"]], each["content"]) for each in SCRIPT["dialogue_history"])]
    assert sent_to(server) == [script] * (2 if mode == "pairwise" else 1)


@pytest.mark.parametrize("options", [{"history": "single_turn"}, {"history_turns": 5}])
def test_other_histories_quote_the_transcript(options):
    with hostile_server(say("one"), say(REQUESTS[0]), say("two"), say(REQUESTS[1]), say("three")) as server:
        simulated(server, **options)
    text = sent_to(server)[-1][-1][1]
    assert all(f"\n> {said}" in text for said in ("one", "GET bo", "two", "COUNT"))


def test_environments_with_native_roles_use_them_unless_asked_otherwise():
    for environment in ("simulation_v0", "debate_v0"):
        spec = "openai:mock:base_url=http://localhost/v1"
        assert make_policy(spec, environment).wants_chat
        assert not make_policy(f"{spec},history=single_turn", environment).wants_chat


def test_an_incomplete_turn_is_completed_and_delivered_once():
    with hostile_server(*map(say, TURNS)) as server:
        debated(server, history="full")
    requests = sent_to(server)
    first, again = requests[1:3]
    assert again[:-1] == [*first, ("assistant", "<criticize>B1</criticize>")]
    assert again[-1][0] == "user" and len(again[-1][1].splitlines()) == 1 and "<raise>" in again[-1][1]
    fresh, last = requests[4:6]
    assert [role for role, _ in fresh] == ["system", "user"]
    own_a = [content for role, content in last if role == "assistant"]
    assert own_a == ["<respond>A1</respond>", "<respond>A1 again</respond>"]
    assert "plot" not in str(last) and str(last).count("B1") == 2


@pytest.mark.parametrize("rejected", ["keep", "cap", "drop"])
@pytest.mark.parametrize("feedback", [True, False])
def test_a_rejected_reply_stands_behind_the_chat(rejected, feedback):
    env = debate_v0.env(question="Why?", n_judges=1, judge_initial_only=True)
    babble = f"{'blah ' * 1000}the end"
    with hostile_server(say(babble), say("Better. [[A]]")) as server:
        judge = LLMPolicy("mock", base_url=server.url, history="full", rejected=rejected)
        seats = {"debater_0": Random(), "debater_1": Random(), "judge_0": judge}
        play(env, seats, 1, TurnSettings(feedback=feedback))
    first, again = sent_to(server)
    if not feedback:
        assert again == first
    elif rejected == "drop":
        assert [role for role, _ in again] == ["system", "user"] and again[0] == first[0]
        assert again[1][1].startswith(f"{first[1][1]}\n\n") and "the end" in again[1][1]
    else:
        kept = babble if rejected == "keep" else f"[...] {babble[-994:]}"
        assert again[:-1] == [*first, ("assistant", kept)] and len(again[-1][1].splitlines()) == 1


def test_rules_and_serialisers_take_the_chat():
    with hostile_server(say("one"), say("one")) as server:
        simulated(server, mode="script", history="full", system_role="user")
        simulated(server, mode="script", history="full", serialiser="Human/Assistant")
    first, answer, last = [each["content"] for each in SCRIPT["dialogue_history"]]
    joined, text = sent_to(server)
    assert joined == [("user", f"{SYSTEM[1]}\n\n{first}"), ("assistant", answer), ("user", last)]
    assert text == [SYSTEM, ("user", f"Human: {first}\n\nAssistant: {answer}\n\nHuman: {last}\n\nAssistant:")]


@pytest.mark.parametrize("calls", range(2, 5))
def test_an_interrupted_debate_sends_the_same_messages(calls):
    with hostile_server(*map(say, TURNS)) as server:
        turns = debated(server, history="full")
        whole = sent_to(server)
    attempts = [sum(len(turn.attempts) for turn in turns[:number]) for number in range(len(turns) + 1)]
    with hostile_server(*map(say, TURNS[attempts[calls] :])) as server:
        debated(server, turns[:calls], history="full")
    assert sent_to(server) == whole[attempts[calls] :]


def test_a_script_beyond_the_context_is_no_failure_of_the_player():
    with hostile_server(error(400, "context_length_exceeded")) as server, pytest.raises(ProviderError) as raised:
        simulated(server, mode="script", history="full")
    assert raised.value.final and raised.value.status == "context_length"
