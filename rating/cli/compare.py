"""``llmarena compare``: test whether one policy is better than another, valid at any moment of a run."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError, check_choice
from rating.cli import flags
from rating.play import run_directory
from rating.play.contests import make_scheme
from rating.readers.so_far import Conduct, conduct, ended, so_far
from rating.schemes.base import Scheme
from rating.stats.compare import Champion, PolicyComparison, average_units, compare_champion, compare_units, elo_margin
from rating.stats.estimates import Estimate, mean_estimate
from rating.stats.results import Battle, finished
from rating.stats.simultaneous import DealResult
from rating.stats.units import SHARED, Units, units_of, units_of_means
from rating.store.imported import is_import
from rating.store.records import FINISHED, Match, Outcome
from rating.viewer.report import compared
from rating.viewer.report.tables import WIDTH
from rating.viewer.source import open_source

AVERAGE = "average over the environments"
ALL_PARTS = "all roles"


@dataclass(frozen=True)
class _Pair:
    """Comparison units of two policies in one environment, and the number of excluded matches.

    Attributes:
        units: comparison units.
        waiting: matches in flight, or finished but scheduled after one in flight.
        without_result: matches that ended without a result.
        conduct: forfeits and fallbacks of each policy.
        difference: mean of the first policy minus mean of the second on shared deals; ``None`` if policies meet.
    """

    units: Units
    waiting: int = 0
    without_result: int = 0
    conduct: Mapping[str, Conduct] = field(default_factory=dict)
    difference: Estimate | None = None


@dataclass(frozen=True)
class _Played:
    """One environment or a part of it: its policies, and the units of any two policies."""

    environment: str
    policies: Sequence[str]
    pair: Callable[[str, str], _Pair]
    part: str = ""


@dataclass(frozen=True)
class _Result:
    """Result for one environment or a part of it: two policies, or a champion and its challengers."""

    environment: str
    part: str
    comparisons: tuple[PolicyComparison, ...]
    pairs: tuple[_Pair, ...]
    champion: Champion | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "dir", type=flags.local_path, metavar="DIR", help="directory of a run or an import, or a log of battles"
    )
    parser.add_argument("policies", nargs="+", metavar="POLICY", help="two policies; any number with --against")
    parser.add_argument("--against", default="", metavar="POLICY", help="champion that all of them are compared with")
    parser.add_argument(
        "--environment", default="", metavar="ENV", help="of a run with several (default: each, and all)"
    )
    parser.add_argument(
        "--level", type=float, default=0.05, metavar="P", help="probability of a wrong claim, at most (default 0.05)"
    )
    parser.add_argument(
        "--margin",
        default="0",
        metavar="MARGIN",
        help="by how much to be better: of win rate, as 0.05, or as 50elo (default 0)",
    )
    parser.add_argument("--equal", metavar="MARGIN", help="also ask whether they are equal within this")
    flags.add_trust(parser)


def main(args: argparse.Namespace) -> None:
    """Prints the comparison of two policies, or of challengers with a champion."""
    is_log = args.dir.is_file() or is_import(args.dir)
    played = (_of_log if is_log else _of_run)(args.dir, args.environment)
    challengers, champion = _names(args, sorted({name for item in played for name in item.policies}))
    results = []
    for item in played:
        if champion in item.policies:
            present = [name for name in challengers if name in item.policies]
            if present:
                pairs = [item.pair(name, champion) for name in present]
                results.append(_result(args, item.environment, item.part, present, champion, pairs))
    if average := _average(args, results, challengers, champion):
        results.append(average)
    if args.json:
        print(json.dumps([_table(result) for result in results], indent=2, ensure_ascii=False, allow_nan=False))
    elif any(comparison.units for result in results for comparison in result.comparisons):
        _print(results)
    else:
        print("no pair of matches between these policies, or deal of both, has ended yet", file=sys.stderr)


def _names(args: argparse.Namespace, known: Sequence[str]) -> tuple[list[str], str]:
    """Returns the challengers (one without ``--against``) and the champion."""
    names: list[str] = args.policies
    if not args.against and len(names) != 2:
        raise OptionError(
            f"policies: expected two, got {len(names)}; there are {', '.join(known)}"
            "; many are compared with one by --against ONE"
        )
    *challengers, champion = [*names, args.against] if args.against else names
    for name in (*challengers, champion):
        check_choice("policy", name, known)
    if len({*challengers, champion}) <= len(challengers):
        raise OptionError(f"policies: expected different ones, got {', '.join((*challengers, champion))}")
    return challengers, champion


def _of_run(directory: Path, environment: str) -> list[_Played]:
    """Returns the environments of a run. Environments whose policies do not meet are split into parts."""
    config, store = run_directory.open_run(directory)
    with closing(store):
        names = [item.name for item in config.environment]
        if environment:
            check_choice("environment", environment, names)
            names = [environment]
        matches: dict[str, list[tuple[Match, Outcome | None]]] = {name: [] for name in names}
        for match, outcome in store.matches():
            if match.environment in matches:
                matches[match.environment].append((match, outcome))
    played = []
    for name in names:
        scheme = make_scheme(config, name)
        if scheme.meet:
            played.append(_Played(name, config.pool(name), _pairs_of(matches[name])))
        else:
            parts = dict.fromkeys(case.part for case in _cases(scheme, [outcome for _, outcome in matches[name]]))
            together = [ALL_PARTS] if len(parts) > 1 and scheme.parts_add_up else []
            played += [
                _Played(name, config.pool(name), _means_of(scheme, matches[name], part), part)
                for part in [*(parts or [""]), *together]
            ]
    return played


def _pairs_of(matches: Sequence[tuple[Match, Outcome | None]]) -> Callable[[str, str], _Pair]:
    def pair(a: str, b: str) -> _Pair:
        found = so_far(matches, a, b)
        return _Pair(
            units_of(found.battles, a, b, seated=found.seated, ordered=True),
            found.waiting,
            found.without_result,
            found.conduct,
        )

    return pair


def _means_of(
    scheme: Scheme, matches: Sequence[tuple[Match, Outcome | None]], part: str
) -> Callable[[str, str], _Pair]:
    def pair(a: str, b: str) -> _Pair:
        later = _later(scheme, a, b)
        outcomes, waiting = ended(
            matches, lambda match: not {a, b}.isdisjoint(match.policies) and later.isdisjoint(match.policies)
        )
        cases = [case for case in _cases(scheme, outcomes) if part in (case.part, ALL_PARTS)]
        units, differences = units_of_means(cases, a, b)
        return _Pair(
            units,
            waiting,
            sum(outcome.status != FINISHED for outcome in outcomes),
            {name: conduct(finished(outcomes), name) for name in (a, b)},
            mean_estimate(differences),
        )

    return pair


def _cases(scheme: Scheme, outcomes: Iterable[Outcome | None]) -> list[DealResult]:
    return scheme.cases(scheme.own(outcome for outcome in outcomes if outcome is not None))


def _later(scheme: Scheme, a: str, b: str) -> set[str]:
    """Returns the policies added after both. Their matches reuse earlier deals, whose units must not change."""
    phases = [scheme.setting.pool.founders, *scheme.setting.pool.newcomers]
    last = max((index for index, names in enumerate(phases) if a in names or b in names), default=0)
    return {name for names in phases[last + 1 :] for name in names}


def _of_log(path: Path, environment: str) -> list[_Played]:
    """Returns the environments of a log or an import. Its order can depend on the results, so units are shuffled."""
    with open_source(path) as source:
        logs = {name: source.battles(name) for name in source.environments()}
        names = [name for name, battles in logs.items() if battles]
        if environment:
            check_choice("environment", environment, names)
            names = [environment]
        played = []
        for name in names:
            battles = logs[name]
            policies = sorted({policy for battle in battles for policy in battle[:2]})
            played.append(_Played(name, policies, _pairs_of_log(battles, source.seated)))
    return played


def _pairs_of_log(battles: Sequence[Battle], seated: bool) -> Callable[[str, str], _Pair]:
    return lambda a, b: _Pair(units_of(battles, a, b, seated=seated, ordered=False))


def _result(
    args: argparse.Namespace,
    environment: str,
    part: str,
    challengers: Sequence[str],
    champion: str,
    pairs: Sequence[_Pair],
) -> _Result:
    margin = _margin("margin", args.margin)
    equal = None if args.equal is None else _margin("equal", args.equal)
    comparisons = tuple(
        compare_units(pair.units, name, champion, level=args.level, margin=margin, equal=equal, ahead=not args.against)
        for name, pair in zip(challengers, pairs, strict=True)
    )
    return _Result(
        environment, part, comparisons, tuple(pairs), compare_champion(comparisons) if args.against else None
    )


def _average(
    args: argparse.Namespace, results: Sequence[_Result], challengers: Sequence[str], champion: str
) -> _Result | None:
    """Returns the comparisons averaged over the environments with matches between policies.

    Returns ``None`` for a single environment, or if a challenger did not meet the champion in all of them.
    """
    averages, results = [], [result for result in results if result.comparisons[0].unit != SHARED]
    for name in challengers:
        units: Mapping[str, Units] = {
            result.environment: pair.units
            for result in results
            for comparison, pair in zip(result.comparisons, result.pairs, strict=True)
            if comparison.a == name
        }
        average = average_units(units)
        if average is None or len(units) < len(results):
            return None
        averages.append(_Pair(average))
    return _result(args, AVERAGE, "", challengers, champion, averages)


_MARGIN = re.compile(r"(\d{1,6}(?:\.\d{0,12})?|\.\d{1,12})(elo)?", re.IGNORECASE | re.ASCII)


def _margin(key: str, text: str) -> float:
    """Reads a margin in win rate (``0.05``) or Elo (``50elo``)."""
    found = _MARGIN.fullmatch(text.replace(" ", ""))
    if found is None:
        raise OptionError(f"{key}: expected a part of the win rate, as 0.05, or Elo, as 50elo; got {text!r:.60}")
    value = float(found[1])
    return elo_margin(value) if found[2] else value


def _print(results: Sequence[_Result]) -> None:
    for result in results:
        label = f"{result.environment}, {result.part}" if result.part else result.environment
        if result.champion is not None:
            _print_line(f"{label}: against {compared.name(result.champion.champion)}")
            told = compared.champion_lines(result.champion)
        else:
            (comparison,) = result.comparisons
            _print_line(f"{label}: {compared.verdict(comparison)}")
            told = compared.lines(comparison, result.pairs[0].difference)
        for line in [*told, *_missing(result)]:
            _print_line(line, "  ")
    single = sum(result.environment != AVERAGE for result in results)
    comparisons = [comparison for result in results for comparison in result.comparisons]
    for line in compared.limits(comparisons, single, averaged=single < len(results)):
        _print_line(line)


def _print_line(line: str, indent: str = "") -> None:
    """Prints a line, wrapped at ``WIDTH`` characters."""
    print(textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False))


def _missing(result: _Result) -> list[str]:
    """Returns lines about excluded matches, forfeits and fallbacks."""
    waiting, without = (sum(getattr(pair, key) for pair in result.pairs) for key in ("waiting", "without_result"))
    told = []
    if waiting:
        told.append(f"under way: {compared.count(waiting, 'match')} played now, or behind one of theirs that is")
    if without:
        told.append(
            f"without result: {compared.count(without, 'match')}, left out;"
            " right if failing has nothing to do with who would have won"
        )
    counted = "which count" if result.comparisons[0].unit == SHARED else "counted as lost"
    for name, own in (entry for pair in result.pairs for entry in pair.conduct.items()):
        if own.forfeits:
            told.append(f"{compared.name(name)} forfeited {compared.count(own.forfeits, 'match')}, {counted}")
        if own.played_for:
            told.append(f"{compared.name(name)}: {own.played_for:.0%} of its turns were played for it")
    return told


def _table(result: _Result) -> dict[str, Any]:
    """Returns a result for JSON."""
    comparisons = [
        _rounded(asdict(comparison))
        | {
            "p": _rounded(comparison.p),
            "waiting": pair.waiting,
            "void": pair.without_result,
            "conduct": {name: own._asdict() for name, own in pair.conduct.items()},
            "mean_difference": pair.difference and _rounded(pair.difference._asdict()),
        }
        for comparison, pair in zip(result.comparisons, result.pairs, strict=True)
    ]
    table: dict[str, Any] = {"environment": result.environment, "part": result.part, "comparisons": comparisons}
    if result.champion is not None:
        table |= {
            "champion": result.champion.champion,
            "corrected_p": _rounded(result.champion.p),
            "better": result.champion.better,
        }
    return table


def _rounded(value: Any) -> Any:
    """Rounds numbers to six significant digits, because p-values can be very small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
