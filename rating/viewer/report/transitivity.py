"""Transitivity test and Nash averaging as a table."""

from collections.abc import Mapping

from rating.schemes import formatting
from rating.schemes.leaderboard import ALWAYS
from rating.stats.bradley_terry import Comparisons
from rating.stats.transitivity import diagnose
from rating.viewer.report.tables import Sheet


def transitivity_sheet(environment: str, comparisons: Comparisons, ratings: Mapping[str, float | None]) -> Sheet | None:
    """Returns the table of an environment, or ``None`` if transitivity cannot be tested.

    Args:
        environment: environment name.
        comparisons: results of the environment.
        ratings: ratings of the leaderboard by policy; some schemes have their own.
    """
    found = diagnose(comparisons)
    if found is None:
        return None
    rows = [
        [row.policy, formatting.number(row.skill, 0), f"{row.weight:.0%}", formatting.number(ratings[row.policy], 0)]
        for row in found.nash
    ]
    notes = [
        *found.notes(),
        "weight: share in the mix of policies that no policy beats on average; against the mix: advantage over it in Elo. Copies"
        " of a policy change neither for the others, while they do move ratings where who wins depends on who meets whom",
    ]
    header = ["policy", "against the mix", "weight", "rating"]
    return Sheet(f"Who beats whom: {environment}", header, rows, notes, [ALWAYS] * len(header))
