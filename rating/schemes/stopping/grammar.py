"""What a stop rule of rated two-player environments may say, and how it is read.

A rule is one or more conditions joined by ``+``; it stops when all of them hold:

* ``order``: the same as ``spearman=0.95``;
* ``spearman=X``: the expected rank correlation of the order with the true one is X or more, e.g. 0.99;
* ``top=K``: the set of the best K policies is known, with probability 0.95;
* ``separated``: of every two neighbours it is known who is ahead; ``separated=ELO``: or that they are no further apart than that;
* ``width=ELO``: every rating is known to so much on either side.

``trueskill``, alone, is the rule of LLMArena (arXiv 2402.16499): TrueSkill in match order has converged. It promises nothing of
the order of the policies.
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
"""Expected rank correlation that ``order`` asks for."""

TRUESKILL = "trueskill"
"""The paper's rule, which is alone."""

_FORMS = "order, spearman=0.99, top=3, separated, separated=60, width=60"
_TAKES_VALUE = {"spearman": (True,), "separated": (True, False), "width": (True,), "top": (True,)}
_MOST_ELO = 10_000.0
_MOST_POLICIES = 10_000


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
    """Reads a number between 0 and a limit, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < below:
        raise _refusal(rule, f"got {text[:40]!r} where a number above 0 and below {below:g} was expected")
    return value


def _count(rule: str, text: str) -> int:
    """Reads a number of policies."""
    if not text.isdecimal() or not 1 <= int(text[:6]) <= _MOST_POLICIES:
        raise _refusal(rule, f"got {text[:40]!r} where a number of policies from 1 was expected")
    return int(text)


def _refusal(rule: str, got: str) -> OptionError:
    return OptionError(
        f"stop rule: expected trueskill, or one or several of these joined by '+': {_FORMS}; {got} in {rule[:80]!r}"
    )
