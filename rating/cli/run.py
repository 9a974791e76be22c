"""``llmarena run``, ``resume`` and ``demo``: play a run, or forecast its cost."""

import argparse
import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agents.registry import baselines
from llmarena_envs.catalogue import canonical_name, full_name
from llmarena_envs.core.options import OptionError, nearest, parse_options
from llmarena_envs.core.terminal import printable
from rating.cli import asking, flags
from rating.cli.asking import at_terminal, is_start_confirmed
from rating.cli.playing import (
    address_of,
    check_complete,
    free_directory,
    play_and_print,
    read_session,
    resumable,
    session_flags,
)
from rating.cli.printing import print_sheets
from rating.cli.progress import progress_line
from rating.cli.serve import listener_if_asked
from rating.config.budget import Budget
from rating.config.game_sets import game_set
from rating.config.judge_warnings import family_warnings, scripted_judge_warnings
from rating.config.run_file import parse_run_file, run_file_text
from rating.config.run_file_source import RunFileText, named_run_files, read_run_file, with_price_file
from rating.config.tournament_config import add_newcomer
from rating.errors import RunError
from rating.play import run_directory
from rating.play.dry_run import NOTHING, REASONING, Expected, Forecast, Span, forecast
from rating.play.executors.ray import check_executor
from rating.schemes.leaderboard import ALWAYS
from rating.store.state import StateWriter
from rating.viewer.report.tables import Sheet
from rating.viewer.report.write import REPORT, write_report

_ENVIRONMENT_NAME = re.compile(r"[_-]v\d+(?:#[\w-]*)?$")

_RUN_FILE_FLAGS = ("env", "policy", "seed", "preset", "schedule", "stop", "max_matches", "min_matches", "workers")
"""Flags that replace a run file."""

_COMPLETE = "rounds"
"""Stop reason of a complete tournament."""

_DEMO_ENVIRONMENTS = ("tictactoe_v0", "connect_four_v0")
_DEMO_SETTINGS = {"seed": 11}
_SLOW_POLICIES = {"mcts"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``run``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["\ninstalled run files:", *(f"  {printable(name)}" for name in named_run_files()), ""])
    parser.add_argument(
        "run_file",
        nargs="?",
        type=Path,
        metavar="RUNFILE",
        help="path of a run file, or name of an installed one; alternatively use --games and --policy",
    )
    parser.add_argument(
        "--games",
        "--env",
        dest="env",
        action="extend",
        type=_games,
        default=[],
        metavar="GAME,...",
        help="environments, by name or short name, e.g. ttt,connect4,holdem; repeatable",
    )
    parser.add_argument(
        "--game-set",
        dest="env",
        action="extend",
        type=_game_set,
        metavar="NAME",
        help="a set of games, e.g. openspiel-40: 40 games of OpenSpiel",
    )
    parser.add_argument(
        "--policy",
        "--model",
        action="append",
        default=[],
        metavar="POLICY[@ENV,...]",
        help="policy or model, in the named environments or in all, e.g. minimax@tictactoe_v0 or openai/gpt-5; repeatable",
    )
    parser.add_argument("--seed", type=flags.count, help="root seed")
    parser.add_argument(
        "--preset",
        choices=("standard", "llmarena"),
        help="invalid-reply policy (default standard; llmarena: as in the LLMArena paper)",
    )
    parser.add_argument(
        "--schedule",
        choices=("round_robin", "adaptive"),
        help="pairing: a fixed cycle, or based on results (default for rated two-player games)",
    )
    parser.add_argument(
        "--stop",
        metavar="RULE",
        help="stopping rule of rated games: order (default), spearman=0.99, top=3, separated=60, width=60, or rules joined by +;"
        " trueskill for the rule of the LLMArena paper",
    )
    parser.add_argument("--max-matches", type=flags.count, metavar="N", help="maximum matches of a policy")
    parser.add_argument("--min-matches", type=flags.count, metavar="N", help="minimum matches of a policy")
    parser.add_argument(
        "--workers", type=flags.count, metavar="N", help="worker processes for scripted matches; 0 for one per CPU core"
    )
    flags.add_session(parser)
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="run directory, new or empty (default for an installed run file: its name, or a numbered one)",
    )
    flags.add_store(parser)
    asking.add_arguments(
        parser, reply_tokens="assumed tokens per reply in a dry run", yes="start a run with models without a question"
    )
    parser.add_argument("--dry-run", action="store_true", help="forecast calls, cost and time; play nothing")
    parser.add_argument(
        "--latency",
        type=flags.amount,
        default=2.0,
        metavar="SECONDS",
        help="assumed seconds per call in a dry run (default 2)",
    )
    flags.add_detail(parser)


def main(args: argparse.Namespace) -> None:
    """Plays a run from a run file or flags, and prints its leaderboards."""
    text, where = _run_file(args)
    if args.prices is not None:
        text = with_price_file(text, args.prices)
    if args.dry_run:
        print_forecast(text, where, args)
        return
    if not _is_confirmed(text, where, args):
        return
    address = address_of(args)
    out = args.out or _directory_of_name(args.run_file)
    with listener_if_asked(args) as listener, resumable(out, resume_flags := session_flags(args, listener)):
        session = read_session(args)
        check_executor(session.executor or parse_run_file(text, where).executor)
        run, store = run_directory.create(out, text, where, offline=session.offline, address=address)
        notes = [*run.idle_stop_rules(), *scripted_judge_warnings(run.config), *family_warnings(run.config, {})]
        if unpriced := run.config.unpriced():
            notes.append(f"costs are not shown, since there is no price for {', '.join(unpriced)}: --prices FILE")
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        missing = play_and_print(out, run, store, args.interruptions, args.detail, session, listener)
    check_complete(out, *missing, resume_flags)


def _game_set(name: str) -> list[str]:
    """Reads the name of a set of games."""
    try:
        return game_set(name)
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _games(text: str) -> list[str]:
    """Reads names of environments, separated by commas."""
    return [full_name(name) for name in flags.names(text)]


def _is_confirmed(run_file: str, where: str, args: argparse.Namespace) -> bool:
    """Shows the forecast of a run with models on a terminal, and asks whether to start."""
    config = parse_run_file(run_file, where)
    if args.yes or args.offline or not config.names_models() or not at_terminal():
        return True
    run = run_directory.check_run_file(run_file, where).run
    found = asyncio.run(forecast(run, reply_tokens=args.reply_tokens, latency=args.latency))
    budget = run.config.budget.budget(args.max_cost, args.max_tokens, args.max_time)
    print(forecast_line(found, budget), end=" ", file=sys.stderr)
    return is_start_confirmed()


def _run_file(args: argparse.Namespace) -> RunFileText:
    """Returns the text of the run file, read or made of flags, and its name in error messages."""
    given = [name for name in _RUN_FILE_FLAGS if getattr(args, name) not in (None, [])]
    if args.run_file is not None:
        if given:
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            raise OptionError(f"expected a run file or flags, got both {args.run_file} and {names}")
        return read_run_file(args.run_file)
    if not args.env or not args.policy:
        raise OptionError("expected a run file, or --games and at least one --policy or --model")
    stop = {"rule": args.stop, "min_matches": args.min_matches, "max_matches": args.max_matches}
    settings = {name: getattr(args, name) for name in ("seed", "preset", "schedule", "workers")}
    settings["stop"] = _given(stop) or None
    policies, restricted = read_policies(args.policy, args.env)
    return RunFileText(run_file_text(args.env, policies, _given(settings), restricted), "command line")


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def read_policies(flags: list[str], environments: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Reads ``POLICY`` and ``POLICY@ENV,ENV``.

    Model names can contain ``@`` too: the part after it is read as environments only if it resembles environment names,
    possibly misspelt.

    Returns:
        The specs, and the environments of restricted policies by spec.
    """
    specs: list[str] = []
    restricted: dict[str, list[str]] = {}
    for flag in flags:
        spec, _, named = flag.rpartition("@")
        names = [name.strip() for name in named.split(",")]
        if not spec or not all(
            name in environments or _ENVIRONMENT_NAME.search(name) or nearest(name, environments) for name in names
        ):
            specs.append(flag)
        elif spec in restricted:
            restricted[spec] += names
        else:
            specs.append(spec)
            restricted[spec] = names
    return specs, restricted


def _directory_of_name(run_file: Path | None) -> Path:
    """Returns a free directory named after an installed run file.

    Raises:
        OptionError: if the run file is a path, or missing.
    """
    if run_file is None or run_file.is_file():
        raise OptionError("expected a directory for the run: --out DIR, or --dry-run to forecast its cost")
    return free_directory(run_file)


def add_resume_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``resume``."""
    flags.add_run(parser)
    added = parser.add_argument_group("add a policy")
    added.add_argument(
        "--add",
        metavar="POLICY[@ENV,...]",
        help="add a policy to the run file, in the named environments or in all; tournaments must be complete",
    )
    added.add_argument("--name", default="", help="name of the added policy (default: POLICY)")
    added.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the added policy; repeatable"
    )
    added.add_argument(
        "--prior", type=flags.finite, metavar="SCORE", help="initial score in a tournament (default: the median)"
    )
    flags.add_session(parser)
    flags.add_detail(parser)


def resume(args: argparse.Namespace) -> None:
    """Resumes a run, after adding a policy if one is given. Void matches are played again."""
    if args.add is not None:
        _add_policy(args)
    elif args.name or args.option or args.prior is not None:
        raise OptionError("--name, --option and --prior describe an added policy: say which with --add POLICY")
    with listener_if_asked(args) as listener, resumable(args.dir, resume_flags := session_flags(args, listener)):
        run, store = run_directory.reopen_run(args.dir)
        with run_directory.closed_on_error(store):
            session = read_session(args)
            check_executor(session.executor or run.config.executor)
        missing = play_and_print(args.dir, run, store, args.interruptions, args.detail, session, listener)
    check_complete(args.dir, *missing, resume_flags)


def _add_policy(args: argparse.Namespace) -> None:
    """Adds a policy to the run file.

    Raises:
        OptionError: if the policy is invalid or already present.
        RunError: if a tournament is not complete.
    """
    run, store = run_directory.reopen_run(args.dir)
    with run_directory.held(args.dir, store):
        check_executor(args.executor or run.config.executor)
        known = [item.name for item in run.config.environment]
        (spec,), restricted = read_policies([args.add], known)
        policy: dict[str, Any] = {"spec": spec, "name": args.name or spec}
        policy |= {"options": parse_options(args.option, "--option"), "environments": restricted.get(spec)}
        entered = {canonical_name(name) for name in restricted.get(spec, known)}
        tournaments = [name for name in known if name in entered and run.config.scheme_of(name).places_newcomers]
        if args.prior is not None and not tournaments:
            raise OptionError("--prior: only a tournament has initial scores; leave it out")
        state = run_directory.read_state(store)
        for environment in tournaments:
            if state.schedule(environment).stop_reason != _COMPLETE:
                raise RunError(
                    f"{args.dir}: expected a complete tournament, but matches of {environment} are missing; first run: llmarena"
                    f" resume {args.dir}"
                )
        text = add_newcomer(run_directory.read_run_file(args.dir), tournaments, policy, args.prior)
        text = run_directory.check_run_file(text, "--add", offline=args.offline).run_file
        for environment in tournaments:  # before the run file changes: readers then see an unfinished tournament
            StateWriter(store).reopen(environment)
        run_directory.replace_run_file(args.dir, text)


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``demo``."""
    parser.add_argument(
        "--out",
        type=flags.local_path,
        metavar="DIR",
        help="run directory (default: llmarena-demo, or a numbered one)",
    )
    flags.add_store(parser)
    flags.add_detail(parser)


def demo(args: argparse.Namespace) -> None:
    """Plays the board games between all scripted policies and writes the report."""
    specs = sorted({name for environment in _DEMO_ENVIRONMENTS for name in baselines(environment)} - _SLOW_POLICIES)
    out = args.out or free_directory(Path("llmarena-demo"))
    text = run_file_text(list(_DEMO_ENVIRONMENTS), specs, _DEMO_SETTINGS)
    with resumable(out):
        run, store = run_directory.create(out, text, "demo", address=address_of(args))
        missing = play_and_print(out, run, store, args.interruptions, args.detail)
    with progress_line("Report") as show:
        path = write_report(out, out / REPORT, show)
    print(f"Report: {path}")
    check_complete(out, *missing)


def print_forecast(run_file: str, where: str, args: argparse.Namespace) -> None:
    """Prints a forecast of matches, calls, tokens, cost and time. Sends nothing and creates no directory.

    Args:
        run_file: text of the run file.
        where: name of the run file in error messages.
        args: parsed arguments of the command.

    Raises:
        OptionError: if the run file is not valid.
    """
    run = run_directory.check_run_file(run_file, where, offline=True).run
    found = asyncio.run(forecast(run, reply_tokens=args.reply_tokens, latency=args.latency))
    budget = run.config.budget.budget(args.max_cost, args.max_tokens, args.max_time)
    header = ["environment", "policy", "matches", "calls", "tokens in", "tokens out"]
    header += [f"cost in {found.currency}"] if found.currency else []
    rows = [*(_forecast_row(row, found.currency) for row in found.rows), _forecast_total(found)]
    notes = [*_forecast_notes(found, args.reply_tokens, args.latency), *_budget_notes(found, budget)]
    print_sheets([Sheet("Forecast", header, rows, notes, [ALWAYS] * len(header))])


def forecast_line(found: Forecast, budget: Budget) -> str:
    """Returns the forecast of a run, and what its budget buys, in one line."""
    matches = sum(found.matches.values(), NOTHING)
    parts = [f"{_number(matches)} matches", f"{_clock(found.seconds.expected)}"]
    cost = sum((row.cost for row in found.rows if row.cost is not None), NOTHING)
    if found.currency:
        parts.insert(0, f"{_money(cost)} {found.currency}")
    line = f"Forecast: {', '.join(parts)}."
    if budget.cost is not None and cost.expected > 0:
        played = [row.matches.expected for row in found.rows]
        bought = min(1.0, budget.cost / cost.expected) * sum(played) / len(played)
        line += f" {budget.cost:g} {found.currency} buys about {bought:.0f} matches of each model in each game."
    return line


def _forecast_row(row: Expected, currency: str) -> list[str]:
    counts = [row.matches, row.calls, row.prompt_tokens, row.completion_tokens]
    cost = [_money(row.cost) if row.cost else "no price"] if currency else []
    return [row.environment, row.policy, *map(_number, counts), *cost]


def _forecast_total(found: Forecast) -> list[str]:
    total = ["total", "", _number(sum(found.matches.values(), NOTHING))]
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        total.append(_number(sum((getattr(row, name) for row in found.rows), NOTHING)))
    if found.currency:
        costs = [row.cost for row in found.rows if row.cost is not None]
        known = _money(sum(costs, NOTHING))
        total.append(known if len(costs) == len(found.rows) else f"at least {known}")
    return total


def _forecast_notes(found: Forecast, reply_tokens: int, latency: float) -> Iterator[str]:
    yield "expected values with their range in brackets; no model was called"
    yield f"matches: {', '.join(f'{name}: {_number(span)}' for name, span in found.matches.items())}"
    yield f"time: {_clock(found.seconds.expected)} [{_clock(found.seconds.low)}, {_clock(found.seconds.high)}]"
    yield (
        f"assumed: {reply_tokens} tokens per reply (--reply-tokens), {REASONING * reply_tokens} of a reasoning model, or"
        f" max_tokens if smaller; {latency:g} s per call (--latency)"
    )
    yield "not included: re-asked replies, failed calls, long messages between players"
    if not found.currency:
        yield "no costs: add prices with [[price]] in the run file"
    if found.left_out:
        yield f"not included, usage unknown: {', '.join(found.left_out)}"


def _budget_notes(found: Forecast, budget: Budget) -> Iterator[str]:
    tokens = sum((row.prompt_tokens + row.completion_tokens for row in found.rows), NOTHING)
    cost = sum((row.cost for row in found.rows if row.cost is not None), NOTHING)
    limits = (
        (budget.cost, cost, found.currency),
        (budget.tokens, tokens, "tokens"),
        (budget.seconds, found.seconds, "s"),
    )
    for limit, span, unit in limits:
        if limit is not None:
            early = "will stop the run early" if span.low > limit else "may stop the run early"
            yield f"budget of {limit:,.10g} {unit}: {early if span.high > limit else 'sufficient'}"


def _number(span: Span) -> str:
    low, expected, high = (_rounded(value) for value in (span.low, span.expected, span.high))
    return f"{expected:,}" if low == high else f"{expected:,} [{low:,}, {high:,}]"


def _rounded(value: float) -> int:
    """Rounds to three significant digits."""
    return int(float(f"{value:.3g}"))


def _money(span: Span) -> str:
    return f"{span.expected:.3g} [{span.low:.3g}, {span.high:.3g}]"


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 120 else f"{minutes // 60} h {minutes % 60:02} min"
