"""Command-line arguments of ``llmarena``: a table of commands, and a function per command that adds its arguments.

Imports nothing slow: the module of a command is imported when the command runs.
"""

import argparse
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rating.commands.values import amount, count, duration, finite, local_path, names, positive

DEFAULT_HOST = "127.0.0.1"
"""Default host of the pages: reachable from this machine only."""

DEFAULT_PORT = 8642
"""Default port of the pages."""


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser. ``handler`` of its result is the module and function of the command."""
    parser = _Parser(
        prog="llmarena", description="Let language models, scripted policies and people play text games, and rate them."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        added = commands.add_parser(command.name, help=command.text, description=_sentence(command.text))
        module, function = command.handler.split(".")
        added.set_defaults(handler=(f"rating.commands.{module}", function), goes_on=command.goes_on)
        if command.json:
            added.add_argument("--json", action="store_true", help="print JSON")
        command.add(added)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser with an optional last paragraph of the help, computed when the help is shown."""

    ending: Callable[[], str] | None = None

    def format_help(self) -> str:
        return super().format_help() + (self.ending() if self.ending is not None else "")


def _installed_run_files() -> str:
    from llmarena_envs.core.terminal import printable
    from rating.running.run_file_source import named_run_files

    return "\n".join(["\ninstalled run files:", *(f"  {printable(name)}" for name in named_run_files()), ""])


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _no_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments."""


def _policies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--env", metavar="ENV", help="only those that play this environment")


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "env", metavar="ENV", help="environment, e.g. tictactoe_v0, or package.module of one of your own"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    parser.add_argument(
        "--seeds", type=positive, default=6, metavar="N", help="seeds of random matches, at least 2 (default 6)"
    )


def _play(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("env", metavar="ENV", help="environment, e.g. tictactoe_v0")
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="SEAT=POLICY",
        help="e.g. player_0=human; once for every seat (with --web those left out are a person, if there is none, and baselines)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    parser.add_argument("--seed", type=count, default=0, help="seed of the match (default 0)")
    _add_cache(parser)
    _add_web(parser)
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="with --web: directory of the match (default: llmarena-play, or a numbered one)",
    )


def _run(parser: "_Parser") -> None:
    parser.add_argument(
        "run_file",
        nargs="?",
        type=Path,
        metavar="RUNFILE",
        help="path of a run file, or the name of an installed one; or say it with flags",
    )
    parser.ending = _installed_run_files
    parser.add_argument("--env", action="append", default=[], metavar="ENV", help="an environment; may be repeated")
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="POLICY[@ENV,...]",
        help="a policy, in the environments named or in all, e.g. minimax@tictactoe_v0,connect_four_v0; may be repeated",
    )
    parser.add_argument("--seed", type=count, help="root seed")
    parser.add_argument("--preset", choices=("standard", "llmarena"), help="invalid-reply policy")
    parser.add_argument(
        "--schedule",
        choices=("round_robin", "adaptive"),
        help="who meets whom: a fixed cycle, or chosen from the results so far (default for rated two-player games)",
    )
    parser.add_argument(
        "--stop",
        metavar="RULE",
        help="when rated games end: order (default), spearman=0.99, top=3, separated=60, width=60, or several joined by +;"
        " trueskill for the paper's rule",
    )
    parser.add_argument("--max-matches", type=count, help="scheduled matches of a policy after which play stops")
    parser.add_argument("--min-matches", type=count, help="matches of a policy before play can stop")
    parser.add_argument(
        "--workers", type=count, help="workers for scripted matches, processes here or in a cluster; 0: one a core"
    )
    _add_session(parser)
    _add_web(parser)
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="directory of the run; must be new or empty (default, of an installed run file: its name, or a numbered one)",
    )
    _add_store(parser)
    parser.add_argument("--dry-run", action="store_true", help="play nothing; print what the run is expected to take")
    parser.add_argument(
        "--reply-tokens", type=positive, default=200, metavar="N", help="tokens of a reply in a dry run (default 200)"
    )
    parser.add_argument(
        "--latency", type=amount, default=2.0, metavar="SECONDS", help="of a call in a dry run (default 2)"
    )
    _add_wide(parser)


def _resume(parser: argparse.ArgumentParser) -> None:
    _add_session(parser)
    _add_web(parser)
    _add_run(parser)
    _add_wide(parser)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=local_path, metavar="DIR", help="directory of the run (default: llmarena-demo, or a numbered one)"
    )
    _add_store(parser)
    _add_wide(parser)


def _rate(parser: argparse.ArgumentParser) -> None:
    _add_results(parser)
    _add_wide(parser)
    parser.add_argument(
        "--style",
        type=names,
        default=(),
        metavar="NAMES",
        help="also rate with the style of judged texts held equal: length, format (headers, lists, bold), or length,format",
    )


def _report(parser: argparse.ArgumentParser) -> None:
    _add_results(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write (default: DIR/report.html); its figures stand beside it as SVG and PNG, in plots/, or FILE-plots/",
    )


def _replay(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    _add_trust(parser)
    parser.add_argument("match", nargs="?", default="", metavar="MATCH", help="match id, or its beginning")
    parser.add_argument(
        "--raw", action="store_true", help="show what was read, thought and replied, also where a story is told"
    )
    parser.add_argument("--verify", action="store_true", help="check every hash, play again and compare everything")


def _export(parser: argparse.ArgumentParser) -> None:
    _add_results(parser)
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
    training.add_argument("--out", type=local_path, metavar="FILE|DIR", help="where to (default: standard output)")
    training.add_argument(
        "--parquet", action="store_true", help="make --out a directory of Parquet files with a dataset card"
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
        "--min-reward", type=finite, metavar="REWARD", help="sft: only who received so much in the match"
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
        type=amount,
        metavar="REWARD",
        help="preference: by how much the chosen of two moves must have been rewarded better",
    )


def _import(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``import``. The readers check the format."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of one format")
    parser.add_argument(
        "--format",
        default="auto",
        metavar="FORMAT",
        help="battles, pairwise, verdicts, auto-arena, matrix, lm-eval or inspect (default: what the files look like)",
    )
    parser.add_argument(
        "--out", type=local_path, required=True, metavar="DIR", help="directory of the import; must be new or empty"
    )
    parser.add_argument("--seated", action="store_true", help="the first of a row sat first: fit an advantage of it")
    parser.add_argument(
        "--metric", default="", metavar="NAME", help="what is compared, where files hold several scores"
    )


def _agreement(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="+",
        type=local_path,
        metavar="DIR|FILE",
        help="directory of a run or an import, or files of judgements (CSV, JSON lines)",
    )
    parser.add_argument("--environment", default="", metavar="ENV", help="of a run with several that are judged")
    parser.add_argument(
        "--min-pairs",
        type=count,
        default=30,
        metavar="N",
        help="cases below which two judges have too few (default 30)",
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
        help="family of a judge or player, beside those of well-known models; may be repeated",
    )
    _add_trust(parser)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "dir", type=local_path, metavar="DIR", help="directory of a run or an import, or a log of battles"
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
    _add_trust(parser)


def _tournament(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    text = "add a policy and play its pairings"
    added = actions.add_parser("add", help=text, description="Add a policy to a tournament and play its pairings.")
    _add_session(added)
    _add_web(added)
    _add_run(added)
    added.add_argument("policy", metavar="POLICY", help="the newcomer")
    added.add_argument("--name", default="", metavar="NAME", help="what tables call it (default: POLICY)")
    added.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the policy; may be repeated"
    )
    added.add_argument("--prior", type=finite, metavar="SCORE", help="initial score (default: the median)")
    _add_wide(added)


def _serve(parser: argparse.ArgumentParser) -> None:
    _add_results(parser)
    _add_address(parser)


def _add_web(parser: argparse.ArgumentParser) -> None:
    """Adds ``--web`` and the address of the pages."""
    parser.add_argument("--web", action="store_true", help="show pages in a browser, in which people play and watch")
    _add_address(parser)


def _add_address(parser: argparse.ArgumentParser) -> None:
    """Adds the address of the pages."""
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help=f"address of the pages (default {DEFAULT_HOST}: this machine only)"
    )
    parser.add_argument(
        "--port",
        type=count,
        default=DEFAULT_PORT,
        help=f"port of the pages; 0 for any free one (default {DEFAULT_PORT})",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=local_path, metavar="DIR", help="directory of the run")


def _add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=local_path, metavar="DIR", help="directory of a run or an import")
    _add_trust(parser)


def _add_trust(parser: argparse.ArgumentParser) -> None:
    """Adds ``--trust``: whether a command that only reads may import and open modules and files named by the run."""
    parser.add_argument(
        "--trust", action="store_true", help="import the environments and open the files that the run names"
    )


def _add_wide(parser: argparse.ArgumentParser) -> None:
    """Adds ``--wide``."""
    parser.add_argument(
        "--wide",
        action="store_true",
        help="print all columns, not only those that one may quote, within 100 characters",
    )


def _add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="keep the run in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE, with ?run=NAME for another name than that of the"
        " directory; the password in PGPASSWORD or PGPASSFILE (default: a file in the directory)",
    )


def _add_session(parser: argparse.ArgumentParser) -> None:
    """Adds the settings of a session."""
    parser.add_argument("--max-errors", type=count, metavar="N", help="failures of providers after which play stops")
    parser.add_argument(
        "--executor",
        choices=("auto", "asyncio", "process", "ray"),
        help="where matches are played, in place of what the run file says: this process, a pool of processes, or a Ray cluster"
        " (RAY_ADDRESS); does not affect results",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="do not pause games whose first 30 matches are all tied, forfeited or void",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--max-cost",
        type=amount,
        metavar="AMOUNT",
        help="cost of all calls of the run at which play stops; needs prices",
    )
    parser.add_argument(
        "--max-tokens", type=count, metavar="N", help="tokens of all calls of the run at which play stops"
    )
    parser.add_argument(
        "--max-time", type=duration, metavar="TIME", help="time after which play stops: seconds, or as in 1h30m"
    )
    _add_cache(parser)


def _add_cache(parser: argparse.ArgumentParser) -> None:
    """Adds the reply cache."""
    parser.add_argument(
        "--cache",
        type=local_path,
        metavar="DIR",
        help="directory in which replies of models are kept and looked for first",
    )
    parser.add_argument("--offline", action="store_true", help="ask no model: every reply comes from the cache")


class _Command(NamedTuple):
    """A command.

    Attributes:
        name: name on the command line.
        handler: ``MODULE.FUNCTION`` in ``rating.commands``.
        text: help text.
        add: adds the arguments.
        json: whether the command has ``--json``.
        goes_on: whether the command continues after its output pipe is closed.
    """

    name: str
    handler: str
    text: str
    add: Callable[["_Parser"], None]
    json: bool = False
    goes_on: bool = False


_COMMANDS = (
    _Command("envs", "catalogue.envs", "list the environments", _no_arguments, json=True),
    _Command("policies", "catalogue.policies", "list the policies", _policies, json=True),
    _Command("check", "check.check", "check an environment against the rules of the suite", _check),
    _Command("play", "play.play", "play one match", _play, json=True),
    _Command("run", "run.run", "play a rated tournament until its ratings converge", _run, goes_on=True),
    _Command("resume", "run.resume", "resume a run", _resume, goes_on=True),
    _Command(
        "tournament",
        "tournament.add",
        "add a policy to a finished tournament",
        _tournament,
        goes_on=True,
    ),
    _Command("demo", "run.demo", "play both board games between all scripted policies, offline", _demo, goes_on=True),
    _Command("rate", "read.rate", "compute the leaderboards of a run or an import", _rate, json=True),
    _Command("report", "read.report", "write the HTML report of a run or an import", _report, json=True),
    _Command(
        "compare",
        "compare.compare",
        "test whether one policy is better than another",
        _compare,
        json=True,
    ),
    _Command("replay", "read.replay", "show a match turn by turn, or verify recorded matches", _replay, json=True),
    _Command("agreement", "agreement.agreement", "show judge agreement and bias", _agreement, json=True),
    _Command("export", "read.export", "write the matches or results of a run to standard output", _export),
    _Command("import", "import_log.import_log", "import results from other tools", _import, json=True),
    _Command("serve", "web.serve", "show a run in a browser, live or finished", _serve),
)


class _Version(argparse.Action):
    """Prints the version, which is looked up on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"llmarena {importlib.metadata.version('llmarena-envs')}")
        parser.exit()
