"""Commands that ask models: their arguments, their cost, and the question before they start."""

import argparse
import sys
from datetime import UTC, datetime

from agents.models.service import Target
from rating.cli import flags
from rating.prices import PriceTable, read_prices, shipped_prices


def add_arguments(parser: argparse.ArgumentParser, *, reply_tokens: str, yes: str) -> None:
    """Adds ``--prices``, ``--reply-tokens`` and ``--yes``.

    Args:
        parser: of the command.
        reply_tokens: help of ``--reply-tokens``, without its default.
        yes: help of ``--yes``.
    """
    parser.add_argument(
        "--prices", type=flags.local_path, metavar="FILE", help="file of [[price]] tables (default: shipped prices)"
    )
    parser.add_argument(
        "--reply-tokens", type=flags.positive, default=200, metavar="N", help=f"{reply_tokens} (default 200)"
    )
    parser.add_argument("--yes", action="store_true", help=yes)


def price_table(args: argparse.Namespace) -> PriceTable:
    """Returns the prices of ``--prices``, or the shipped ones."""
    return PriceTable(shipped_prices() if args.prices is None else read_prices(args.prices))


def usage_text(prices: PriceTable, target: Target, calls: float, read: float, written: float) -> str:
    """Returns calls, tokens and cost in words.

    Args:
        prices: the prices.
        target: the model.
        calls: number of requests.
        read: tokens of the prompts.
        written: tokens of the replies.
    """
    price = prices.find(target.model, target.base_url, datetime.now(UTC).date())
    cost = f"no price for {target.model}: --prices FILE"
    if price is not None:
        cost = f"{price.cost(round(read), 0, round(written), 0):.3g} {price.currency}"
    return f"{round(calls):,} calls, {round(read):,} tokens in, {round(written):,} out, {cost}"


def at_terminal() -> bool:
    """Returns whether questions can be asked at the terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def may_start(args: argparse.Namespace) -> bool:
    """Returns whether to start: with ``--yes``, without a terminal, or if the user agrees."""
    return args.yes or not at_terminal() or is_start_confirmed()


def is_start_confirmed() -> bool:
    """Asks at the terminal whether to start."""
    print("Start? [Y/n] ", end="", file=sys.stderr, flush=True)
    return input().strip().lower() in ("", "y", "yes")
