"""When the first matches of a game tell its policies apart."""

from dataclasses import replace

import pytest

from rating.schemes.stopping import no_information
from tests.rating.made_outcomes import duel, match, void

TIE, WIN = duel(0, "a", "b", None), duel(0, "a", "b", "a")
FORFEIT = replace(WIN, seats=(WIN.seats[0], replace(WIN.seats[1], forfeit="illegal")))
STAFF_FORFEIT = replace(WIN, seats=(*WIN.seats, replace(WIN.seats[1], forfeit="illegal", rated=False)))
VOID, UNDECIDED = void(0, "a", "b"), void(0, "a", "b", status="undecided")
WITH_ITSELF, ALONE = match(0, ("a", 0.5), ("a", 0.5)), match(0, ("a", 0.5))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([TIE], "every match tied (the first 30); no information"),
        ([FORFEIT], "every match forfeited (the first 30); no information"),
        ([VOID], "every match void (the first 30); no information"),
        (
            [FORFEIT, VOID, TIE, TIE, UNDECIDED],
            "no match decided by play (the first 30): 12 tied, 6 forfeited, 6 void, 6 without a result; no information",
        ),
        ([*[TIE] * 29, WIN], ""),
        ([*[FORFEIT] * 29, STAFF_FORFEIT], ""),
        ([WITH_ITSELF], ""),
        ([ALONE], ""),
    ],
)
def test_no_information_names_the_endings(kinds, said):
    log = [replace(kinds[number % len(kinds)], number=number) for number in range(30)]
    later = [replace(WIN, number=number) for number in range(30, 40)]
    assert no_information([*later, *log], 30, rivals=True) == said
    assert no_information(log, 30, rivals=False) == ("" if TIE in kinds else said)
