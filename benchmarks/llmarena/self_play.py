"""Shared code of the rows of self-play: the matches of each policy with itself, and notes on missing matches."""

from collections.abc import Sequence

from rating.stats.results import finished
from rating.store.records import Outcome


def by_policy(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the finished matches of every policy with itself."""
    table: dict[str, list[Outcome]] = {}
    for outcome in finished(outcomes):
        table.setdefault(outcome.seats[0].policy, []).append(outcome)
    return table


def missing(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns a note for every policy with matches that are void or ended by a defect of the environment."""
    notes = []
    for policy in sorted({outcome.seats[0].policy for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.seats[0].policy == policy]
        left_out = len(own) - len(finished(own))
        if left_out:
            notes.append(f"{policy}: {left_out} of {len(own)} matches could not be played to the end and are left out")
    return notes
