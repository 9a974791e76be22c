"""``llmarena export``: matches, results, calls and training data of a run or an import."""

import argparse
import sys
from contextlib import closing

from llmarena_envs.core.options import OptionError
from rating.cli import flags
from rating.cli.training_data import check_no_training, export_training_data
from rating.play import run_directory
from rating.store.calls import dump_call
from rating.store.export import write_csv, write_jsonl
from rating.training.rows import FORMATS
from rating.viewer.source import open_source
from rating.viewer.table_export import write_battles, write_matrix, write_verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    flags.add_results(parser)
    parser.add_argument(
        "--format",
        choices=("jsonl", "csv", "calls", "battles", "matrix", "verdicts", "sft", "preference", "grpo", "deals"),
        default="jsonl",
        help="jsonl: all of a run; csv: a row a seat; calls: a JSON line a call of a model; battles: a JSON line a pair, as"
        " Chatbot Arena has them; matrix: wins of the row over the column; verdicts: what judges said; sft, preference, grpo,"
        " deals: JSON lines to train a model on (default jsonl)",
    )
    parser.add_argument(
        "--environment", default="", metavar="ENV", help="of all formats but jsonl, csv and calls (default: all)"
    )
    training = parser.add_argument_group("training data (sft, preference, grpo, deals)")
    training.add_argument(
        "--out", type=flags.local_path, metavar="FILE|DIR", help="where to (default: standard output)"
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
        help="what it said only; may be repeated",
    )
    training.add_argument(
        "--history",
        choices=("updates", "full", "single_turn"),
        help="what a conversation holds: what is new in each turn (default), the whole text in each turn, or one turn",
    )
    training.add_argument("--staff", action="store_true", default=None, help="also what judges and other staff said")
    training.add_argument(
        "--people", action="store_true", default=None, help="also matches in which a person took part"
    )
    training.add_argument(
        "--winners", action="store_true", default=None, help="sft: of each match only who received most"
    )
    training.add_argument(
        "--min-reward", type=flags.finite, metavar="REWARD", help="sft: only who received so much in the match"
    )
    training.add_argument(
        "--rejected",
        action="store_true",
        default=None,
        help="sft, preference: keep replies that were no move in the conversations, marked as not to be learned",
    )
    training.add_argument(
        "--reasoning", action="store_true", default=None, help="sft, grpo: what was thought, in a column of its own"
    )
    training.add_argument(
        "--margin",
        type=flags.amount,
        metavar="REWARD",
        help="preference: by how much the chosen of two moves must have been rewarded better",
    )


def main(args: argparse.Namespace) -> int:
    """Writes the log of a run, results of a run or an import, or training data.

    Returns:
        0, or the exit code of ``export_training_data``.
    """
    if args.format in FORMATS:
        return export_training_data(args)
    check_no_training(args)
    if args.format in _RESULTS:
        with open_source(args.dir) as source:
            _RESULTS[args.format](source, sys.stdout, args.environment)
        return 0
    if args.environment:
        raise OptionError(f"environment: {args.format} holds all of a run; leave it out")
    with closing(run_directory.open_store(args.dir)) as store:
        if args.format == "calls":
            sys.stdout.writelines(f"{dump_call(logged)}\n" for logged in store.calls())
        else:
            {"jsonl": write_jsonl, "csv": write_csv}[args.format](store.records(), sys.stdout)
    return 0


_RESULTS = {"battles": write_battles, "matrix": write_matrix, "verdicts": write_verdicts}
"""Writers of results and verdicts, by format."""
