"""``llmarena rate``, ``report``, ``replay`` and ``export``: everything that only reads a run."""

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from agents.terminal import printable
from llmarena_envs.core.options import OptionError
from rating.records.export import record_table, write_csv, write_jsonl
from rating.records.record import Record
from rating.records.store import Store
from rating.records.verify import verify
from rating.report.tables import render, to_json
from rating.running import run_directory
from rating.running.contests import make_scheme
from rating.running.run_file import RunConfig
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary, summarise

_ENDLESS = 100_000
"""Characters of a line in a pipe or a file, where nothing is wrapped."""


def rate(args: argparse.Namespace) -> None:
    """Prints the leaderboards of a run."""
    config, store = run_directory.open_run(args.dir)
    tables = _tables(config, store)
    store.close()
    if args.json:
        print("[" + ",\n".join(to_json(table) for table in tables) + "]")
    elif tables:
        print_tables(tables)
    else:
        print("no match of this run has ended yet", file=sys.stderr)


def report(args: argparse.Namespace) -> None:
    """Writes the report of a run and prints its path."""
    path = write_report(args.dir, args.output or args.dir / "report.html")
    print(json.dumps({"report": str(path)}) if args.json else f"Report: {path}")


def replay(args: argparse.Namespace) -> int:
    """Lists matches, shows one, or verifies them; returns 1 if a match does not come out as recorded."""
    config, store = run_directory.open_run(args.dir)
    records = list(store.records(args.match))
    store.close()
    if args.match and not records:
        raise OptionError(
            f"match: expected an id of a match in {args.dir}, got {args.match!r}; list them with: replay DIR"
        )
    if args.verify:
        return _verify(config, records, args.json)
    if args.json:
        print(json.dumps([record_table(record) for record in records], indent=2, ensure_ascii=False))
    elif args.match:
        for record in records:
            _print_match(record)
    else:
        for record in records:
            print(_headline(record))
    return 0


def export(args: argparse.Namespace) -> None:
    """Writes the log of a run to standard output."""
    _, store = run_directory.open_run(args.dir)
    write = {"jsonl": write_jsonl, "csv": write_csv}[args.format]
    write(store.records(), sys.stdout)
    store.close()


def print_leaderboards(config: RunConfig, store: Store) -> None:
    """Prints the leaderboards of a run as tables."""
    print_tables(_tables(config, store))


def print_tables(tables: list[Leaderboard | Summary]) -> None:
    """Prints leaderboards for people; a terminal gets the columns it has room for, a pipe all of them."""
    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else _ENDLESS)
    for table in tables:
        console.print(render(table, console.width if terminal else None))


def write_report(directory: Path, path: Path) -> Path:
    """Writes the report of a run and returns its absolute path."""
    from rating.report import render_page  # matplotlib is slow to import

    config, store = run_directory.open_run(directory)
    boards = _leaderboards(config, store)
    page = render_page(directory.resolve().name, config.seed, boards, list(store.records()), store.facts())
    store.close()
    path.write_text(page, encoding="utf-8")
    return path.resolve()


def _leaderboards(config: RunConfig, store: Store) -> list[Leaderboard]:
    outcomes = store.outcomes()
    played = {outcome.environment for outcome in outcomes}
    names = [item.name for item in config.environment if item.name in played]
    facts = store.facts()
    return [make_scheme(config, name).leaderboard(outcomes, facts.get(f"stopped:{name}", "")) for name in names]


def _tables(config: RunConfig, store: Store) -> list[Leaderboard | Summary]:
    """Returns the leaderboards, and the table over all environments where there are several."""
    boards = _leaderboards(config, store)
    return [*boards, summarise(boards)] if len(boards) > 1 else [*boards]


def _verify(config: RunConfig, records: list[Record], as_json: bool) -> int:
    finished = [record for record in records if record.status == "finished"]
    differences = {}
    for record in finished:
        difference = verify(record, config.turn_settings(record.match.environment))
        if difference:
            differences[record.match.id] = difference
    if as_json:
        print(json.dumps({"verified": len(finished) - len(differences), "differences": differences}, indent=2))
    else:
        for match, difference in differences.items():
            print(f"{match}: {difference}")
        print(f"{len(finished) - len(differences)} of {len(finished)} finished matches verified")
    return 1 if differences else 0


def _headline(record: Record) -> str:
    match, outcome = record.match, record.outcome
    rewards = (
        " / ".join(f"{seat.reward:+g}" for seat in outcome.seats) if outcome and not record.error else record.status
    )
    return f"{match.id}  {match.environment:18} {match.number:5}  {' v '.join(match.policies)}: {rewards}"


def _print_match(record: Record) -> None:
    print(_headline(record) + (f"\n{printable(record.error)}" if record.error else ""))
    for turn in record.turns:
        print(f"\n--- {turn.index + 1}. {turn.agent} reads:\n{printable(turn.read)}")
        for attempt in turn.attempts:
            print(
                f"--- replies ({attempt.kind.name.lower()}):\n{printable(attempt.reply)}"
                + (f"\n[{printable(attempt.message)}]" if attempt.message else "")
            )
        print(f"--- plays {turn.action!r}" + (f" ({turn.fallback})" if turn.fallback else ""))
