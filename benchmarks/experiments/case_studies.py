"""Case studies: a few matches per policy as transcripts, with a list and a report page."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.experiments import transcript
from benchmarks.experiments.pool import Scripted, plan_run
from benchmarks.experiments.row import Result, RowOptions
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from rating.config.run_file import RunConfig
from rating.config.run_tables import EnvironmentConfig
from rating.store.records import FINISHED, Record
from rating.viewer.report.write import report_page


def plan_examples(
    options: RowOptions,
    environments: Sequence[EnvironmentConfig],
    matches: int,
    scripted: Scripted,
    together: Mapping[str, int],
) -> RunConfig:
    """Returns a run with the given number of matches per policy in every game that has policies.

    Args:
        options: of the row.
        environments: the games.
        matches: minimum per policy and game.
        scripted: the scripted policies of each environment.
        together: by environment, the minimum number of policies for matches among them; below it, and in environments not
            listed, each policy plays itself.
    """
    config = plan_run(
        options,
        environments,
        stop=dict.fromkeys(("min_matches", "max_matches", "matches"), matches),
        scripted=scripted,
        ahead=1,
    )
    played = [
        item.model_copy(update={"scheme": "self_play"}) if players < together.get(item.name, math.inf) else item
        for item in config.environment
        if (players := len(config.pool(item.name)))
    ]
    return config.model_copy(update={"environment": played})


def write_out(run: PlayedRun, games: Mapping[str, str], matches: int, page: str) -> Result:
    """Returns the transcripts of a run, a list of them, and the report page of all matches.

    Args:
        run: the run.
        games: title of each environment by its name.
        matches: minimum per policy and game.
        page: title of the page.
    """
    rows: list[list[Cell]] = []
    files, notes = {}, []
    for game, title in games.items():
        if game not in run.environments():
            continue
        records = choose(run.records(game), matches)
        rows += [line(title, record) for record in records]
        unfinished = Counter(outcome.status for outcome in run.outcomes(game) if outcome.status != FINISHED)
        notes += [
            f"{title}: {count} {status} matches are not among them" for status, count in sorted(unfinished.items())
        ]
        if records:
            texts = [f"# {title}", transcript.rules(run.rules(game)), *map(transcript.transcript, records)]
            files[f"{game.replace('#', '-')}.md"] = "\n\n".join(texts) + "\n"
        else:
            notes.append(f"{title}: no match has ended")
    table = Table(
        "matches",
        "matches that were written out",
        [
            Column("game"),
            Column("match"),
            Column("players by seat"),
            Column("turns", MEASURED),
            Column("replies that were no legal move", MEASURED),
            Column("forfeits", MEASURED),
            Column("rewards by seat", MEASURED),
        ],
        rows,
    )
    return Result([table], notes=notes, files={**files, "report.html": report_page(run.directory, page)})


def choose(records: Iterable[Record], matches: int) -> list[Record]:
    """Returns the first matches that include every policy the requested number of times, or as often as it played."""
    chosen, seen = [], Counter[str]()
    for record in records:
        policies = set(record.match.policies)
        if any(seen[policy] < matches for policy in policies):
            chosen.append(record)
            seen.update(policies)
    return chosen


def line(title: str, record: Record) -> list[Cell]:
    """Returns the line of a match in the list."""
    assert record.outcome is not None
    seats = record.outcome.seats
    return [
        title,
        record.match.id,
        ", ".join(seat.policy for seat in seats),
        len(record.turns),
        sum(sum(seat.failures.values()) for seat in seats),
        sum(bool(seat.forfeit) for seat in seats),
        ", ".join(f"{seat.reward:+g}" for seat in seats),
    ]
