"""``llmarena run --dry-run``: forecast the cost of a run."""

import asyncio
from collections.abc import Iterator

from rating.cli.printing import print_sheets
from rating.config.budget import Budget
from rating.play import run_directory
from rating.play.dry_run import NOTHING, Expected, Forecast, Span, forecast
from rating.schemes.leaderboard import ALWAYS
from rating.viewer.report.tables import Sheet


def print_forecast(run_file: str, where: str, reply_tokens: int, latency: float, limits: Budget) -> None:
    """Prints a forecast of matches, calls, tokens, cost and time. Sends nothing and creates no directory.

    Args:
        run_file: text of the run file.
        where: name of the run file in error messages.
        reply_tokens: assumed tokens per reply.
        latency: assumed seconds per call.
        limits: budget limits that override those in the run file.

    Raises:
        OptionError: if the run file is not valid.
    """
    run = run_directory.check_run_file(run_file, where, offline=True).run
    found = asyncio.run(forecast(run, reply_tokens=reply_tokens, latency=latency))
    budget = run.config.budget.budget().replaced(limits.cost, limits.tokens, limits.seconds)
    print_sheets([forecast_sheet(found, reply_tokens, latency, budget)])


def forecast_sheet(found: Forecast, reply_tokens: int, latency: float, budget: Budget) -> Sheet:
    """Returns the table of a forecast, with notes on whether the budget suffices."""
    header = ["environment", "policy", "matches", "calls", "tokens in", "tokens out"]
    header += [f"cost in {found.currency}"] if found.currency else []
    rows = [_row(row, found.currency) for row in found.rows]
    total = ["total", "", _count(sum(found.matches.values(), NOTHING))]
    for name in ("calls", "prompt_tokens", "completion_tokens"):
        total.append(_count(sum((getattr(row, name) for row in found.rows), NOTHING)))
    if found.currency:
        costs = [row.cost for row in found.rows if row.cost is not None]
        known = _money(sum(costs, NOTHING))
        total.append(known if len(costs) == len(found.rows) else f"at least {known}")
    notes = [*_notes(found, reply_tokens, latency), *_budget_notes(found, budget)]
    return Sheet("Forecast", header, [*rows, total], notes, [ALWAYS] * len(header))


def _row(row: Expected, currency: str) -> list[str]:
    counts = [row.matches, row.calls, row.prompt_tokens, row.completion_tokens]
    cost = [_money(row.cost) if row.cost else "no price"] if currency else []
    return [row.environment, row.policy, *map(_count, counts), *cost]


def _notes(found: Forecast, reply_tokens: int, latency: float) -> list[str]:
    matches = ", ".join(f"{name}: {_count(span)}" for name, span in found.matches.items())
    notes = [
        "nothing was sent; what is expected, and in brackets between what",
        f"matches of all policies: {matches}",
        "they come from the schedule and the stop rule, given made results: of policies that are equally good, and of ones far"
        " apart",
        f"calls and tokens come from {found.rehearsed} rehearsals: matches by random and other scripted play with the real"
        " prompts, one call a turn, the brackets from their quartiles; tokens are counted by words, as 4/3 of a token each",
        "on top come replies that are asked for again, attempts that fail, and long talk between players",
        f"a reply is taken for {reply_tokens} tokens, or max_tokens if that is less (--reply-tokens); a model that reasons writes"
        " many more",
        f"time: {_time(found.seconds)}, with {latency:g} s a call (--latency) and the concurrency of the run file, where no"
        " server limits it",
    ]
    if not found.currency:
        notes.append("there are no prices, so no costs: give them with [[price]] in the run file")
    if found.left_out:
        notes.append(f"not counted, since their calls are their own: {', '.join(found.left_out)}")
    return notes


def _budget_notes(found: Forecast, budget: Budget) -> Iterator[str]:
    tokens = sum((row.prompt_tokens + row.completion_tokens for row in found.rows), NOTHING)
    cost = sum((row.cost for row in found.rows if row.cost is not None), NOTHING)
    limits = (
        (budget.cost, cost, found.currency),
        (budget.tokens, tokens, "tokens"),
        (budget.seconds, found.seconds, "s"),
    )
    for limit, span, unit in limits:
        if limit is not None:
            verdict = "stops it before its end" if span.low > limit else "may stop it before its end"
            yield f"the budget of {limit:,.10g} {unit} {verdict if span.high > limit else 'is enough'}"


def _count(span: Span) -> str:
    low, expected, high = (_rounded(value) for value in (span.low, span.expected, span.high))
    return f"{expected:,}" if low == high else f"{expected:,} [{low:,}, {high:,}]"


def _rounded(value: float) -> int:
    """Rounds to three significant digits."""
    return int(float(f"{value:.3g}"))


def _money(span: Span) -> str:
    return f"{span.expected:.3g} [{span.low:.3g}, {span.high:.3g}]"


def _time(span: Span) -> str:
    return f"{_clock(span.expected)} [{_clock(span.low)}, {_clock(span.high)}]"


def _clock(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{seconds:.0f} s" if seconds < 120 else f"{minutes // 60} h {minutes % 60:02} min"
