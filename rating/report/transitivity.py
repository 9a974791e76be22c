"""Whether one order says who beats whom, as a table: what each policy gets from the mix of policies that nobody beats."""

from collections.abc import Sequence

from rating.records.outcome import Outcome
from rating.report.tables import Sheet
from rating.schemes import cells, reservations
from rating.schemes.duels import Duels
from rating.schemes.leaderboard import ALWAYS, Leaderboard
from rating.statistics import bradley_terry
from rating.statistics.results import rated_seats
from rating.statistics.transitivity import diagnose


def transitivity_sheets(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """Returns the table of a leaderboard of duels; none where nothing can be tested.

    Args:
        board: of any scheme.
        outcomes: of its environment; matches of policies whose ratings are withheld are left out.
    """
    if board.scheme != Duels.name:
        return []
    withheld = {row.policy for row in board.rows if row.withheld}
    shown = [
        outcome
        for outcome in reservations.counted(outcomes, board.scheduled)
        if not any(seat.policy in withheld for seat in rated_seats(outcome))
    ]
    found = diagnose(bradley_terry.compare(shown))
    if found is None:
        return []
    rows = [
        [row.policy, cells.number(row.skill, 0), f"{row.weight:.0%}", cells.number(row.rating, 0)] for row in found.nash
    ]
    notes = [
        *found.notes(),
        "weight: share in the mix of policies that no policy beats on average; against the mix: advantage over it in Elo. Copies"
        " of a policy change neither for the others, while they do move ratings where who wins depends on who meets whom",
    ]
    header = ["policy", "against the mix", "weight", "rating"]
    return [Sheet(f"Who beats whom: {board.environment}", header, rows, notes, [ALWAYS] * len(header))]
