"""Comparisons of two policies by battles from anywhere."""

from llmarena_envs.core.options import OptionError, check_choice
from rating.api.data import Battles, battles_of
from rating.statistics.comparing import LEVEL, PolicyComparison, compare_units
from rating.statistics.units import units_of


def compare(
    battles: Battles,
    a: str,
    b: str,
    *,
    level: float = LEVEL,
    margin: float = 0.0,
    equal: float | None = None,
    seated: bool = False,
    ordered: bool = False,
    seed: int = 0,
) -> PolicyComparison:
    """Says whether one policy is better than another; the answer holds whenever one looks.

    Args:
        battles: of any policies, see ``rating.api.data.Battles``; those of other pairs are not looked at.
        a: name of the one.
        b: name of the other.
        level: probability of a wrong claim, at most, over all looks.
        margin: a policy is better if its win rate is above a half by more than this, 0 or more and below a half.
        equal: margin within which they are called equal, above ``margin`` and below a half; leave it out not to ask.
        seated: whether the first and the second of a battle are seats: then only what was played from both of them counts.
        ordered: whether the battles stand in an order that does not depend on results, e.g. that of a schedule: then what was
            decided once stays decided, however the battles behind it came out.
        seed: of the forecast of what more battles would tell.

    Raises:
        ValueError: if something is no battle; it is said which.
        OptionError: if a name is in no battle, both are the same, or a number is out of its range.
    """
    found = battles_of(battles)
    known = sorted({name for battle in found for name in battle[:2]})
    a, b = str(a), str(b)
    for name in (a, b):
        check_choice("policy", name, known)
    if a == b:
        raise OptionError(f"policies: expected different ones, got {a!r:.200} and {b!r:.200}")
    units = units_of(found, a, b, seated=seated, ordered=ordered)
    return compare_units(units, a, b, level=level, margin=margin, equal=equal, seed=seed)
