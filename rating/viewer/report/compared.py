"""Comparisons of policies as text: verdicts, evidence and limits."""

from collections.abc import Sequence

from llmarena_envs.core.terminal import printable
from rating.stats.compare import Champion, ConfidenceSequence, PolicyComparison, elo_of
from rating.stats.estimates import Estimate
from rating.stats.units import BATTLES, DEALS, MATCHED, PAIRS, ROUNDS, SHARED
from rating.viewer.isomorphs import Gap

_UNITS = {
    PAIRS: ("pair", "a pair is a deal played from both seats"),
    MATCHED: ("matched pair", "a matched pair is two deals, one from each seat"),
    DEALS: (
        "deal",
        "a deal is all of its matches in the recorded seats: not corrected for seat advantage or position bias",
    ),
    BATTLES: (
        "battle",
        "battles without questions and positions: taken as independent, not corrected for position bias",
    ),
    SHARED: (
        "shared deal",
        "a shared deal has equally many finished matches of both policies; the higher mean result is ahead",
    ),
    ROUNDS: ("round", "a round is one unit of each environment: a pair, a deal or a battle"),
}

_NAME = 200


def name(text: str) -> str:
    """Returns a policy name for display: one line, at most ``_NAME`` characters, without control sequences."""
    shown = " ".join(printable(text).split())
    return shown if len(shown) <= _NAME else f"{shown[: _NAME - 3]}..."


def verdict(comparison: PolicyComparison) -> str:
    """Returns the verdict of a comparison as a sentence."""
    return _verdict(comparison, comparison.better)


def lines(comparison: PolicyComparison, difference: Estimate | None = None) -> list[str]:
    """Returns the evidence for a verdict, and the expected effect of more units.

    Args:
        comparison: comparison of two policies.
        difference: mean of the first policy minus mean of the second, on shared deals.
    """
    unit, meaning = _UNITS[comparison.unit]
    if not comparison.units:
        return [f"no {unit} yet; {meaning}"]
    elo = "" if comparison.unit == SHARED else f", {_elo(comparison.elo)},"
    told = [
        f"{_share(comparison)}{elo} over {count(comparison.units, unit)}",
        *([] if difference is None else [_difference(difference)]),
        f"evidence: {_evidence(comparison)}",
    ]
    if comparison.equal_margin is not None:
        told.append(
            f"evidence that they are equal within {_margin(comparison, comparison.equal_margin)}:"
            f" e = {_number(comparison.equal_evidence)} ({comparison.equal_needed:.4g} needed)"
        )
    if comparison.more is not None:
        told.append(f"more: {_more(comparison)}")
    if comparison.left_out and comparison.unit == SHARED:
        told.append(f"left out: {count(comparison.left_out, 'deal')} with fewer finished matches of one policy")
    elif comparison.left_out:
        told.append(f"left out: {count(comparison.left_out, 'match')} without the match with exchanged seats")
    return [*told, meaning, *comparison.notes]


def champion_lines(champion: Champion) -> list[str]:
    """Returns a sentence per challenger, with verdicts corrected for all challengers together (Holm)."""
    told = []
    for comparison, p, better in zip(champion.comparisons, champion.p, champion.better, strict=True):
        unit, _ = _UNITS[comparison.unit]
        evidence = (
            f"{_share(comparison)} over {count(comparison.units, unit)}, corrected p <= {_p(p)}"
            if comparison.units
            else f"no {unit} yet"
        )
        told.append(f"{_verdict(comparison, better)}; {evidence}")
    number = len(champion.comparisons)
    told.append(
        f"verdicts: corrected for all {number} comparisons (Holm, level {champion.level:g}); intervals: not corrected"
        if number > 1
        else f"verdict: level {champion.level:g}"
    )
    return told


def gap_line(gap: Gap) -> str:
    """Returns the gap of a policy between a game in other names and in its own."""
    what = "score" if gap.is_score else "result"
    unpaired = (
        f"; left out: {count(gap.unpaired, 'match')} without the same match in its own names" if gap.unpaired else ""
    )
    return (
        f"{name(gap.policy)}: {_difference(gap.difference)}; mean {what} {gap.renamed:.3g} minus {gap.plain:.3g}; over"
        f" {count(gap.pairs, 'pair')} of matches on {count(gap.difference.n, 'deal')}{unpaired}"
    )


def limits(comparisons: Sequence[PolicyComparison], results: int, *, averaged: bool) -> list[str]:
    """Returns claims that the comparisons support, and claims that they do not.

    Args:
        comparisons: one or more, at the same level.
        results: number of environments or parts of environments.
        averaged: whether the average over the environments is compared too.
    """
    first = comparisons[0]
    told = [
        f"Supported: a verdict. Its error probability is at most {first.level:g} under repeated looks and optional stopping, if"
        " policies, level and margin were chosen before the results were seen.",
        "Not supported: equality of undecided policies, e as the probability of being better, other opponents, options or"
        " prompts.",
    ]
    if any(comparison.unit == SHARED for comparison in comparisons):
        told.append(
            "On shared deals a verdict says which policy is ahead on more deals, not by how much; the mean difference and its"
            " interval hold for one look."
        )
    if results > 1:
        told.append(
            f"Each of the {results} results has a verdict of its own: choose beforehand which one counts"
            f"{', or take the average' if averaged else ''}."
        )
    return told


def _verdict(comparison: PolicyComparison, better: str | None) -> str:
    a, b = name(comparison.a), name(comparison.b)
    by = f" by more than {_margin(comparison, comparison.margin)}" if comparison.margin else ""
    within = _margin(comparison, comparison.equal_margin or 0)
    is_shared = comparison.unit == SHARED
    if better:
        worse = comparison.b if better == comparison.a else comparison.a
        but = f", and within {within} of it" if comparison.equal else ""
        what = "is ahead of" if is_shared else "is better than"
        return f"{name(better)} {what} {name(worse)}{' on more deals' if is_shared else ''}{by}{but}"
    if comparison.equal:
        return f"{a} and {b} are equal within {within}"
    return f"undecided whether {a} or {b} is {'ahead on more deals' if is_shared else 'better'}{by}"


def _evidence(comparison: PolicyComparison) -> str:
    reached = f", reached after {comparison.after}" if comparison.after and comparison.after < comparison.units else ""
    sides = ", ".join(
        f"e = {_number(side.e)} that {name(policy)} is {'ahead' if comparison.unit == SHARED else 'better'}"
        + (f" ({_number(side.peak)} at its highest)" if _fell(side.e, side.peak) else "")
        for policy, side in ((comparison.a, comparison.a_better), (comparison.b, comparison.b_better))
    )
    return f"{sides}; {comparison.needed:.4g} needed{reached}; p <= {_p(comparison.p)}"


def _fell(e: float, peak: float) -> bool:
    """Returns whether an e-value is noticeably below its peak. Every e-value starts at 1."""
    return peak > 1.05 * e and peak > 1


def _more(comparison: PolicyComparison) -> str:
    more = comparison.more
    assert more is not None
    unit = _UNITS[comparison.unit][0]
    if more.median is None:
        return (
            f"{100 * more.decided:.0f} of 100 simulated continuations reach"
            f" {'another' if comparison.better else 'a'} decision within {count(more.limit, f'more {unit}')}"
        )
    most = f"nine of ten within {more.most:,}" if more.most else f"nine of ten in more than {more.limit:,}"
    half = f"half of the simulated continuations decide within {count(more.median, f'more {unit}')}"
    return f"{half}, {most}"


def count(number: int, what: str) -> str:
    """Formats a number with a noun."""
    plural = "es" if what.endswith("ch") else "s"
    return f"{number:,} {what}{'' if number == 1 else plural}"


def _share(comparison: PolicyComparison) -> str:
    """Formats the win rate, or the share of deals."""
    if comparison.unit == SHARED:
        return f"{name(comparison.a)} is ahead on {_rate(comparison.win_rate)} of the deals, ties as halves,"
    return f"win rate of {name(comparison.a)} {_rate(comparison.win_rate)}"


def _difference(difference: Estimate) -> str:
    """Formats a mean difference with its interval."""
    if difference.low is None or difference.high is None:
        return f"mean difference {difference.value:+.3g}, without an interval: few deals, or all alike"
    interval = f"[{difference.low:+.3g}, {difference.high:+.3g}]"
    return f"mean difference {difference.value:+.3g} {interval} (paired t, 95 %, for one look)"


def _margin(comparison: PolicyComparison, margin: float) -> str:
    """Formats a margin in win rate and Elo, or as a share of deals."""
    if comparison.unit == SHARED:
        return f"{margin:.3g} of the deals"
    elo = elo_of(0.5 + margin) or 0.0
    return f"{margin:.3g} of win rate ({elo:{'.0f' if elo >= 10 else '.2g'}} Elo)"


def _rate(sequence: ConfidenceSequence) -> str:
    value, low, high = (0.0 if end is None else end for end in (sequence.value, sequence.low, sequence.high))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def _elo(sequence: ConfidenceSequence) -> str:
    value = "no finite" if sequence.value is None else _signed(sequence.value)
    low = "-∞" if sequence.low is None else _signed(sequence.low)
    high = "∞" if sequence.high is None else _signed(sequence.high)
    return f"{value} Elo [{low}, {high}]"


def _signed(elo: float) -> str:
    return f"{round(elo):+d}"


def _number(e: float | None) -> str:
    """Formats an e-value."""
    if e is None:
        return "-"
    return f"{e:,.0f}" if 100 <= e < 1e6 else f"{e:.3g}"


def _p(p: float) -> str:
    return f"{p:.2g}"
