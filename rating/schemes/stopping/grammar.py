"""Syntax of the stopping rules of rated two-player environments.

A rule is one or more conditions joined by ``+``; it stops when all of them hold:

* ``order``: the same as ``spearman=0.95``;
* ``spearman=X``: the expected rank correlation with the true ranking is at least X, e.g. 0.99;
* ``top=K``: the set of the best K policies is known, with probability 0.95;
* ``separated``: the order of every two neighbours is established; ``separated=ELO``: or their difference is at most ELO;
* ``width=ELO``: every rating has an interval of at most ELO to either side.

``trueskill``, alone, is the rule of LLMArena (arXiv 2402.16499): TrueSkill in match order has converged. It does not ensure that
the order of the policies is correct.
"""

import math
from collections.abc import Callable

from llmarena_envs.core.options import OptionError
from rating.schemes.stopping.conditions import (
    Condition,
    NarrowIntervals,
    OrderKnown,
    Separated,
    TopKnown,
    TrueSkillInMatchOrder,
)

DEFAULT_RULE = "order"
ORDER_LEVEL = 0.95
"""Expected rank correlation required by ``order``."""

TRUESKILL = "trueskill"
"""The paper's rule, which cannot be combined with others."""

_FORMS = "order, spearman=0.99, top=3, separated, separated=60, width=60"
_TAKES_VALUE = {"spearman": (True,), "separated": (True, False), "width": (True,), "top": (True,)}
_MOST_ELO = 10_000.0
_MOST_POLICIES = 10_000


def read_conditions(rule: str, *, window: int, eps: float, sigma: float) -> tuple[Condition, ...]:
    """Parses a rule.

    Args:
        rule: its text.
        window: for ``trueskill``: number of a policy's last matches over which its mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.

    Returns:
        The conditions, the most expensive to check last.

    Raises:
        OptionError: if the rule is invalid; the message names the allowed conditions.
    """
    parts = [part.strip() for part in rule.split("+")]
    if parts == [TRUESKILL]:
        return (TrueSkillInMatchOrder(window, eps, sigma),)
    readers: dict[str, Callable[[str], Condition]] = {
        "spearman": lambda text: OrderKnown(_number(rule, text, 1.0)),
        "top": lambda text: TopKnown(_count(rule, text)),
        "separated": lambda text: Separated(_number(rule, text, _MOST_ELO) if text else 0.0),
        "width": lambda text: NarrowIntervals(_number(rule, text, _MOST_ELO)),
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
    """Parses a number between 0 and a limit, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < below:
        raise _refusal(rule, f"got {text[:40]!r} where a number above 0 and below {below:g} was expected")
    return value


def _count(rule: str, text: str) -> int:
    """Parses a number of policies."""
    if not text.isdecimal() or not 1 <= int(text[:6]) <= _MOST_POLICIES:
        raise _refusal(rule, f"got {text[:40]!r} where a number of policies from 1 was expected")
    return int(text)


def _refusal(rule: str, got: str) -> OptionError:
    return OptionError(
        f"stop rule: expected trueskill, or one or several of these joined by '+': {_FORMS}; {got} in {rule[:80]!r}"
    )
