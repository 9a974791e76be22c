"""``llmarena reparse``: which recorded replies are read otherwise now, and what that does to the ratings."""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from agents.rereading import Difference, Reading
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.terminal import printable
from rating.commands.read import print_grid, print_tables
from rating.errors import RunError
from rating.records.outcome import Outcome
from rating.records.record import Record
from rating.records.reparse import FATES, KNOWN, OTHERWISE, PROBLEM, SAME, Reparsed, reparse
from rating.records.store import Store
from rating.report.tables import to_json
from rating.running import run_directory
from rating.running.contests import make_leaderboards
from rating.running.people import people
from rating.running.run_file import RunConfig
from rating.schemes.figures import Grid

MAX_SHOWN = 50
"""Replies in the table for people; JSON holds all."""

_END = 60  # characters shown of the end of a reply
_ANOTHER = "another move"

_HEADINGS = {
    SAME: "read the same",
    KNOWN: "read otherwise, outcome known",
    OTHERWISE: "would have gone on otherwise",
    PROBLEM: "cannot be read again",
}


@dataclass
class _Findings:
    """What reading a run again has found.

    Attributes:
        facts: of the run.
        before: outcomes of the matches that could be read, as they were.
        after: the same as they would be.
        fates: number of matches by environment and what becomes of them.
        readings: number of replies by environment, policy, what they were taken for and what they are taken for now.
        shown: the first rows of the table of replies.
        replies: number of replies read again.
        reworded: number of matches in which a player would read another text now.
        problems: what is damaged or does not fit, with where it stands.
    """

    facts: dict[str, str] = field(default_factory=dict)
    before: list[Outcome] = field(default_factory=list)
    after: list[Outcome] = field(default_factory=list)
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    readings: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    shown: list[list[str]] = field(default_factory=list)
    replies: int = 0
    reworded: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def different(self) -> int:
        """Number of replies that are read otherwise now."""
        return self.readings.total()


def reparse_run(args: argparse.Namespace) -> int:
    """Reads every recorded reply of a run again and prints what differs; the run is left as it is.

    Returns:
        0, or 1 if something is damaged or does not fit.
    """
    found = _Findings()
    config, store = run_directory.open_run(args.dir)
    with closing(store):
        if store.sealed:  # a run that is under way or was killed has no seal
            found.problems += store.check()
        rows = _read_again(config, store, found)
        if args.json:
            _print_json(config, rows, found)
        else:
            for _ in rows:
                pass
            _print_tables(config, found)
    return 1 if found.problems else 0


def _read_again(config: RunConfig, store: Store, found: _Findings) -> Iterator[dict[str, Any]]:
    """Reads match by match, and yields a table of JSON values for every reply that is read otherwise now."""
    try:
        found.facts, persons = store.facts(), people(config, store)
        settings = run_directory.turn_settings(store)
        for record in store.records():
            read = reparse(record, settings[record.match.environment], persons)
            _count(record, read, found)
            for difference in read.differences:
                policy = read.seats[difference.agent]
                then, now = _name(difference.then), _name(difference.now)
                if then == now:
                    now = _ANOTHER
                found.readings[record.match.environment, policy, then, now] += 1
                if len(found.shown) < MAX_SHOWN:
                    found.shown.append(_row(record, policy, difference))
                yield _table(record, policy, difference)
    except (RunError, KeyError) as error:
        found.problems.append(f"matches cannot be read any further: {error}")


def _count(record: Record, read: Reparsed, found: _Findings) -> None:
    found.fates[record.match.environment, read.fate] += 1
    found.replies += sum(len(turn.attempts) for turn in record.turns)
    found.reworded += read.rereading.reworded
    if record.outcome is not None and read.outcome is not None:
        found.before.append(record.outcome)
        found.after.append(read.outcome)
    if read.problem:
        found.problems.append(
            f"match {record.match.id} ({record.match.environment} {record.match.number}): {read.problem}"
        )


def _name(reading: Reading) -> str:
    """Returns what a reply was taken for, in words; one that was cut may hold a move all the same."""
    if reading.kind is Failure.OK:
        return "move"
    return reading.kind.name.lower() + (" with a move" if reading.action is not None else "")


def _row(record: Record, policy: str, difference: Difference) -> list[str]:
    end = " ".join(difference.reply.split())
    return [
        record.match.id[:8],
        record.match.environment,
        str(difference.turn + 1),
        difference.agent,
        policy,
        difference.played_then or _name(difference.then),
        difference.played_now or _name(difference.now),
        end if len(end) <= _END else f"...{end[-_END:]}",
    ]


def _table(record: Record, policy: str, difference: Difference) -> dict[str, Any]:
    return {
        "environment": record.match.environment,
        "match": record.match.id,
        "number": record.match.number,
        "turn": difference.turn,
        "agent": difference.agent,
        "policy": policy,
        "then": difference.then.kind.name.lower(),
        "played_then": difference.played_then,
        "now": difference.now.kind.name.lower(),
        "played_now": difference.played_now,
        "reply": difference.reply,
    }


def _print_json(config: RunConfig, rows: Iterator[dict[str, Any]], found: _Findings) -> None:
    """Prints one JSON object, the replies one at a time."""
    print('{"differences": [', end="")
    for number, row in enumerate(rows):
        print(("," if number else "") + "\n  " + json.dumps(row, ensure_ascii=False), end="")
    readings = [
        {"environment": environment, "policy": policy, "then": then, "now": now, "replies": count}
        for (environment, policy, then, now), count in sorted(found.readings.items())
    ]
    environments = sorted({environment for environment, _ in found.fates})
    matches = {name: {fate: found.fates[name, fate] for fate in FATES} for name in environments}
    rest = {
        "replies": found.replies,
        "readings": readings,
        "matches": matches,
        "reworded_matches": found.reworded,
        "problems": found.problems,
    }
    print("],\n" + json.dumps(rest, indent=2, ensure_ascii=False)[2:-2], end="")
    for name, outcomes in (("was", found.before), ("would_be", found.after)):
        boards = [to_json(board) for board in make_leaderboards(config, outcomes, found.facts)]
        print(f',\n"{name}": [' + ",\n".join(boards) + "]", end="")
    print("}")


def _print_tables(config: RunConfig, found: _Findings) -> None:
    for problem in found.problems:
        print(printable(problem))
    if found.reworded:
        print(
            f"in {found.reworded} matches players would read another text now; their replies are read in the position in which"
            " they were given"
        )
    print(f"{found.replies} replies of {found.fates.total()} matches read again: ", end="")
    if not found.different:
        print("each is read as it was")
        return
    print(f"{found.different} are read otherwise")
    header = ["match", "environment", "turn", "agent", "policy", "then", "now", "the reply ends"]
    title = "Replies that are read otherwise"
    if found.different > len(found.shown):
        title += f", the first {len(found.shown)} of {found.different}; --json shows all"
    print_grid(Grid(title, header, found.shown))
    counts = [[*key, str(count)] for key, count in sorted(found.readings.items())]
    print_grid(Grid("How many", ["environment", "policy", "then", "now", "replies"], counts))
    environments = sorted({environment for environment, _ in found.fates})
    print_grid(
        Grid(
            "Matches",
            ["environment", *_HEADINGS.values()],
            [[name, *(str(found.fates[name, fate]) for fate in _HEADINGS)] for name in environments],
        )
    )
    print("\nLeaderboards as they were:")
    print_tables([*make_leaderboards(config, found.before, found.facts)])
    print("\nLeaderboards as replies are read now; matches that would have gone on otherwise count as void:")
    print_tables([*make_leaderboards(config, found.after, found.facts)])
