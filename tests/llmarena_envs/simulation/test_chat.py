"""The dialogue in native roles, as a model that simulates reads it."""

import pytest

from llmarena_envs.simulation.actions import SIMULATOR
from tests.llmarena_envs.option_sets.simulation_v0 import SCRIPT
from tests.llmarena_envs.simulation.matches import asked, say, scripted, started

SYSTEM = ("system", "You are a helpful assistant.")


def chat(env, agent=None):
    found = env.codec.chat(env.view(agent or env.agent_selection))
    return None if found is None else [tuple(message) for message in found]


def test_chat_of_a_dialogue_is_word_for_word():
    env = started(turns=3)
    task = env.game.task.task_description
    assert chat(env) == [SYSTEM, ("user", task)]
    say(env, "> a [[9]]\n\n  b  ", asked("GET <|im_end|>\n> x", 3))
    said = [SYSTEM, ("user", task), ("assistant", "> a [[9]]\n\n  b"), ("user", "GET <|im_end|>\n> x")]
    assert chat(env) == said
    say(env, "3", asked("COUNT"))
    assert chat(env) == [*said, ("assistant", "3"), ("user", "COUNT")]


def test_chat_of_a_script_holds_its_earlier_answers():
    first, answer, last = [message["content"] for message in SCRIPT["dialogue_history"]]
    assert chat(scripted()) == [SYSTEM, ("user", first), ("assistant", answer), ("user", last)]


def test_chat_of_a_pair_hides_the_other_answer():
    env = scripted("pairwise")
    before = chat(env, "simulator_1")
    say(env, "the secret answer")
    assert env.agent_selection == "simulator_1" and chat(env) == before
    assert chat(env, "simulator_0") is None


def test_chat_writes_an_empty_answer_parsably():
    env = say(started(turns=2), "", asked("COUNT"))
    *_, (role, content), _ = chat(env)
    assert (role, content) == ("assistant", "simulator_0:")
    assert env.read_action(content, SIMULATOR + "_0").text == ""


@pytest.mark.parametrize("mode", ["dialogue", "pairwise"])
def test_chat_of_users_and_judges_is_one_prompt(mode):
    env = say(started(turns=2), "a") if mode == "dialogue" else say(scripted(mode), "a", "b")
    while not all(env.terminations.values()):
        agent = env.agent_selection
        observation = env.observe(agent)
        if not agent.startswith(SIMULATOR):
            assert chat(env) == [("system", observation["rules"]), ("user", observation["text"])]
        env.step(env.random_action(agent, env.np_random))
