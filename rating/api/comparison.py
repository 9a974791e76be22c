"""Comparisons of two policies by battles from any source."""

from llmarena_envs.core.options import OptionError, check_choice
from rating.api.data import Battles, battles_of
from rating.stats.compare import LEVEL, PolicyComparison, compare_units
from rating.stats.units import units_of


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
    """Tests whether one policy is better than another; valid under repeated looks (anytime-valid).

    Args:
        battles: of any policies, see ``rating.api.data.Battles``; other pairs are ignored.
        a: name of a policy.
        b: name of the other policy.
        level: maximum probability of a wrong claim over all looks.
        margin: a policy is better if its win rate is above a half by more than this, 0 or more and below a half.
        equal: margin within which they are called equal, above ``margin`` and below a half; leave it out to skip this test.
        seated: whether the first and second of a battle are seats; then only deals played from both seats count.
        ordered: whether the order of battles does not depend on results, e.g. schedule order; then a decision stays final,
            regardless of later battles.
        seed: of the forecast of further battles.

    Raises:
        ValueError: naming the entry that is not a battle.
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
