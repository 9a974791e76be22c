"""The tasks that come with the package."""

from collections import Counter

import pytest

from llmarena_envs.simulation.duplicates import near_duplicates
from llmarena_envs.simulation.engines import ENGINES
from llmarena_envs.simulation.tasks import load_tasks, shipped_tasks

FIRST = {"en": "\nFirst request:", "zh": "\n第一个请求："}


@pytest.mark.parametrize(("language", "counts"), [("en", (17, 21)), ("zh", (8, 8))])
def test_tasks_without_engine_by_type(language, counts):
    tasks = [task for task in load_tasks("builtin", language) if not task.engine]
    assert Counter(task.type for task in tasks) == dict(zip(("stateless", "stateful"), counts, strict=True))
    assert {task.language for task in tasks} == {language}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_description_ends_with_one_first_request(language):
    for task in load_tasks("builtin", language):
        if not task.engine:
            description, _, request = task.task_description.partition(FIRST[language])
            assert len(request.strip()) > 3, task.act
            assert FIRST[language] not in request, task.act
            assert 150 < len(description) < 3_500, task.act


def test_no_task_is_nearly_another_one():
    tasks = shipped_tasks("en") + shipped_tasks("zh")
    assert near_duplicates(tasks) == {}
    assert len({task.id for task in tasks}) == len(tasks)


def test_four_of_twenty_chinese_tasks_have_engines():
    tasks = shipped_tasks("zh")
    assert len(tasks) >= 20
    assert {task.engine for task in tasks} == {"", "sql", "python", "key_value", "regex_tester"}


def test_every_engine_has_a_task():
    named = Counter(task.engine for task in shipped_tasks("en") if task.engine)
    assert named == dict.fromkeys(ENGINES, 1)


def test_near_duplicates_of_a_task():
    lift, bank, clock, *_ = (task for task in shipped_tasks("en") if task.type == "stateful")
    tasks = [
        lift,
        bank._replace(act=lift.act.upper() + "!"),
        bank,
        bank._replace(act="Another", task_description=bank.task_description.replace("Ruiz", "Roux").upper()),
        clock,
    ]
    assert near_duplicates(tasks) == {1: 0, 3: 2}
