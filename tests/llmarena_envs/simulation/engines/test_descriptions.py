"""Task descriptions agree with their engines."""

import re

import pytest

from llmarena_envs.sandbox.programs import PROGRAMS
from llmarena_envs.simulation.engines import make_engine
from llmarena_envs.simulation.engines.key_value import COMMANDS
from llmarena_envs.simulation.engines.shell_session import ENVIRONMENT, FIRST_FILES
from llmarena_envs.simulation.tasks import shipped_tasks
from tests.llmarena_envs.simulation.engines import test_key_value, test_regex_tester


def _descriptions(language: str) -> dict[str, str]:
    return {task.engine: task.task_description for task in shipped_tasks(language) if task.engine}


DESCRIPTIONS = _descriptions("en")
CHINESE = _descriptions("zh")
EXAMPLES = {"key_value": test_key_value.EXAMPLES, "regex_tester": test_regex_tester.EXAMPLES}


@pytest.mark.parametrize("engine", EXAMPLES)
def test_the_first_example_answers_the_first_request(engine):
    assert DESCRIPTIONS[engine].endswith(f"\n\nFirst request: {EXAMPLES[engine][0][0]}")


@pytest.mark.parametrize("engine", CHINESE)
def test_chinese_description_has_the_english_messages(engine):
    english = DESCRIPTIONS[engine].rpartition("\n\n")[0]
    messages = re.findall(r"(?:ERROR:|\(error\)|\w+Error:) (?!and )[^,:;()\n.]+[^,:;()\n. ]", english)
    names = re.findall(r"\b(?:[A-Z]{3,}|\w+_\w+)\b|\\\w", english)
    assert len(messages) > 3
    assert [text for text in [*messages, *names] if text not in CHINESE[engine]] == []


def test_chinese_first_states():
    _, rows = make_engine("sql").state().split(";\n")
    assert f"\n{rows}\n" in CHINESE["sql"]
    assert all(name in CHINESE["key_value"] for name in COMMANDS)


def test_first_states_and_commands():
    assert all(name in DESCRIPTIONS["key_value"] for name in COMMANDS)
    for path, text in FIRST_FILES.items():
        assert f"\n{path}: {' / '.join(text.splitlines())}\n" in DESCRIPTIONS["shell"]
    assert f"only these programs: {', '.join(sorted(PROGRAMS))}. " in DESCRIPTIONS["shell"]
    assert [name for name in ENVIRONMENT if name not in DESCRIPTIONS["shell"]] == ["TIME_STYLE"]
