r"""Engines: things that answer exactly, on which tasks can stand.

::

    engine = make_engine("sql")
    engine.respond("SELECT 1 + 1 AS two;")  # "two\n2"
"""

import importlib
from collections.abc import Iterator, Mapping

from llmarena_envs.core.options import check_choice
from llmarena_envs.simulation.engines.engine import Engine

_CLASSES = {
    "sql": "SQLTerminal",
    "python": "PythonPrompt",
    "shell": "Shell",
    "tictactoe": "TicTacToeOpponent",
    "key_value": "KeyValueServer",
    "regex_tester": "RegexTester",
}
"""The class of each engine, in the module of the engine's name."""


class _Engines(Mapping[str, type[Engine]]):
    """The engines' classes by name; a module is imported when its class is asked for."""

    def __getitem__(self, name: str) -> type[Engine]:
        kind = _CLASSES[name]
        found: type[Engine] = getattr(importlib.import_module(f"{__name__}.{name}"), kind)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


ENGINES: Mapping[str, type[Engine]] = _Engines()


def make_engine(name: str) -> Engine:
    """Returns an engine in its first state.

    Raises:
        OptionError: if there is no engine of that name.
        SandboxError: if the engine needs a sandbox and there is none on this machine.
    """
    check_choice("engine", name, ENGINES)
    return ENGINES[name]()
