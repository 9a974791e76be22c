import re

import pytest

from llmarena_envs.core.options import OptionError
from llmarena_envs.simulation.engines import ENGINES, make_engine
from llmarena_envs.simulation.engines.engine import CUT, MAX_OUTPUT, Engine, cut_output, fault
from llmarena_envs.simulation.tasks import LANGUAGES, shipped_tasks

FIRST = re.compile("\n\n(?:First request: |第一个请求：)")
TASKS = [task for language in LANGUAGES for task in shipped_tasks(language) if task.engine]


def test_every_engine_is_found_by_its_name():
    assert {name: kind.name for name, kind in ENGINES.items()} == {name: name for name in ENGINES}
    assert all(issubclass(kind, Engine) for kind in ENGINES.values())
    with pytest.raises(OptionError, match="did you mean 'tictactoe'"):
        make_engine("tictacto")


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_first_request_is_the_last_line_of_the_description(task):
    description, request = FIRST.split(task.task_description)
    assert description and "\n" not in request
    answer = make_engine(task.engine).respond(request)
    assert answer and "ERROR" not in answer and "error" not in answer


def test_what_no_text_can_hold_is_no_request_and_no_answer():
    assert [fault(text) for text in ("a\n\t\x1b", "a\0", "\udfff", "a" * 10_000)] == [
        "",
        *["unreadable character"] * 2,
        "",
    ]
    assert fault("a" * 10_001) == "request longer than 10000 characters"
    assert cut_output("a\ud800b") == "a?b"


def test_cut_answer_is_marked():
    whole = "a" * MAX_OUTPUT
    assert cut_output(whole) == whole
    cut = cut_output(f"{whole}b")
    assert len(cut) == MAX_OUTPUT and cut.endswith(f"a\n{CUT}")
