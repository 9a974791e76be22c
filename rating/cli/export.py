"""``llmarena export``: matches, results, calls and training data of a run, or results of a log."""

import argparse
import inspect
import sys
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.cli import flags
from rating.cli.flags import check_extra
from rating.cli.results import add_source, opened
from rating.play import run_directory
from rating.readers.formats import AUTO
from rating.store.calls import dump_call
from rating.store.export import write_csv, write_jsonl
from rating.training.conversations import DAMAGED, Selection, Tally
from rating.training.rows import FORMATS
from rating.training.write import Export, write_json_lines
from rating.viewer.table_export import write_battles, write_matrix, write_verdicts

_RESULTS = {"battles": write_battles, "matrix": write_matrix, "verdicts": write_verdicts}
"""Writers of results and verdicts, by format."""

_NOT_OF_DEALS = ("policies", "staff", "history")
_SELECTION = ("environment", "policies", "staff", "people", "history")
_OF_FORMATS = ("winners", "min_reward", "rejected", "reasoning", "legal", "logprobs", "margin")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    add_source(parser)
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv", "calls", "battles", "matrix", "verdicts", "sft", "preference", "grpo", "deals"),
        default="jsonl",
        help="jsonl: all records of a run; csv: one row per seat; calls: one JSON line per model call; battles: JSON lines in"
        " Chatbot Arena's format; matrix: wins of the row over the column; verdicts: verdicts of judges; sft, preference, grpo,"
        " deals: training data as JSON lines (default jsonl)",
    )
    parser.add_argument(
        "--environment",
        default="",
        metavar="ENV",
        help="environment to export, not for jsonl, csv and calls (default: all)",
    )
    training = parser.add_argument_group("training data (sft, preference, grpo, deals)")
    training.add_argument(
        "--out", type=flags.local_path, metavar="FILE|DIR", help="output path (default: standard output)"
    )
    training.add_argument(
        "--parquet", action="store_true", help="make --out a directory with a Parquet file and a dataset card"
    )
    training.add_argument(
        "--policy",
        action="append",
        default=[],
        dest="policies",
        metavar="POLICY",
        help="only conversations of this policy; repeatable",
    )
    training.add_argument(
        "--history",
        choices=("updates", "full", "single_turn"),
        help="content of a conversation: the new text of each turn (default), the full text of each turn, or one turn",
    )
    training.add_argument(
        "--staff", action="store_true", default=None, help="include conversations of judges and other staff"
    )
    training.add_argument("--people", action="store_true", default=None, help="include matches with human players")
    training.add_argument(
        "--winners", action="store_true", default=None, help="sft: only the players with the highest reward of a match"
    )
    training.add_argument(
        "--min-reward", type=flags.finite, metavar="REWARD", help="sft: only players with at least this reward"
    )
    training.add_argument(
        "--rejected",
        action="store_true",
        default=None,
        help="sft, preference: keep rejected replies in the conversations, marked as not trainable",
    )
    training.add_argument(
        "--reasoning", action="store_true", default=None, help="sft, grpo: add a column with the reasoning"
    )
    training.add_argument(
        "--legal",
        action="store_true",
        default=None,
        help="sft, grpo: add a column with the legal moves before each reply",
    )
    training.add_argument(
        "--logprobs",
        action="store_true",
        default=None,
        help="sft, grpo: add a column with the log probability of each reply, where its policy recorded one",
    )
    training.add_argument(
        "--margin",
        type=flags.amount,
        metavar="REWARD",
        help="preference: minimum difference in reward between the chosen and the rejected move",
    )


def main(args: argparse.Namespace) -> int:
    """Writes the log of a run, results of a run or a log, or training data.

    Returns:
        0, or 1 if a damaged match was left out of training data, or an empty Parquet data set was not written.
    """
    if args.format in _RESULTS:
        _check_no_training(args)
        with opened(args) as source:
            _RESULTS[args.format](source, sys.stdout, args.environment)
        return 0
    directory = _run_directory(args)
    if args.format in FORMATS:
        return _export_training_data(args, directory)
    _check_no_training(args)
    if args.environment:
        raise OptionError(f"environment: {args.format} exports all environments: leave it out")
    with closing(run_directory.open_store(directory)) as store:
        if args.format == "calls":
            sys.stdout.writelines(f"{dump_call(logged)}\n" for logged in store.calls())
        else:
            {"jsonl": write_jsonl, "csv": write_csv}[args.format](store.records(), sys.stdout)
    return 0


def _run_directory(args: argparse.Namespace) -> Path:
    if len(args.paths) > 1 or args.log_format != AUTO or args.metric or args.seated:
        raise OptionError(f"--format {args.format}: expected one run directory, got options or files of a log")
    directory: Path = args.paths[0]
    return directory


def _export_training_data(args: argparse.Namespace, directory: Path) -> int:
    """Writes rows, and a summary to standard error; returns the exit code."""
    given = _given(args)
    known = {*inspect.signature(FORMATS[args.format]).parameters, *_SELECTION}
    _check_known(args, given, known - set(_NOT_OF_DEALS if args.format == "deals" else ()))
    if args.parquet and args.out is None:
        raise OptionError("--parquet: expected --out DIR, the directory to make")
    if args.parquet:
        check_extra("Parquet files need", "parquet", "pyarrow")
    own: dict[str, Any] = {name: value for name, value in given.items() if name in _OF_FORMATS}
    selected = {name: value for name, value in given.items() if name in _SELECTION}
    selection = Selection(**selected, legal=bool(args.legal))
    run, store = run_directory.open_run(directory)
    with closing(store):
        export = Export(run.config, store, FORMATS[args.format](**own), selection)
        if args.out is None:
            rows = write_json_lines(export.rows(), sys.stdout)
        else:
            rows = export.write_data_set(args.out) if args.parquet else export.write_file(args.out)
    _report(export.tally, rows)
    if args.parquet and not rows:
        print(f"{printable(str(args.out))}: not written, because there are no rows", file=sys.stderr)
        return 1
    return 1 if export.tally.problems else 0


def _check_no_training(args: argparse.Namespace) -> None:
    """Checks that no training-data option is set."""
    _check_known(args, {**_given(args), **({"out": args.out} if args.out or args.parquet else {})}, {"environment"})


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the options that are set, by name."""
    values = {name: getattr(args, name) for name in (*_SELECTION, *_OF_FORMATS)}
    return {name: value for name, value in values.items() if value not in (None, [], "")}


def _check_known(args: argparse.Namespace, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            flag = "policy" if name == "policies" else name.replace("_", "-")
            raise OptionError(f"--{flag}: not an option of --format {args.format}")


def _report(tally: Tally, rows: int) -> None:
    for problem in tally.problems:
        print(printable(problem), file=sys.stderr)
    if tally.left_out[DAMAGED] > len(tally.problems):
        print(f"and {tally.left_out[DAMAGED] - len(tally.problems)} more damaged matches", file=sys.stderr)
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.left_out.items()))
    print(f"{rows} rows of {tally.matches} matches; left out: {left_out or 'none'}", file=sys.stderr)
