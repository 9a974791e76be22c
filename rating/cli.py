"""Entry point and exit codes of the ``llmarena`` command; ``rating.commands`` has its arguments and subcommands."""

import argparse
import importlib
import sys
import traceback
from collections.abc import Callable, Sequence

from rating.commands.arguments import build_parser
from rating.commands.pipes import readers_may_leave
from rating.commands.signals import Interruptions

EXIT_DONE = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_ERRORS = 3
EXIT_BUDGET = 4
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    If the reader of standard output closes it, commands that play a run continue; all others exit with 0.

    Returns:
        0 success, 1 internal error or failed verification, 2 usage error, 3 error budget exceeded, void matches, paused games
        or no cluster, 4 budget of cost, tokens or time used up, 130 interrupted, 143 terminated.
    """
    with Interruptions() as interruptions:
        args = build_parser().parse_args(arguments)
        args.interruptions = interruptions
        with readers_may_leave(goes_on=args.goes_on):
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
            f"{traceback.format_exc()}"
            "internal error; unless the trace ends in a module of your own, this is a bug of llmarena",
            EXIT_INTERNAL,
        )


def _translated(command: Callable[[], int | None]) -> int:
    """Runs a command and turns the project's own errors into messages and exit codes."""
    try:
        from agents.errors import ProviderError, Quit
    except ImportError:
        return _fail(
            "the package `agents` in this environment belongs to another distribution (openai-agents has one of that name);"
            " install llmarena-envs into a virtual environment of its own",
            EXIT_USAGE,
        )
    from llmarena_envs.core.options import OptionError
    from rating.errors import BudgetExceeded, ClusterError, ErrorBudgetExceeded, IncompleteRun, RunError

    try:
        return int(command() or EXIT_DONE)
    except (OptionError, RunError) as error:
        return _fail(str(error), EXIT_USAGE)
    except (ClusterError, ErrorBudgetExceeded, IncompleteRun, ProviderError) as error:
        return _fail(str(error), EXIT_ERRORS)
    except BudgetExceeded as error:
        return _fail(str(error), EXIT_BUDGET)
    except Quit as error:
        return _fail(str(error), EXIT_INTERRUPTED)


def _run(args: argparse.Namespace) -> int | None:
    """Imports the module of a command and runs it."""
    from rating.records import environments

    environments.trust(getattr(args, "trust", False))
    module, name = args.handler
    code: int | None = getattr(importlib.import_module(module), name)(args)
    return code


def _fail(message: str, code: int) -> int:
    """Prints a message, escaped since it may contain text from a server or a player, and returns the exit code."""
    from llmarena_envs.core.terminal import printable

    print(f"llmarena: {printable(message)}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
