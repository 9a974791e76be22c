"""Pictures of writer and editor."""

import json

import pytest

from llmarena_envs import writer_editor_v0
from tests.support.pictures import height, shown, texts_outside

PROBLEM = {
    "text": "Write a function that adds.",
    "code": "def add(a, b):\n    return a + b  # the solution",
    "test_list": ["assert add(1, 2) == 3"],
}


def written(*replies, **options):
    env = writer_editor_v0.raw_env(**{"tasks": [PROBLEM], "objective": False, "n_judges": 2, **options})
    env.reset(seed=0)
    for reply in replies:
        env.step(env.parse(reply, env.agent_selection))
    return env


def scores(writer, editor, reasons="It adds."):
    given = {"Programmer": writer, "Reviewer": editor}
    return json.dumps({name: {"evaluation": reasons, "score": score} for name, score in given.items()})


PROGRAM = "```python\ndef add(a, b):\n    return a - b\n```"


def test_drawing_shows_task_and_texts_but_never_the_solution():
    env = written(PROGRAM, "You subtract.")
    for seat in (None, *env.possible_agents):
        text = shown(env.draw(seat))
        assert "Write a function that adds." in text and "    return a - b" in text and "You subtract." in text
        assert "the solution" not in text and "assert" not in text


def test_scores_are_for_spectators_once_all_are_given():
    env = written(PROGRAM, "over", scores(7, 2.5))
    assert "2.5" not in shown(env.draw())
    env.step(scores(8, 3.5))
    text = shown(env.draw())
    assert (
        "7 for Programmer, 2.5 for Reviewer: Programmer: It adds." in text
        and "7.5 for Programmer, 3 for Reviewer" in text
    )
    assert "2.5" not in shown(env.draw("writer_0")) + shown(env.draw("judge_1"))


@pytest.mark.slow
def test_long_texts_and_many_judges_find_room():
    program = "```python\ndef add(a, b):\n" + "    a += '<&>'\n" * 1000 + "```"
    turns = [program, "Rename &<b>. " * 1000] * 10
    env = written(*turns, *[scores(1, 10, "<&> " * 500)] * 9, n_judges=9, max_rounds=10, language="zh")
    for seat in (None, "editor_0"):
        picture = env.draw(seat)
        assert height(picture) <= 1200 and len(picture) < 100_000
        assert not texts_outside(picture)
