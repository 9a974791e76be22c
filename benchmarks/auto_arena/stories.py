"""Transcripts of battles, with the judges' verdicts."""

from collections.abc import Iterable, Mapping

from benchmarks.experiments import transcript
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table
from llmarena_envs import debate_v0
from rating.cli.replay import headline, story_text
from rating.store.records import Record
from rating.store.replay import tell

VERDICTS = debate_v0.raw_env.declaration.verdicts
assert VERDICTS is not None
FIRST, FINAL, LABELS = VERDICTS.first, VERDICTS.final, VERDICTS.labels
NOBODY = -1.0
"""Recorded value of a missing verdict."""


def story_files(records: Mapping[str, Record]) -> tuple[dict[str, str], list[str]]:
    """Returns battles as Markdown and as plain text.

    Args:
        records: by file name.

    Returns:
        Texts by file name, and a note for each battle without a transcript.
    """
    files, notes = {}, []
    for name, record in records.items():
        story = tell(record)
        if story.missing:
            notes.append(f"match {record.match.id} cannot be told: {story.missing}")
            continue
        files[f"{name}.md"] = transcript.story(record, story.scenes) + "\n"
        files[f"{name}.txt"] = f"{headline(record)}\n{story_text(record, story.scenes)}\n"
    return files, notes


def verdict_table(records: Iterable[Record]) -> Table:
    """Returns every judge's verdict before and after the discussion."""
    rows: list[list[Cell]] = []
    for record in records:
        assert record.outcome is not None
        seats = {seat.agent: seat for seat in record.outcome.seats}
        sides = sorted((seat for seat in seats.values() if seat.rated), key=lambda seat: seat.statistics["side"])
        given = [
            (f"{agent} ({seat.policy})", FIRST, FINAL, seat)
            for agent, seat in seats.items()
            if FIRST in seat.statistics
        ]
        given.append(("committee", "winner_first", "winner", sides[0]))
        for who, first, final, seat in given:
            before, after = (LABELS.get(seat.statistics[name], "none") for name in (first, final))
            rows.append(
                [
                    record.match.id,
                    *(side.policy for side in sides),
                    who,
                    before,
                    after,
                    "" if before == after else "yes",
                ]
            )
    return Table(
        "verdicts",
        "verdicts before and after the discussion",
        [
            Column("match"),
            Column("A"),
            Column("B"),
            Column("judge"),
            Column("before", MEASURED),
            Column("after", MEASURED),
            Column("changed", MEASURED),
        ],
        rows,
        ["committee: the verdict that most judges gave; several that are given most often make a tie"],
    )
