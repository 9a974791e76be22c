"""``llmarena agreement``: judge agreement before and after discussion, and judge bias."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from llmarena_envs.core.options import OptionError, check_choice, parse_pairs
from rating.cli import flags
from rating.cli.printing import print_sheets
from rating.judgements import Judgement
from rating.judges import study
from rating.readers import read_judgements
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
        title, judged = ", ".join(path.name for path in paths), _of_files(paths, args.environment)
    elif len(paths) == 1:
        title, judged = "", _of_run(paths[0], args.environment)
    else:
        raise OptionError(f"expected one directory of a run, or files of judgements, got {len(paths)} paths")
    if len(judged) > 1:
        raise OptionError(
            f"{paths[0]}: expected one of several environments: say --environment with {', '.join(judged)}"
        )
    ((environment, judgements),) = judged.items()
    found = study(
        judgements,
        level=args.level,
        min_pairs=args.min_pairs,
        families=parse_pairs(args.family, "family", "NAME=FAMILY"),
    )
    if args.json:
        print(to_json(found))
    else:
        print_sheets(judge_sheets(found, title or environment))


def _of_files(paths: Sequence[Path], environment: str) -> dict[str, list[Judgement]]:
    """Returns the judgements in files by environment, or of one environment."""
    judged = read_judgements(paths)
    if not environment:
        return judged
    check_choice("environment", environment, judged)
    return {environment: judged[environment]}


def _of_run(directory: Path, environment: str) -> dict[str, list[Judgement]]:
    """Returns the judgements of a run by environment, or of one environment."""
    with open_source(directory) as source:
        known = source.environments()
        if environment:
            check_choice("environment", environment, known)
        names = [environment] if environment else known
        judged = {name: said for name in names if (said := source.judgements(name)) is not None}
    if not judged:
        raise OptionError(
            f"{directory}: expected an environment whose judges give verdicts, got"
            f" {', '.join(names) or 'no match that has ended'}"
        )
    return judged
