"""The paged list of matches, and the table of failures."""

import pytest

from rating.store.records import FINISHED, Glance, Match, Outcome, SeatOutcome
from rating.viewer.report.failures import failure_sheet
from rating.viewer.web.listing import FORFEIT, Choice, choose
from rating.viewer.web.watched import Entry, Moment


def entry(number, environment="game_v0", policies=("a", "b"), forfeit=""):
    seats = (SeatOutcome(policies[0], 1.0), SeatOutcome(policies[1], -1.0, forfeit=forfeit))
    match = Match(environment, number, policies, number)
    return Entry(match.id, Glance(match, Outcome(environment, number, number, FINISHED, seats), 2, ""), 2)


ENTRIES = [*map(entry, range(120)), entry(0, "other_v0", ("a", "c"), "empty")]
MOMENT = Moment({one.id: one for one in ENTRIES})


def test_listing_every_match_is_on_one_page():
    pages = [choose(MOMENT, Choice(page=page)) for page in (1, 2, 3)]
    assert [len(page.entries) for page in pages] == [50, 50, 21]
    assert [one.id for page in pages for one in page.entries] == [*MOMENT.entries]
    assert choose(MOMENT, Choice(page=10**9)).page == 3


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"environment": "game_v0"}, 120),
        ({"policy": "c"}, 1),
        ({"policy": "a", "environment": "other_v0"}, 1),
        ({"result": FORFEIT}, 1),
        ({"result": "finished", "policy": "b"}, 120),
        ({"result": "no such thing"}, 0),
    ],
)
def test_listing_selects_by_query(query, count):
    choice = Choice.read(query)
    assert choose(MOMENT, choice).count == count
    assert Choice.read(dict(pair.split("=") for pair in choice.query(2).replace("+", " ").split("&"))).page == 2


@pytest.mark.parametrize("page", ["", "0", "-3", "x", "1.5", "²", "9" * 400, "٣"])
def test_listing_invalid_page_gives_the_first(page):
    assert Choice.read({"page": page}).page == 1


def test_failures_name_suspended_policies():
    outcomes = [one.glance.outcome for one in MOMENT.entries.values()]
    found = failure_sheet(outcomes, {"d": "suspended: no such key"})
    assert [row[:2] for row in found.rows] == [["other_v0", "c"]]
    assert found.rows[0][found.header.index("forfeits")] == "empty 1"
    assert found.notes[-1] == "d is suspended: no such key"
    assert failure_sheet(outcomes[:-1], {}) is None
