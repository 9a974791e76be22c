"""``llmarena compare``: whether one policy is better than another, at any moment of a run."""

import argparse
import json
import re
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError, check_choice
from rating.imports.so_far import Conduct, so_far
from rating.imports.source import open_source
from rating.records.imported import is_import
from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.report import compared
from rating.report.tables import WIDTH
from rating.running import run_directory
from rating.running.contests import make_scheme
from rating.statistics.battles import Battle
from rating.statistics.comparing import (
    Champion,
    Comparison,
    average_units,
    compare_champion,
    compare_units,
    elo_margin,
)
from rating.statistics.units import Units, units_of

AVERAGE = "average over the environments"


@dataclass(frozen=True)
class _Pair:
    """The units of two policies in one environment, and how many matches of theirs are in none."""

    units: Units
    waiting: int = 0
    without_result: int = 0
    conduct: Mapping[str, Conduct] = field(default_factory=dict)


@dataclass(frozen=True)
class _Played:
    """One environment: who takes part, and the units of any two of them."""

    policies: Sequence[str]
    pair: Callable[[str, str], _Pair]


@dataclass(frozen=True)
class _Result:
    """What is said of one environment: of two policies, or of a champion and those who challenge it."""

    environment: str
    comparisons: tuple[Comparison, ...]
    pairs: tuple[_Pair, ...]
    champion: Champion | None


def compare(args: argparse.Namespace) -> None:
    """Prints what may be said of two policies, or of many and one champion."""
    is_log = args.dir.is_file() or is_import(args.dir)
    played, silent = (_of_log if is_log else _of_run)(args.dir, args.environment)
    challengers, champion = _names(args, sorted({name for item in played.values() for name in item.policies}))
    results = []
    for environment, item in played.items():
        if champion in item.policies:
            present = [name for name in challengers if name in item.policies]
            if present:
                pairs = [item.pair(name, champion) for name in present]
                results.append(_result(args, environment, present, champion, pairs))
    if average := _average(args, results, challengers, champion):
        results.append(average)
    if args.json:
        print(json.dumps([_table(result) for result in results], indent=2, ensure_ascii=False, allow_nan=False))
    elif any(comparison.units for result in results for comparison in result.comparisons):
        _print(results, silent)
    else:
        print("no pair of matches between these policies has ended yet", file=sys.stderr)


def _names(args: argparse.Namespace, known: Sequence[str]) -> tuple[list[str], str]:
    """Returns the challengers, one if two policies are compared, and the policy that they are compared with."""
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


def _of_run(directory: Path, environment: str) -> tuple[dict[str, _Played], list[str]]:
    """Returns the environments of a run in which policies are rivals, and the names of the others."""
    config, store = run_directory.open_run(directory)
    with closing(store):
        names = [item.name for item in config.environment]
        if environment:
            check_choice("environment", environment, names)
            names = [environment]
        schemes = {name: make_scheme(config, name) for name in names}
        rivals = [name for name in names if schemes[name].rivals]
        if not rivals:
            raise OptionError(
                f"{directory}: expected an environment in which policies play against each other, got"
                f" {', '.join(f'{name} (scheme {scheme.name})' for name, scheme in schemes.items())}; rate compares their means"
            )
        matches: dict[str, list[tuple[Match, Outcome | None]]] = {name: [] for name in rivals}
        for match, outcome in store.matches():
            if match.environment in matches:
                matches[match.environment].append((match, outcome))
    played = {name: _Played(config.pool(name), _pairs_of(matches[name])) for name in rivals}
    return played, [name for name in names if name not in rivals]


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


def _of_log(path: Path, environment: str) -> tuple[dict[str, _Played], list[str]]:
    """Returns what others played; nobody knows whether the order of a log depends on its results."""
    with open_source(path) as source:
        logs = {name: source.battles(name) for name in source.environments()}
        names = [name for name, battles in logs.items() if battles]
        if environment:
            check_choice("environment", environment, names)
            names = [environment]
        played = {}
        for name in names:
            battles = logs[name]
            policies = sorted({policy for battle in battles for policy in battle[:2]})
            played[name] = _Played(policies, _pairs_of_log(battles, source.seated))
    return played, []


def _pairs_of_log(battles: Sequence[Battle], seated: bool) -> Callable[[str, str], _Pair]:
    return lambda a, b: _Pair(units_of(battles, a, b, seated=seated, ordered=False))


def _result(
    args: argparse.Namespace, environment: str, challengers: Sequence[str], champion: str, pairs: Sequence[_Pair]
) -> _Result:
    margin = _margin("margin", args.margin)
    equal = None if args.equal is None else _margin("equal", args.equal)
    comparisons = tuple(
        compare_units(pair.units, name, champion, level=args.level, margin=margin, equal=equal, ahead=not args.against)
        for name, pair in zip(challengers, pairs, strict=True)
    )
    return _Result(environment, comparisons, tuple(pairs), compare_champion(comparisons) if args.against else None)


def _average(
    args: argparse.Namespace, results: Sequence[_Result], challengers: Sequence[str], champion: str
) -> _Result | None:
    """Returns the comparisons over all environments; ``None`` where somebody has not met the champion in each of several."""
    averages = []
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
    return _result(args, AVERAGE, challengers, champion, averages)


_MARGIN = re.compile(r"(\d{1,6}(?:\.\d{0,12})?|\.\d{1,12})(elo)?", re.IGNORECASE | re.ASCII)


def _margin(key: str, text: str) -> float:
    """Reads a margin of the win rate, or in Elo: ``0.05``, ``50elo``."""
    found = _MARGIN.fullmatch(text.replace(" ", ""))
    if found is None:
        raise OptionError(f"{key}: expected a part of the win rate, as 0.05, or Elo, as 50elo; got {text!r:.60}")
    value = float(found[1])
    return elo_margin(value) if found[2] else value


def _print(results: Sequence[_Result], silent: Sequence[str]) -> None:
    for result in results:
        if result.champion is not None:
            _print_line(f"{result.environment}: against {compared.name(result.champion.champion)}")
            told = compared.champion_lines(result.champion)
        else:
            (comparison,) = result.comparisons
            _print_line(f"{result.environment}: {compared.verdict(comparison)}")
            told = compared.lines(comparison)
        for line in [*told, *_missing(result)]:
            _print_line(line, "  ")
    if silent:
        _print_line(f"not compared, since policies do not play against each other there: {', '.join(silent)}")
    environments = sum(result.environment != AVERAGE for result in results)
    comparisons = [comparison for result in results for comparison in result.comparisons]
    for line in compared.limits(comparisons, environments, averaged=environments < len(results)):
        _print_line(line)


def _print_line(line: str, indent: str = "") -> None:
    """Prints a line, in several if it is long."""
    print(textwrap.fill(line, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False))


def _missing(result: _Result) -> list[str]:
    """Says which matches are not part of the comparison, and which results are not a policy's own play."""
    waiting, without = (sum(getattr(pair, key) for pair in result.pairs) for key in ("waiting", "without_result"))
    told = []
    if waiting:
        told.append(f"under way: {compared.count(waiting, 'match')} played now, or behind one of theirs that is")
    if without:
        told.append(
            f"without result: {compared.count(without, 'match')}, left out;"
            " right if failing has nothing to do with who would have won"
        )
    for name, conduct in (entry for pair in result.pairs for entry in pair.conduct.items()):
        if conduct.forfeits:
            told.append(f"{compared.name(name)} forfeited {compared.count(conduct.forfeits, 'match')}, counted as lost")
        if conduct.played_for:
            told.append(f"{compared.name(name)}: {conduct.played_for:.0%} of its turns were played for it")
    return told


def _table(result: _Result) -> dict[str, Any]:
    """Returns what is printed as JSON."""
    comparisons = [
        _rounded(asdict(comparison))
        | {
            "p": _rounded(comparison.p),
            "waiting": pair.waiting,
            "void": pair.without_result,
            "conduct": {name: conduct._asdict() for name, conduct in pair.conduct.items()},
        }
        for comparison, pair in zip(result.comparisons, result.pairs, strict=True)
    ]
    table: dict[str, Any] = {"environment": result.environment, "comparisons": comparisons}
    if result.champion is not None:
        table |= {
            "champion": result.champion.champion,
            "corrected_p": _rounded(result.champion.p),
            "better": result.champion.better,
        }
    return table


def _rounded(value: Any) -> Any:
    """Rounds numbers to six digits that count, since a p-value may be very small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list | tuple) else value
