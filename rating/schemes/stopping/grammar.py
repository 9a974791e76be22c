"""What a stop rule of rated two-player environments may say, and how it is read.

A rule is one or more conditions joined by ``+``; it stops when all of them hold:

* ``trueskill``: TrueSkill has converged (LLMArena, arXiv 2402.16499). Alone it is the paper's rule, in match order,
  and promises nothing of the order of the policies; with others beside it, it is averaged over random orders of the matches;
* ``order``: the same as ``spearman=0.95``;
* ``spearman=X``: the expected rank correlation of the order with the true one is X or more, e.g. 0.99;
* ``separated``: of every two neighbours it is known who is ahead; ``separated=ELO``: or that they are no further apart than that;
* ``width=ELO``: every rating is known to so much on either side.
"""

import math
from collections.abc import Callable

from llmarena_envs.core.options import OptionError
from rating.schemes.stopping.conditions import (
    Condition,
    NarrowIntervals,
    OrderFreeTrueSkill,
    OrderKnown,
    Separated,
    TrueSkillInMatchOrder,
)

DEFAULT_RULE = "trueskill+order"
ORDER_LEVEL = 0.95
"""Expected rank correlation that ``order`` asks for."""

TRUESKILL = "trueskill"
"""The paper's rule, alone; a condition beside others."""

_FORMS = "trueskill, order, spearman=0.99, separated, separated=60, width=60"
_TAKES_VALUE = {"spearman": (True,), "separated": (True, False), "width": (True,), TRUESKILL: (False,)}
_MOST_ELO = 10_000.0


def read_conditions(rule: str, *, window: int, eps: float, sigma: float) -> tuple[Condition, ...]:
    """Reads a rule.

    Args:
        rule: its text.
        window: of ``trueskill``: own matches ago with which a policy's mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.

    Returns:
        The conditions, those that cost most to ask last.

    Raises:
        OptionError: if it is no rule; the message names what is allowed.
    """
    parts = [part.strip() for part in rule.split("+")]
    if parts == [TRUESKILL]:
        return (TrueSkillInMatchOrder(window, eps, sigma),)
    readers: dict[str, Callable[[str], Condition]] = {
        "spearman": lambda text: OrderKnown(_number(rule, text, 1.0)),
        "separated": lambda text: Separated(_number(rule, text, _MOST_ELO) if text else 0.0),
        "width": lambda text: NarrowIntervals(_number(rule, text, _MOST_ELO)),
        TRUESKILL: lambda text: OrderFreeTrueSkill(window, eps, sigma),
    }
    values: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if (name, equals) == ("order", ""):
            name, equals, value = "spearman", "=", str(ORDER_LEVEL)
        if bool(equals) not in _TAKES_VALUE.get(name, ()) or (equals and not value):
            raise _refusal(rule, f"got {part[:40]!r}")
        if name in values:
            raise _refusal(rule, f"got {name!r} twice")
        values[name] = value
    return tuple(read(values[name]) for name, read in readers.items() if name in values)


def _number(rule: str, text: str, below: float) -> float:
    """Reads a number between 0 and a limit, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < below:
        raise _refusal(rule, f"got {text[:40]!r} where a number above 0 and below {below:g} was expected")
    return value


def _refusal(rule: str, got: str) -> OptionError:
    return OptionError(f"stop rule: expected one of these, or several joined by '+': {_FORMS}; {got} in {rule[:80]!r}")
