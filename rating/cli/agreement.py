"""``llmarena agreement``: judge agreement before and after discussion, and judge bias."""

import argparse
from pathlib import Path

from llmarena_envs.core.options import OptionError, check_choice, parse_pairs
from rating.cli import flags
from rating.cli.printing import print_sheets
from rating.judge_errors import transport_between
from rating.judgements import Judgement
from rating.judges import study
from rating.readers import read_judgements
from rating.viewer.report.judge_errors import transport_sheet
from rating.viewer.report.judges import judge_sheets, to_json
from rating.viewer.source import open_source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument(
        "paths",
        nargs="+",
        type=flags.local_path,
        metavar="DIR|FILE",
        help="directory of a run, or files of judgements (CSV, JSON lines)",
    )
    parser.add_argument("--environment", default="", metavar="ENV", help="one of several judged environments")
    parser.add_argument(
        "--min-pairs",
        type=flags.count,
        default=30,
        metavar="N",
        help="items below which two judges have too few (default 30)",
    )
    parser.add_argument(
        "--level",
        choices=("nominal", "ordinal", "interval"),
        default="nominal",
        help="scale for Krippendorff's alpha (default nominal)",
    )
    parser.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="NAME=FAMILY",
        help="family of a judge or player, in addition to the built-in families; repeatable",
    )
    flags.add_trust(parser)


def main(args: argparse.Namespace) -> None:
    """Prints judge agreement and bias from the judgements of a run or files."""
    paths: list[Path] = args.paths
    if not any(path.is_dir() for path in paths):
        title, judged = ", ".join(path.name for path in paths), read_judgements(paths)
    elif len(paths) == 1:
        title, judged = "", _of_run(paths[0], args.environment)
    else:
        raise OptionError(f"expected one directory of a run, or files of judgements, got {len(paths)} paths")
    environment = args.environment
    if environment:
        check_choice("environment", environment, judged)
    elif len(judged) > 1:
        raise OptionError(
            f"{paths[0]}: expected one of several environments: say --environment with {', '.join(judged)}"
        )
    environment = environment or next(iter(judged))
    judgements, transport = judged[environment], transport_between(judged)
    found = study(
        judgements,
        level=args.level,
        min_pairs=args.min_pairs,
        families=parse_pairs(args.family, "family", "NAME=FAMILY"),
    )
    if args.json:
        print(to_json(found, transport))
    else:
        between = transport_sheet(transport, "environments")
        print_sheets([*judge_sheets(found, title or environment), *([between] if between else [])])


def _of_run(directory: Path, environment: str) -> dict[str, list[Judgement]]:
    """Returns the judgements of a run by environment."""
    with open_source(directory) as source:
        known = source.environments()
        if environment:
            check_choice("environment", environment, known)
        judged = {name: said for name in known if (said := source.judgements(name)) is not None}
    if not judged or environment not in ("", *judged):
        raise OptionError(
            f"{directory}: expected an environment whose judges give verdicts, got"
            f" {environment or ', '.join(known) or 'no match that has ended'}"
        )
    return judged
