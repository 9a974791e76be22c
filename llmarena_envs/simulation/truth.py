"""Reference answers of a task's engine, and comparison with them.

SimulBench (arXiv 2409.07641) has only judges' scores; these comparisons can validate them.
"""

import re

from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.simulation.engines import ENGINES, make_engine
from llmarena_envs.simulation.engines.engine import Engine
from llmarena_envs.simulation.speech import as_said, unfenced
from llmarena_envs.simulation.tasks import Task

_FIRST = re.compile(r"^(?:First request|第一个请求)[ \t]*+[:：][ \t]*+", re.MULTILINE)
_MARKS = " \t`*\"'“”‘’「」"
_WORD_OR_SIGN = re.compile(r"\w++|[^\w\s]")
_LABELLED = re.compile(r"[^:：\n]{1,80}+[:：][ \t]*+(?P<value>[^\n]++)")


def first_request(task: Task) -> str:
    """Returns the first request in the description of a task with an engine: the text after its last ``First request:``.

    Raises:
        OptionError: if the description has none.
    """
    marks = list(_FIRST.finditer(task.task_description))
    if not marks:
        raise OptionError(
            f"tasks: {task.id!r:.60} has the engine {task.engine!r}, so its description is expected to end with a line"
            " 'First request: ...', which is what the engine is asked first"
        )
    return task.task_description[marks[-1].end() :]


def check_engine(task: Task) -> None:
    """Checks that a task has no engine, or an existing one and a description with a first request.

    Raises:
        OptionError: if the check fails.
    """
    if task.engine:
        check_choice(f"tasks: {task.id!r:.60}: engine", task.engine, ENGINES)
        first_request(task)


def engine_of(task: Task, *, programs: bool = True) -> Engine | None:
    """Returns the engine of a task in its initial state.

    Args:
        task: the task.
        programs: whether to allow engines that run requests as programs.

    Returns:
        The engine; ``None`` if the task has none, it is not allowed, or its requirements are missing on this machine.
    """
    if not task.engine or (not programs and ENGINES[task.engine].runs_programs):
        return None
    from llmarena_envs.sandbox import SandboxError

    try:
        return make_engine(task.engine)
    except SandboxError:
        return None


def is_exact(answer: str, truth: str) -> bool:
    """Returns whether an answer equals the engine's, ignoring trailing blanks and a fence around the whole."""
    wanted = plain(as_said(truth))
    return wanted in (plain(answer), plain(unfenced(answer)))


def is_format_flawed(answer: str, truth: str) -> bool:
    """Returns whether an answer is not exact but contains the right content within other text.

    The content must be on lines of its own, possibly with marks around them, or after a colon, or differ in blanks.
    """
    wanted = plain(as_said(truth))
    if is_exact(answer, truth) or not wanted:
        return False
    if _WORD_OR_SIGN.findall(answer) == _WORD_OR_SIGN.findall(wanted):
        return True
    lines = [line.strip(_MARKS) for line in plain(answer).split("\n")]
    if "\n" not in wanted:
        lines += [match["value"].strip(_MARKS) for line in lines if (match := _LABELLED.fullmatch(line))]
    bare = "\n".join(line.strip(_MARKS) for line in wanted.split("\n"))
    return f"\n{bare}\n" in "\n{}\n".format("\n".join(lines))


def plain(text: str) -> str:
    """Returns a text without trailing blanks and surrounding empty lines."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
