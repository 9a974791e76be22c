"""The truth where an engine stands behind a task: what the simulated thing answers, and whether an answer equals that.

SimulBench (arXiv 2409.07641) has judges' scores only; this is what they can be held against.
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
    """Returns the request with which a description ends that stands on an engine: all behind its last ``First request:``.

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
    """Checks that a task has no engine, or one that there is and a description that says what it is asked first.

    Raises:
        OptionError: if it has not.
    """
    if task.engine:
        check_choice(f"tasks: {task.id!r:.60}: engine", task.engine, ENGINES)
        first_request(task)


def engine_of(task: Task, *, programs: bool = True) -> Engine | None:
    """Returns the engine of a task in its first state.

    Args:
        task: the task.
        programs: whether it may be one that runs requests as programs.

    Returns:
        The engine; ``None`` if the task has none, or none of that kind, or what it needs is not on this machine.
    """
    if not task.engine or (not programs and ENGINES[task.engine].runs_programs):
        return None
    from llmarena_envs.sandbox import SandboxError

    try:
        return make_engine(task.engine)
    except SandboxError:
        return None


def is_exact(answer: str, truth: str) -> bool:
    """Says whether an answer is what the engine answers, but for blanks at ends of lines and a fence around the whole."""
    wanted = plain(as_said(truth))
    return wanted in (plain(answer), plain(unfenced(answer)))


def is_format_flawed(answer: str, truth: str) -> bool:
    """Says whether an answer is not exact and yet has the right content within other text.

    That is, as lines of their own, with marks around them perhaps; behind a colon; or with other blanks.
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
    """Returns a text without blanks at the ends of its lines and empty lines around it."""
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
