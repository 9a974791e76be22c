"""Exact comparison of answers with an engine's."""

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.tasks import LANGUAGES, load_tasks
from llmarena_envs.simulation.truth import engine_of, first_request, is_exact, is_format_flawed
from tests.llmarena_envs.option_sets.simulation_v0 import TASKS

TABLE = "title | year\nSalt | 2004"


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        (TABLE, TABLE),
        ("title | year  \nSalt | 2004\n\n", TABLE),
        (f"```\n{TABLE}\n```", TABLE),
        (f"```sql\n{TABLE}\n```\n", TABLE),
        (f"```python3\n{TABLE}\n```", TABLE),
        ("```\n```", ""),
        ("", ""),
        ("", "\n"),
        ("```\nx\n```", "```\nx\n```"),
        ("", "<think>"),
        ("  X|_|_", "  X|_|_\n"),
    ],
)
def test_exact(answer, truth):
    assert is_exact(answer, truth) and not is_format_flawed(answer, truth)


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        (f"Here is the result:\n{TABLE}\nShall I go on?", TABLE),
        (f"Here is the result:\n```\n{TABLE}\n```", TABLE),
        ("The answer is: 42", "42"),
        ("`42`", "42"),
        ("输出：**42**", "42"),
        ("title|year\nSalt|2004", TABLE),
        ("user> SELECT\n42\nuser> SELECT 2\n2", "42"),
    ],
)
def test_the_right_content_in_another_format(answer, truth):
    assert is_format_flawed(answer, truth) and not is_exact(answer, truth)


@pytest.mark.parametrize(
    ("answer", "truth"),
    [
        ("421", "42"),
        ("I have 42 apples", "42"),
        ("SELECT 42;", "42"),
        ("Salt | 2004\ntitle | year", TABLE),
        ("[73]", "[7 3]"),
        ("1 2", "12"),
        ("title | year", TABLE),
        ("nothing", ""),
        (" X|_|_", "X|_|_ _"),
        ("", "42"),
    ],
)
def test_neither(answer, truth):
    assert not is_exact(answer, truth) and not is_format_flawed(answer, truth)


def test_task_with_engine_states_the_first_request():
    (task,) = load_tasks([{**TASKS[0], "task_description": "First request: no\nFirst request：GET visits\nmore"}])
    assert first_request(task) == "GET visits\nmore"
    engine, other = engine_of(task), engine_of(task)
    assert engine is not None and other is not None
    engine.respond("DEL visits")
    assert other.respond("GET visits") == '"41"' and engine.respond("GET visits") == "(nil)"
    with pytest.raises(OptionError, match=r"'store' has the engine 'key_value'.*First request"):
        first_request(task._replace(task_description="A store."))


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_task_that_comes_with_an_engine_can_be_asked(language):
    tasks = [task for task in load_tasks("builtin", language) if task.engine]
    assert len(tasks) >= 4
    for task in tasks:
        engine = engine_of(task)
        assert engine is None or engine.respond(first_request(task))
