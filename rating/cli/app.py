"""The ``llmarena`` command: its subcommands and exit codes. Each subcommand has a module with its arguments and its code."""

import argparse
import importlib
import importlib.metadata
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rating.cli.process import Interruptions, closed_pipes_ignored

EXIT_DONE = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_ERRORS = 3
EXIT_BUDGET = 4
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


class Command(NamedTuple):
    """A command.

    Attributes:
        module: module in ``rating.cli``, imported only if the command is used.
        help: help text.
        has_json: whether it has ``--json``.
        plays: whether it plays a run, and so continues after its output pipe is closed.
        add_arguments: function of the module that adds the arguments.
        main: function of the module that runs the command.
    """

    module: str
    help: str
    has_json: bool = False
    plays: bool = False
    add_arguments: str = "add_arguments"
    main: str = "main"


_FIRST_STEPS = """\
llmarena demo                                       a rated tournament of scripted policies, offline, in a minute
llmarena play ttt                                   play tic-tac-toe yourself
llmarena run --games ttt,connect4 --model openai/gpt-5 --policy random --budget 1 --out runs/first
                                                    rate a model
llmarena init                                       write a run file to edit
llmarena new nim                                    write a game of your own

llmarena --help                                     all commands"""

COMMANDS = {
    "list": Command("environments", "list the environments, or the policies of one", has_json=True),
    "check": Command(
        "environments",
        "check an environment against the rules of the suite",
        add_arguments="add_check_arguments",
        main="check",
    ),
    "new": Command("new", "write the Python file of a new environment"),
    "init": Command("new", "write a run file to edit", add_arguments="add_init_arguments", main="init"),
    "play": Command("play", "play one match", has_json=True),
    "run": Command("run", "play and rate policies until the ratings converge", plays=True),
    "resume": Command(
        "run",
        "resume a run, or add a policy to it",
        plays=True,
        add_arguments="add_resume_arguments",
        main="resume",
    ),
    "demo": Command(
        "run",
        "play both board games between all scripted policies, offline",
        plays=True,
        add_arguments="add_demo_arguments",
        main="demo",
    ),
    "rate": Command(
        "results",
        "compute the leaderboards of a run or a log",
        has_json=True,
        add_arguments="add_rate_arguments",
        main="rate",
    ),
    "report": Command(
        "results",
        "write the HTML report of a run or a log",
        has_json=True,
        add_arguments="add_report_arguments",
        main="report",
    ),
    "compare": Command("compare", "test whether one policy is better than another", has_json=True),
    "exploit": Command(
        "exploit", "measure how far a policy is from unexploitable play, in a small game", has_json=True
    ),
    "blame": Command("blame", "find the turn that lost a match, by continuing it after other replies", has_json=True),
    "replay": Command("replay", "show a match turn by turn, or verify recorded matches", has_json=True),
    "agreement": Command("agreement", "show judge agreement and bias", has_json=True),
    "export": Command("export", "write the matches or results of a run to standard output"),
    "serve": Command("serve", "show a run in a browser, live or finished"),
}


def build_parser(arguments: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Returns the parser of the command line.

    Args:
        arguments: the command line. Only the commands in it get their arguments, because modules are slow to import. ``None``
            for all commands.
    """
    parser = argparse.ArgumentParser(
        prog="llmarena", description="Let language models, scripted policies and people play text games, and rate them."
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        added = commands.add_parser(
            name, help=command.help, description=f"{command.help[0].upper()}{command.help[1:]}."
        )
        added.set_defaults(command=command)
        if arguments is not None and name not in arguments:
            continue
        if command.has_json:
            added.add_argument("--json", action="store_true", help="print JSON")
        _function(command.module, command.add_arguments)(added)
    return parser


def _function(module: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(importlib.import_module(f"rating.cli.{module}"), name)
    return function


class _Version(argparse.Action):
    """Prints the version, which is looked up on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"llmarena {importlib.metadata.version('llmarena-envs')}")
        parser.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    If the reader of standard output closes it, commands that play a run continue; all others exit with 0.

    Returns:
        0 success, 1 internal error or failed verification, 2 usage error, 3 error budget exceeded, void matches, paused games
        or no cluster, 4 budget of cost, tokens or time reached, 130 interrupted, 143 terminated.
    """
    with Interruptions() as interruptions:
        words = list(sys.argv[1:] if arguments is None else arguments)
        if not words and sys.stdout.isatty():
            print(_FIRST_STEPS)
            return EXIT_DONE
        args = build_parser(words).parse_args(words)
        args.interruptions = interruptions
        with closed_pipes_ignored(continues=args.command.plays):
            code = guarded(lambda: _run(args), interruptions)
        return EXIT_TERMINATED if code == EXIT_INTERRUPTED and interruptions.terminated else code


def guarded(command: Callable[[], int | None], interruptions: Interruptions) -> int:
    """Runs a command and turns every exception into a message and an exit code."""
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
            f"{traceback.format_exc()}internal error: unless the traceback ends in your own module, please report this bug",
            EXIT_INTERNAL,
        )


def _translated(command: Callable[[], int | None]) -> int:
    """Runs a command and turns the project's own errors into messages and exit codes."""
    try:
        from agents.errors import ProviderError, Quit
    except ImportError:
        return _fail(
            "another distribution, e.g. openai-agents, has replaced the package `agents`: install llmarena-envs into its own"
            " virtual environment",
            EXIT_USAGE,
        )
    from llmarena_envs.core.options import OptionError
    from llmarena_envs.core.prompts import PromptError
    from rating.errors import BudgetExceeded, ClusterError, ErrorBudgetExceeded, IncompleteRun, RunError

    try:
        return int(command() or EXIT_DONE)
    except (OptionError, PromptError, RunError) as error:
        return _fail(str(error), EXIT_USAGE)
    except (ClusterError, ErrorBudgetExceeded, IncompleteRun, ProviderError) as error:
        return _fail(str(error), EXIT_ERRORS)
    except BudgetExceeded as error:
        return _fail(str(error), EXIT_BUDGET)
    except Quit as error:
        return _fail(str(error), EXIT_INTERRUPTED)


def _run(args: argparse.Namespace) -> int | None:
    """Runs a command."""
    from rating.store import environments

    environments.trust(getattr(args, "trust", False))
    code: int | None = _function(args.command.module, args.command.main)(args)
    return code


def _fail(message: str, code: int) -> int:
    """Prints a message, escaped since it may contain text from a server or a player, and returns the exit code."""
    from llmarena_envs.core.terminal import printable

    print(f"llmarena: {printable(message)}", file=sys.stderr)
    return code
