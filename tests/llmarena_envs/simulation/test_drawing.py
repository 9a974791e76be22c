"""Pictures of simulation."""

import pytest

from tests.llmarena_envs.simulation.matches import TRUTH, asked, say, scripted, started
from tests.support.pictures import height, shown, texts_outside


def test_drawing_shows_dialogue_to_all_and_engine_to_spectators():
    env = say(started(turns=2), "my answer", asked("my request"))
    for agent in env.possible_agents:
        text = shown(env.draw(agent))
        assert "my answer" in text and "my request" in text and TRUTH not in text
    text = shown(env.draw())
    assert TRUTH in text and "not what the engine answers" in text


def test_simulator_learns_its_task_from_the_user_only():
    env = started()
    act = env.game.task.act
    assert act in shown(env.draw("user_0")).split("\n") and act not in shown(env.draw("simulator_0")).split("\n")


def test_simulators_see_their_own_answer_and_judges_see_both():
    env = say(scripted("pairwise", n_judges=1), "answer one", "answer two")
    assert "answer one" not in shown(env.draw("simulator_1")) and "answer two" in shown(env.draw("simulator_1"))
    assert "Response A: answer one" in shown(env.draw("judge_0"))
    say(env, "[[A]]")
    assert "Response B: answer one" in shown(env.draw("judge_0")), "the second order"
    say(env, "[[B]]")
    text = shown(env.draw())
    assert "judge_0 verdict: A" in text and "simulator_0 wins" in text


def test_judges_see_both_answers_at_any_length():
    env = say(scripted("pairwise", n_judges=1), "answer one\n" * 100, "answer two\n" * 100)
    text = shown(env.draw("judge_0"))
    assert "answer one" in text and "answer two" in text


def test_ratings_are_for_spectators():
    env = say(started(turns=1, n_judges=2), "my answer", "Well done. Rating: [[7.5]]", "Poor. Rating: [[2]]")
    text = shown(env.draw())
    assert "judge_0 rating: 7.5: Well done." in text and "4.75" in text
    assert "Well done." not in shown(env.draw("simulator_0")) + shown(env.draw("judge_1"))


@pytest.mark.slow
def test_long_texts_and_many_judges_find_room():
    env = started(turns=10, n_judges=9, language="zh")
    while not env.terminations[env.agent_selection]:
        agent, text = env.agent_selection, "<&> " * 10_000
        env.step(asked(text) if agent == "user_0" else f"{text}Rating: [[5]]" if agent[0] == "j" else text)
    for seat in (None, "judge_0"):
        picture = env.draw(seat)
        assert height(picture) <= 1200 and len(picture) < 100_000
        assert not texts_outside(picture)
