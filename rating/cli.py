"""The command ``llmarena``: arguments and exit codes; what each command does stands in ``rating.commands``."""

import argparse
import importlib
import importlib.metadata
import math
import re
import sqlite3
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rating.commands.pipes import readers_may_leave
from rating.commands.signals import Interruptions

EXIT_DONE = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_ERRORS = 3
EXIT_BUDGET = 4
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser; building it imports nothing that is slow."""
    parser = argparse.ArgumentParser(
        prog="llmarena", description="Let language models, scripted policies and people play text games, and rate them."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, module: str, text: str, *, reads: bool = False) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        added.set_defaults(handler=(f"rating.commands.{module}", name.replace("-", "_")), goes_on=module == "run")
        if reads:
            added.add_argument("--json", action="store_true", help="print JSON")
        return added

    command("envs", "catalogue", "list the environments", reads=True)
    policies = command("policies", "catalogue", "list the policies", reads=True)
    policies.add_argument("--env", metavar="ENV", help="only those that play this environment")

    play = command("play", "play", "play one match", reads=True)
    play.add_argument("env", metavar="ENV", help="environment, e.g. tictactoe_v0")
    play.add_argument(
        "--policy", action="append", default=[], metavar="SEAT=POLICY", help="e.g. player_0=human; once for every seat"
    )
    play.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    play.add_argument("--seed", type=_count, default=0, help="seed of the match (default 0)")
    _add_cache(play)

    run = command("run", "run", "play a rated tournament until its ratings converge")
    run.add_argument("run_file", nargs="?", type=Path, metavar="RUNFILE.toml", help="run file; or say it with flags")
    run.add_argument("--env", action="append", default=[], metavar="ENV", help="an environment; may be repeated")
    run.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="POLICY[@ENV,...]",
        help="a policy, in the environments named or in all, e.g. minimax@tictactoe_v0,connect_four_v0; may be repeated",
    )
    run.add_argument("--seed", type=_count, help="root seed")
    run.add_argument("--preset", choices=("standard", "llmarena"), help="what is done about bad replies")
    run.add_argument(
        "--stop",
        metavar="RULE",
        help="what rated games are played for: trueskill+order (default), trueskill (the paper's), spearman=0.99, separated=60,"
        " width=60, or several joined by +",
    )
    run.add_argument("--max-matches", type=_count, help="scheduled matches of a policy after which play stops")
    run.add_argument("--min-matches", type=_count, help="matches of a policy before play can stop")
    run.add_argument("--workers", type=_count, help="worker processes for scripted matches; 0 for one a core")
    _add_session(run)
    run.add_argument("--out", type=Path, metavar="DIR", help="directory of the run; must be new or empty")
    run.add_argument("--dry-run", action="store_true", help="play nothing; print what the run is expected to take")
    run.add_argument(
        "--reply-tokens", type=_positive, default=200, metavar="N", help="tokens of a reply in a dry run (default 200)"
    )
    run.add_argument(
        "--latency", type=_amount, default=2.0, metavar="SECONDS", help="of a call in a dry run (default 2)"
    )

    resume = command("resume", "run", "go on with a run that was stopped")
    _add_session(resume)
    demo = command("demo", "run", "play both board games between all scripted policies, offline")
    demo.add_argument(
        "--out", type=Path, metavar="DIR", help="directory of the run (default: llmarena-demo, or a numbered one)"
    )
    rate = command("rate", "read", "compute the leaderboards of a run or an import", reads=True)
    report = command("report", "read", "write the HTML report of a run or an import", reads=True)
    replay = command("replay", "read", "show a match turn by turn, or verify recorded matches", reads=True)
    reparse = command("reparse", "reparse", "show which recorded replies are read otherwise now", reads=True)
    reparse.set_defaults(handler=("rating.commands.reparse", "reparse_run"))
    export = command("export", "read", "write the log of a run, or results of pairs, to standard output")
    _add_import(command("import", "import_log", "bring in the results in logs of others", reads=True))
    agreement = command("agreement", "agreement", "show how judges agree and what they go by", reads=True)
    agreement.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="DIR|FILE",
        help="directory of a run or an import, or files of judgements (CSV, JSON lines)",
    )
    agreement.add_argument("--environment", default="", metavar="ENV", help="of a run with several that are judged")
    agreement.add_argument(
        "--min-pairs",
        type=_count,
        default=30,
        metavar="N",
        help="cases below which two judges have too few (default 30)",
    )
    agreement.add_argument(
        "--level", choices=("nominal", "ordinal", "interval"), default="nominal", help="scale for Krippendorff's alpha"
    )
    agreement.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="NAME=FAMILY",
        help="family of a judge or player; may be repeated",
    )
    compare = command("compare", "compare", "say whether one policy is better than another, at any moment", reads=True)
    for added in (resume, rate, report, replay, reparse, export, compare):
        added.add_argument("dir", type=Path, metavar="DIR", help="directory of the run")
    compare.add_argument("policies", nargs="+", metavar="POLICY", help="two policies; any number with --against")
    compare.add_argument("--against", default="", metavar="POLICY", help="champion that all of them are compared with")
    compare.add_argument(
        "--environment", default="", metavar="ENV", help="of a run with several (default: each, and all)"
    )
    compare.add_argument(
        "--level", type=float, default=0.05, metavar="P", help="probability of a wrong claim, at most (default 0.05)"
    )
    compare.add_argument(
        "--margin",
        default="0",
        metavar="MARGIN",
        help="by how much to be better: of win rate, as 0.05, or as 50elo (default 0)",
    )
    compare.add_argument("--equal", metavar="MARGIN", help="also ask whether they are equal within this")
    tournament = command("tournament", "tournament", "place a newcomer in a tournament that has been played")
    add = tournament.add_subparsers(title="actions", metavar="ACTION", required=True).add_parser(
        "add",
        help="add a policy and play its pairings",
        description="Add a policy to a tournament and play its pairings.",
    )
    add.set_defaults(handler=("rating.commands.tournament", "add"), goes_on=True)
    _add_session(add)
    add.add_argument("dir", type=Path, metavar="DIR", help="directory of the run")
    add.add_argument("policy", metavar="POLICY", help="the newcomer")
    add.add_argument("--name", default="", metavar="NAME", help="what tables call it (default: POLICY)")
    add.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the policy; may be repeated"
    )
    add.add_argument("--prior", type=float, metavar="SCORE", help="initial score (default: the median)")
    serve = command("serve-policy", "serve_policy", "serve a policy as an OpenAI-compatible chat endpoint")
    serve.add_argument(
        "policy", metavar="POLICY", help="the policy, e.g. minimax; clients ask for a model of this name"
    )
    serve.add_argument("--env", required=True, metavar="ENV", help="the environment that it plays")
    serve.add_argument(
        "--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1: this machine only)"
    )
    serve.add_argument("--port", type=_count, default=9000, help="port; 0 for any free one (default 9000)")
    serve.add_argument(
        "--option", action="append", default=[], metavar="KEY=VALUE", help="option of the environment, e.g. language=zh"
    )
    serve.add_argument(
        "--api-key-env", default="", metavar="NAME", help="environment variable with the key that clients must send"
    )
    report.add_argument("--output", type=Path, metavar="FILE", help="file to write (default: DIR/report.html)")
    replay.add_argument("match", nargs="?", default="", metavar="MATCH", help="match id, or its beginning")
    replay.add_argument(
        "--raw", action="store_true", help="show what was read, thought and replied, also where a story is told"
    )
    replay.add_argument("--verify", action="store_true", help="check every hash, play again and compare everything")
    export.add_argument(
        "--format",
        choices=("jsonl", "csv", "battles", "matrix", "verdicts"),
        default="jsonl",
        help="jsonl: all of a run; csv: a row a seat; battles: a JSON line a pair, as Chatbot Arena has them; matrix: wins of the"
        " row over the column; verdicts: what judges said (default jsonl)",
    )
    export.add_argument(
        "--environment", default="", metavar="ENV", help="of battles, matrix and verdicts (default: all)"
    )
    return parser


def _add_import(parser: argparse.ArgumentParser) -> None:
    """Adds what ``import`` is told; formats are checked by what reads them."""
    parser.set_defaults(handler=("rating.commands.import_log", "import_log"))
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files of one format")
    parser.add_argument(
        "--format",
        default="auto",
        metavar="FORMAT",
        help="battles, pairwise, verdicts, auto-arena, matrix, lm-eval or inspect (default: what the files look like)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="directory of the import; must be new or empty"
    )
    parser.add_argument("--seated", action="store_true", help="the first of a row sat first: fit an advantage of it")
    parser.add_argument(
        "--metric", default="", metavar="NAME", help="what is compared, where files hold several scores"
    )


def _add_session(parser: argparse.ArgumentParser) -> None:
    """Adds what holds for one go at a run."""
    parser.add_argument("--max-errors", type=_count, metavar="N", help="failures of providers after which play stops")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--max-cost",
        type=_amount,
        metavar="AMOUNT",
        help="cost of all calls of the run at which play stops; needs prices",
    )
    parser.add_argument(
        "--max-tokens", type=_count, metavar="N", help="tokens of all calls of the run at which play stops"
    )
    parser.add_argument(
        "--max-time", type=_duration, metavar="TIME", help="time after which play stops: seconds, or as in 1h30m"
    )
    _add_cache(parser)


def _add_cache(parser: argparse.ArgumentParser) -> None:
    """Adds where the replies of models come from."""
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="directory in which replies of models are kept and looked for first"
    )
    parser.add_argument("--offline", action="store_true", help="ask no model: every reply comes from the cache")


class _Version(argparse.Action):
    """Prints the version, which is only looked up now."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"llmarena {importlib.metadata.version('llmarena-envs')}")
        parser.exit()


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a number of 0 or more, got {text}")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return value


def _amount(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value


def _duration(text: str) -> float:
    """Reads seconds: ``90``, ``90s``, ``15m``, ``1h30m``."""
    parts = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?", text)
    seconds = (
        sum(int(part or 0) * unit for part, unit in zip(parts.groups(), (3600, 60, 1), strict=True)) if parts else 0
    )
    if not seconds:
        raise argparse.ArgumentTypeError(f"expected seconds, or a time such as 1h30m, got {text!r}")
    return float(seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    A run goes on to its end when nobody reads its output any more; every other command then ends with 0.

    Returns:
        0 done, 1 internal error or verification failed, 2 usage, 3 error budget exceeded or void matches left, 4 a
        budget of cost, tokens or time used up, 130 interrupted, 143 terminated.
    """
    with Interruptions() as interruptions:
        args = build_parser().parse_args(arguments)
        args.interruptions = interruptions
        with readers_may_leave(goes_on=args.goes_on):
            code = guarded(lambda: _run(args), interruptions)
        return EXIT_TERMINATED if code == EXIT_INTERRUPTED and interruptions.terminated else code


def guarded(command: Callable[[], int | None], interruptions: Interruptions) -> int:
    """Runs a command; whatever goes wrong becomes a message and an exit code."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # for policies and environments of the user's own; worker processes inherit the path
    try:
        code = _translated(command)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _fail("terminated" if interruptions.terminated else "interrupted", EXIT_INTERRUPTED)
    except OSError as error:
        return _fail(str(error), EXIT_USAGE)
    except Exception:
        return _fail(
            f"{traceback.format_exc()}"
            "internal error; unless the trace ends in a module of your own, this is a bug of llmarena",
            EXIT_INTERNAL,
        )


def _translated(command: Callable[[], int | None]) -> int:
    """Runs a command; the project's own errors become messages and exit codes."""
    try:
        from agents.errors import ProviderError, Quit
    except ImportError:
        return _fail(
            "the package `agents` in this environment belongs to another distribution (openai-agents has one of that name);"
            " install llmarena-envs into a virtual environment of its own",
            EXIT_USAGE,
        )
    from llmarena_envs.core.options import OptionError
    from rating.errors import BudgetExceeded, ErrorBudgetExceeded, IncompleteRun, RunError

    try:
        return int(command() or EXIT_DONE)
    except (OptionError, RunError) as error:
        return _fail(str(error), EXIT_USAGE)
    except sqlite3.DatabaseError as error:
        return _fail(f"the database of the run cannot be used: {error}", EXIT_USAGE)
    except (ErrorBudgetExceeded, IncompleteRun, ProviderError) as error:
        return _fail(str(error), EXIT_ERRORS)
    except BudgetExceeded as error:
        return _fail(str(error), EXIT_BUDGET)
    except Quit as error:
        return _fail(str(error), EXIT_INTERRUPTED)


def _run(args: argparse.Namespace) -> int | None:
    """Runs a command whose module is only imported now."""
    module, name = args.handler
    code: int | None = getattr(importlib.import_module(module), name)(args)
    return code


def _fail(message: str, code: int) -> int:
    """Shows a message, which may hold the words of a server or a player."""
    from llmarena_envs.core.terminal import printable

    print(f"llmarena: {printable(message)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
