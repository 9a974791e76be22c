"""``llmarena export --format sft``, ``preference``, ``grpo`` and ``deals``: export training data."""

import argparse
import inspect
import sys
from collections.abc import Collection, Iterable
from contextlib import closing
from typing import Any

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.cli.flags import check_extra
from rating.play import run_directory
from rating.training.conversations import DAMAGED, Selection, Tally
from rating.training.rows import FORMATS
from rating.training.write import Export, write_json_lines

_NOT_OF_DEALS = ("policies", "staff", "history")
_SELECTION = ("environment", "policies", "staff", "people", "history")
_OF_FORMATS = ("winners", "min_reward", "rejected", "reasoning", "margin")


def export_training_data(args: argparse.Namespace) -> int:
    """Writes rows, and a summary to standard error.

    Returns:
        0, or 1 if a damaged match was left out, or an empty Parquet data set was not written.

    Raises:
        OptionError: if the format does not support an option.
    """
    given = _given(args)
    known = {*inspect.signature(FORMATS[args.format]).parameters, *_SELECTION}
    _check_known(args, given, known - set(_NOT_OF_DEALS if args.format == "deals" else ()))
    if args.parquet and args.out is None:
        raise OptionError("--parquet: expected --out DIR, the directory to make")
    if args.parquet:
        check_extra("Parquet files need", "parquet", "pyarrow")
    own: dict[str, Any] = {name: value for name, value in given.items() if name in _OF_FORMATS}
    selection = Selection(**{name: value for name, value in given.items() if name in _SELECTION})
    run, store = run_directory.open_run(args.dir)
    with closing(store):
        export = Export(run.config, store, FORMATS[args.format](**own), selection)
        if args.out is None:
            rows = write_json_lines(export.rows(), sys.stdout)
        else:
            rows = export.write_data_set(args.out) if args.parquet else export.write_file(args.out)
    _report(export.tally, rows)
    if args.parquet and not rows:
        print(f"{printable(str(args.out))}: not made, since a data set without rows cannot be read", file=sys.stderr)
        return 1
    return 1 if export.tally.problems else 0


def check_no_training(args: argparse.Namespace) -> None:
    """Checks that no training-data option is set.

    Raises:
        OptionError: if one is set.
    """
    _check_known(args, {**_given(args), **({"out": args.out} if args.out or args.parquet else {})}, {"environment"})


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Returns the options that are set, by name."""
    values = {name: getattr(args, name) for name in (*_SELECTION, *_OF_FORMATS)}
    return {name: value for name, value in values.items() if value not in (None, [], "")}


def _check_known(args: argparse.Namespace, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            flag = "policy" if name == "policies" else name.replace("_", "-")
            raise OptionError(f"--{flag}: --format {args.format} has none; leave it out")


def _report(tally: Tally, rows: int) -> None:
    for problem in tally.problems:
        print(printable(problem), file=sys.stderr)
    if tally.left_out[DAMAGED] > len(tally.problems):
        print(f"and so on: these are the first {len(tally.problems)}", file=sys.stderr)
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.left_out.items()))
    print(f"{rows} rows of {tally.matches} matches; left out: {left_out or 'none'}", file=sys.stderr)
