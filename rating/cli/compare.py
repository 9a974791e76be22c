"""``llmarena compare``: test whether one policy is better than another, or than itself in other names."""

import argparse
import itertools
import json
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

from llmarena_envs.catalogue import parse_name
from llmarena_envs.core.options import OptionError
from rating.cli.results import add_source, opened
from rating.stats.compare import elo_margin
from rating.stats.units import SHARED
from rating.viewer.comparison import AVERAGE, ComparisonResult, Question, compare_policies, parts_of
from rating.viewer.isomorphs import gaps_of
from rating.viewer.report import compared
from rating.viewer.report.tables import WIDTH
from rating.viewer.source import RunSource


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_source(parser, several=False)
    policies = parser.add_argument(
        "policies", nargs="+", default=[], metavar="POLICY", help="two policies, or any number with --against"
    )
    parser.add_argument(
        "--against",
        default="",
        metavar="POLICY",
        help="compare all policies with this one; with --isomorph: in matches with it",
    )
    parser.add_argument(
        "--environment", default="", metavar="ENV", help="only this environment (default: each, and their average)"
    )
    parser.add_argument(
        "--level", type=float, default=0.05, metavar="P", help="maximum probability of a wrong claim (default 0.05)"
    )
    parser.add_argument(
        "--margin",
        default="0",
        metavar="MARGIN",
        help="required lead, in win rate, e.g. 0.05, or Elo, e.g. 50elo (default 0)",
    )
    parser.add_argument("--equal", metavar="MARGIN", help="also test whether they are equal within this margin")
    parser.add_argument(
        "--isomorph",
        action=_WithoutPolicies,
        policies=policies,
        help="compare each policy with itself: games in other names (NAME?isomorph=SEED) with the same deals in their own",
    )


class _WithoutPolicies(argparse.Action):
    """A flag that makes the policies optional."""

    def __init__(self, option_strings: Sequence[str], dest: str, policies: argparse.Action, **options: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, default=False, **options)
        self._policies = policies

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        self._policies.required = False
        setattr(namespace, self.dest, True)


def main(args: argparse.Namespace) -> None:
    """Prints the comparison of two policies, of challengers with a champion, or of games in other names."""
    if args.isomorph:
        _compare_isomorphs(args)
        return
    with opened(args) as source:
        parts = parts_of(source, args.environment)
        known = sorted({name for part in parts for name in part.policies})
        results = compare_policies(parts, _question(args, known))
    if args.json:
        print(json.dumps([result.to_table() for result in results], indent=2, ensure_ascii=False, allow_nan=False))
    elif any(comparison.units for result in results for comparison in result.comparisons):
        _print(results)
    else:
        print("no pair of matches between these policies, or deal of both, has ended yet", file=sys.stderr)


def _compare_isomorphs(args: argparse.Namespace) -> None:
    """Prints the gap of each policy between games in other names and in their own."""
    if args.policies:
        raise OptionError(f"--isomorph: expected no policies, got {', '.join(args.policies)}")
    with opened(args) as source:
        if not isinstance(source, RunSource):
            raise OptionError(f"--isomorph: expected the directory of a run, got {args.paths}")
        gaps = gaps_of(source, args.environment, args.against)
    if args.json:
        print(json.dumps([gap.to_table() for gap in gaps], indent=2, ensure_ascii=False, allow_nan=False))
        return
    if not gaps:
        print("no match has ended in both names yet", file=sys.stderr)
        return
    for environment, found in itertools.groupby(gaps, lambda gap: gap.environment):
        _print_line(f"{environment} minus {parse_name(environment).module}, the same matches in both")
        for gap in found:
            _print_line(compared.gap_line(gap), "  ")
    _print_line("Negative: worse in other names. A deal is one cluster; the interval holds for one look.")


def _question(args: argparse.Namespace, known: Sequence[str]) -> Question:
    """Returns the question of the flags: challengers (one without ``--against``) and champion, level and margins."""
    names: list[str] = args.policies
    if not args.against and len(names) != 2:
        raise OptionError(
            f"policies: expected two, got {len(names)}; there are {', '.join(known)}"
            "; many are compared with one by --against ONE"
        )
    *challengers, champion = [*names, args.against] if args.against else names
    return Question(
        challengers,
        champion,
        level=args.level,
        margin=_margin("margin", args.margin),
        equal=None if args.equal is None else _margin("equal", args.equal),
        is_joint=bool(args.against),
    )


_MARGIN = re.compile(r"(\d{1,6}(?:\.\d{0,12})?|\.\d{1,12})(elo)?", re.IGNORECASE | re.ASCII)


def _margin(key: str, text: str) -> float:
    """Reads a margin in win rate (``0.05``) or Elo (``50elo``)."""
    found = _MARGIN.fullmatch(text.replace(" ", ""))
    if found is None:
        raise OptionError(f"{key}: expected a part of the win rate, as 0.05, or Elo, as 50elo; got {text!r:.60}")
    value = float(found[1])
    return elo_margin(value) if found[2] else value


def _print(results: Sequence[ComparisonResult]) -> None:
    for result in results:
        label = f"{result.environment}, {result.part}" if result.part else result.environment
        if result.champion is not None:
            _print_line(f"{label}: against {compared.name(result.champion.champion)}")
            lines = compared.champion_lines(result.champion)
        else:
            (comparison,) = result.comparisons
            _print_line(f"{label}: {compared.verdict(comparison)}")
            lines = compared.lines(comparison, result.evidence[0].difference)
        for line in [*lines, *_excluded(result)]:
            _print_line(line, "  ")
    single = sum(result.environment != AVERAGE for result in results)
    comparisons = [comparison for result in results for comparison in result.comparisons]
    for line in compared.limits(comparisons, single, averaged=single < len(results)):
        _print_line(line)


def _print_line(line: str, indent: str = "") -> None:
    """Prints a line, wrapped at ``WIDTH`` characters."""
    print(textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False))


def _excluded(result: ComparisonResult) -> list[str]:
    """Returns lines about excluded matches, forfeits and fallbacks."""
    waiting = sum(evidence.waiting for evidence in result.evidence)
    without = sum(evidence.without_result for evidence in result.evidence)
    lines = []
    if waiting:
        lines.append(f"under way: {compared.count(waiting, 'match')} played now, or behind one of theirs that is")
    if without:
        lines.append(
            f"without result: {compared.count(without, 'match')}, left out;"
            " right if failing has nothing to do with who would have won"
        )
    counted = "which count" if result.comparisons[0].unit == SHARED else "counted as lost"
    for name, own in (entry for evidence in result.evidence for entry in evidence.conduct.items()):
        if own.forfeits:
            lines.append(f"{compared.name(name)} forfeited {compared.count(own.forfeits, 'match')}, {counted}")
        if own.fallback_share:
            lines.append(f"{compared.name(name)}: {own.fallback_share:.0%} of its turns were played for it")
    return lines
