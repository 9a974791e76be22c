"""``llmarena rate``, ``report``, ``replay`` and ``export``: everything that only reads a run."""

import argparse
import io
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from rating.commands.matches import headline, print_match
from rating.commands.verification import no_such_match, verify_run
from rating.records.calls import CALLS, LoggedCalls
from rating.records.export import record_table, write_csv, write_jsonl
from rating.records.outcome import Outcome
from rating.records.record import Record
from rating.records.store import Store
from rating.report.costs import DECIMALS as COST_DECIMALS
from rating.report.costs import Costs, cost_sheet, costs
from rating.report.tables import Sheet, render, render_grid, sheet, to_json
from rating.running import run_directory
from rating.running.contests import make_leaderboard
from rating.running.run_file import RunConfig
from rating.schemes.figures import Grid
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary, summarise

if TYPE_CHECKING:
    from rating.report import Run

_ENDLESS = 100_000
"""Characters of a line in a pipe or a file, where nothing is wrapped."""


def rate(args: argparse.Namespace) -> None:
    """Prints the leaderboards of a run."""
    config, store = run_directory.open_run(args.dir)
    with closing(store):
        tables = _tables(config, store)
        spent = _costs(config, store, tables)
    if args.json:
        parts = [to_json(table) for table in tables]
        parts += [to_json({"costs": spent}, COST_DECIMALS)] if spent else []
        print("[" + ",\n".join(parts) + "]")
    elif tables or spent:
        _print_results(tables, spent)
    else:
        print("no match of this run has ended yet", file=sys.stderr)


def report(args: argparse.Namespace) -> None:
    """Writes the report of a run and prints its path."""
    path = write_report(args.dir, args.output or args.dir / "report.html")
    print(json.dumps({"report": str(path)}) if args.json else f"Report: {path}")


def replay(args: argparse.Namespace) -> int:
    """Lists matches, shows one, or verifies them; returns 1 if something is not as it was recorded."""
    if args.verify:
        return verify_run(args)
    with closing(run_directory.open_store(args.dir)) as store:
        records = store.records(args.match)
        first = next(records, None)
        if args.match and first is None:
            raise no_such_match(args)
        if first is not None:
            records = chain([first], records)
        if args.json:
            _print_array(records)
        else:
            for record in records:
                print(headline(record))
                if args.match:
                    print_match(record, raw=args.raw)
    return 0


def export(args: argparse.Namespace) -> None:
    """Writes the log of a run to standard output."""
    write = {"jsonl": write_jsonl, "csv": write_csv}[args.format]
    with closing(run_directory.open_store(args.dir)) as store:
        write(store.records(), sys.stdout)


def print_leaderboards(config: RunConfig, store: Store) -> list[Leaderboard]:
    """Prints the leaderboards of a run as tables, and what its models cost; returns them."""
    tables = _tables(config, store)
    _print_results(tables, _costs(config, store, tables))
    return [table for table in tables if isinstance(table, Leaderboard)]


def _print_results(tables: list[Leaderboard | Summary], spent: Costs | None) -> None:
    print_tables(tables)
    if spent is not None:
        print_sheets([cost_sheet(spent)])


def print_tables(tables: list[Leaderboard | Summary]) -> None:
    """Prints leaderboards for people; as ``print_sheets``."""
    print_sheets([sheet(table) for table in tables])


def print_sheets(sheets: Iterable[Sheet]) -> None:
    """Prints tables for people; a terminal gets the columns it has room for, a pipe all of them."""
    terminal = sys.stdout.isatty()
    console = _console()
    for shown in sheets:
        console.print(render(shown, console.width if terminal else None))


def print_grid(grid: Grid) -> None:
    """Prints a table of texts."""
    _console().print(render_grid(grid))


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _ENDLESS)


def write_report(directory: Path, path: Path) -> Path:
    """Writes the report of a run and returns its absolute path; nothing is written if the run cannot be read."""
    from rating.report import write_page  # matplotlib is slow to import

    config, store = run_directory.open_run(directory)
    with closing(store):
        run = _report(config, store, directory.resolve().name)
        with path.open("w", encoding="utf-8") as file:
            write_page(run, store.records(), file)
    return path.resolve()


def report_page(directory: Path, title: str, matches: Collection[str] | None = None) -> str:
    """Returns the report page of a run under a title, with those of its matches that are named by id, by default all."""
    from rating.report import write_page  # matplotlib is slow to import

    config, store = run_directory.open_run(directory)
    with closing(store):
        page = io.StringIO()
        shown = (record for record in store.records() if matches is None or record.match.id in matches)
        write_page(_report(config, store, title), shown, page)
        return page.getvalue()


def _report(config: RunConfig, store: Store, title: str) -> "Run":
    """Returns what the report shows besides the matches."""
    from rating.report import Run  # matplotlib is slow to import

    outcomes, facts = list(store.outcomes()), store.facts()
    boards = leaderboards(config, outcomes, facts)
    return Run(
        title=title,
        seed=config.seed,
        boards=boards,
        outcomes=outcomes,
        statuses=store.statuses(),
        facts=facts,
        seal=store.sealed,
        digest=store.digest(),
        costs=_costs(config, store, boards),
    )


def _costs(config: RunConfig, store: Store, tables: Sequence[Leaderboard | Summary]) -> Costs | None:
    """Returns what the models of a run cost, beside its leaderboards; ``None`` where none was called."""
    log = store.path.with_name(CALLS)
    if not log.exists():
        return None
    boards = [table for table in tables if isinstance(table, Leaderboard)]
    return costs(LoggedCalls(log), config.price_table(), store.status_of_matches(), store.outcomes(), boards)


def leaderboards(config: RunConfig, outcomes: Sequence[Outcome], facts: Mapping[str, str]) -> list[Leaderboard]:
    """Returns the leaderboards of those environments of a run of which there are outcomes."""
    played = {outcome.environment for outcome in outcomes}
    names = [item.name for item in config.environment if item.name in played]
    return [make_leaderboard(config, name, outcomes, facts) for name in names]


def _tables(config: RunConfig, store: Store) -> list[Leaderboard | Summary]:
    """Returns the leaderboards, and the table over all environments where there are several."""
    boards = leaderboards(config, list(store.outcomes()), store.facts())
    return [*boards, summarise(boards)] if len(boards) > 1 else [*boards]


def _print_array(records: Iterable[Record]) -> None:
    """Prints records as a JSON array, one at a time."""
    opening = "["
    for record in records:
        text = json.dumps(record_table(record), indent=2, ensure_ascii=False)
        print(f"{opening}\n  " + text.replace("\n", "\n  "), end="")
        opening = ","
    print("\n]" if opening == "," else "[]")
