"""How a game is shown."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from llmarena_envs.core.grid import Part
from llmarena_envs.core.named_moves import Spellings


def _numbers(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(map(str, actions))


def _no_spellings(env: Any, agent: str, actions: tuple[int, ...], names: tuple[str, ...]) -> Spellings:
    return ()


class Rendering(NamedTuple):
    """How a game is shown. The functions get PettingZoo's environment, an agent and actions.

    Attributes:
        render: makes the parts of a position; ``None`` for the observation.
        names: returns the names of actions; different actions have different names.
        spellings: returns further accepted spellings of actions with these names, each with the index of its action.
        facts: returns values for the placeholders of the rules.
        guard: the context in which the environment is used.
    """

    render: Callable[[Any, str], tuple[Part, ...]] | None = None
    names: Callable[[Any, str, tuple[int, ...]], tuple[str, ...]] = _numbers
    spellings: Callable[[Any, str, tuple[int, ...], tuple[str, ...]], Spellings] = _no_spellings
    facts: Callable[[Any], dict[str, object]] = lambda env: {}
    guard: Callable[[Any], AbstractContextManager[Any]] = nullcontext
