"""Progress of a run as a table and as a line."""

from collections import deque
from collections.abc import Callable

from rich.console import Group
from rich.table import Table
from rich.text import Text

from llmarena_envs.core.terminal import printable
from rating.play.progress import EnvironmentProgress, Progress
from rating.schemes.stopping import PAUSED
from rating.store.bill import Usage

_WINDOW = 30.0
"""Window in seconds for the call rate."""

_UNITS = ((10**9, "G"), (10**6, "M"), (1000, "k"))
_SLOTS = 0.25  # minimum seconds between two samples


class Pace:
    """Speed of a run.

    Args:
        clock: returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begin = clock()
        self._calls: deque[tuple[float, int]] = deque()

    def add(self, progress: Progress) -> None:
        """Adds a sample of the number of calls."""
        now, calls = self._clock(), sum(usage.calls for usage in progress.usage.values())
        if self._calls and now < self._calls[-1][0] + _SLOTS:
            return
        self._calls.append((now, calls))
        while len(self._calls) > 2 and self._calls[1][0] <= now - _WINDOW:
            self._calls.popleft()

    def calls_per_second(self) -> float:
        """Returns the completed calls per second in the last 30 seconds."""
        if len(self._calls) < 2:
            return 0.0
        (first, before), (last, after) = self._calls[0], self._calls[-1]
        return (after - before) / (last - first)

    def seconds_left(self, progress: Progress) -> float | None:
        """Returns the remaining seconds at the average pace of this session, or ``None`` if unknown."""
        left = 0
        for item in progress.environments:
            if item.left is None:
                return None
            left += item.left
        played = sum(item.played for item in progress.environments)
        if left and not played:
            return None
        return left * (self._clock() - self._begin) / max(played, 1)


def draw_table(progress: Progress, pace: Pace) -> Group:
    """Returns tables of the environments and the policies that call models, and a line on the whole run."""
    environments = _table("environment", "matches", "void", "")
    for item in progress.environments:
        _row(environments, item.name, _matches(item), str(item.void or ""), _state(item))
    parts: list[Table | Text] = [environments]
    policies = _by_policy(progress)
    if policies:
        table = _table("policy", "calls", "tokens in", "tokens out", "cost", "")
        for name, usage in policies.items():
            state = _errors(usage)
            if name in progress.suspended:
                state = f"suspended: {progress.suspended[name]}"
            tokens = _tokens(usage.prompt_tokens, usage), _tokens(usage.completion_tokens, usage)
            _row(table, name, f"{usage.calls:,}", *tokens, _cost(usage), state)
        parts.append(table)
    parts.append(Text(_whole(progress, pace), overflow="ellipsis", no_wrap=True))
    return Group(*parts)


def write_line(progress: Progress, pace: Pace) -> str:
    """Returns the progress of a run in one line."""
    matches = ", ".join(f"{item.name} {_matches(item)}" for item in progress.environments if not item.stopped)
    total = Usage.sum(progress.usage.values())
    errors = _errors(total)
    facts = [f"matches: {matches or 'all played'}", _whole(progress, pace)]
    if total.calls:
        tokens = f"{_tokens(total.prompt_tokens, total)} in, {_tokens(total.completion_tokens, total)} out"
        facts += [f"tokens: {tokens}", f"cost {_cost(total)}"]
    if errors:
        facts.append(errors)
    if progress.suspended:
        facts.append(f"suspended: {', '.join(progress.suspended)}")
    return printable("; ".join(facts))


def stop_line(item: EnvironmentProgress) -> str:
    """Returns the line that reports the end of an environment."""
    return f"{printable(item.name)}: {_matches(item)} matches, {_state(item)}"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    last = len(columns) - 1
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number in (0, last) else "right", no_wrap=True, overflow="ellipsis")
    return table


def _row(table: Table, *cells: str) -> None:
    """Adds a row of plain text, without control sequences and markup from untrusted names and messages."""
    table.add_row(*[Text(printable(" ".join(cell.split()))) for cell in cells])


def _matches(item: EnvironmentProgress) -> str:
    if item.expected is not None:
        return f"{item.finished:,} of {item.expected:,}"
    return f"{item.finished:,} of {item.scheduled:,}" + ("" if item.stopped else "+")


def _state(item: EnvironmentProgress) -> str:
    void = f", {item.void:,} void" if item.void and item.stopped else ""
    if item.stopped == PAUSED:
        return f"{PAUSED}{void}"
    return f"stopped: {item.stopped}{void}" if item.stopped else ""


def _by_policy(progress: Progress) -> dict[str, Usage]:
    parts: dict[str, list[Usage]] = {}
    for (_, policy), usage in progress.usage.items():
        parts.setdefault(policy, []).append(usage)
    return {policy: Usage.sum(own) for policy, own in parts.items()}


def _whole(progress: Progress, pace: Pace) -> str:
    """Returns calls, failures and remaining time of the whole run."""
    total = Usage.sum(progress.usage.values())
    facts = []
    if total.calls or progress.in_flight:
        limit = "" if progress.limit is None else f" of {progress.limit:,}"
        facts.append(
            f"{total.calls:,} calls, {pace.calls_per_second():.1f} a second, {progress.in_flight:,}{limit} under way"
        )
    if progress.errors:
        facts.append(f"{progress.errors:,} failures of providers or environments")
    if progress.deaths:
        facts.append(f"workers that died: {progress.deaths:,}")
    left = pace.seconds_left(progress)
    facts.append(f"time left: {'?' if left is None else _duration(left)}")
    return "; ".join(facts)


def _errors(usage: Usage) -> str:
    kinds = sorted(usage.errors.items(), key=lambda item: (-item[1], item[0]))
    return f"failed calls: {', '.join(f'{count:,} {kind}' for kind, count in kinds)}" if kinds else ""


def _tokens(tokens: int, usage: Usage) -> str:
    """Returns a number of tokens, with a plus if some usage is unknown."""
    unit, name = next(((unit, name) for unit, name in _UNITS if tokens >= 10 * unit), (1, ""))
    size = f"{tokens / unit:,.0f}{name}"
    return size + ("+" if usage.unknown else "")


def _cost(usage: Usage) -> str:
    """Returns a cost, with a plus if it is incomplete, or a question mark without any price."""
    if usage.unpriced and not usage.cost:
        return "?"
    return f"{usage.cost:.2f}" + ("+" if usage.unpriced or usage.unknown else "")


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{round(seconds)} s"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
