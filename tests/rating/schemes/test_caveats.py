"""Hidden ratings and the caveats of a leaderboard: the same under every rating method."""

import json
from dataclasses import replace

import pytest

from rating.schemes.caveats import add_caveats, claims, figures, share_played_for
from rating.schemes.leaderboard import Ranks, headline
from rating.schemes.summary import summarise_scores
from rating.viewer.report.sections import leaderboard_sections
from rating.viewer.report.tables import sheet, to_json, to_text
from tests.rating.made_outcomes import duel, match, void
from tests.rating.schemes.test_leaderboard import BOARD_OF, LOGS, SCHEME_OF


def mute(outcomes, name, *, forfeits=False):
    """The same outcomes with three of four turns of a policy played for it, or with every match forfeited instead."""

    def seat(one):
        if one.policy != name:
            return replace(one, turns=4)
        if forfeits:
            return replace(one, turns=1, fallbacks=1, forfeit="illegal", failures={"illegal": 3})
        return replace(one, turns=4, fallbacks=3, failures={"truncated": 8, "unparsable": 1})

    return [replace(outcome, seats=tuple(map(seat, outcome.seats))) for outcome in outcomes]


def board_of(kind, outcomes, limit=0.5):
    board = BOARD_OF[kind](outcomes)
    return add_caveats(board, outcomes, max_fallbacks=limit, absent={}, scheduled=None, left_over=0)


@pytest.mark.parametrize("kind", LOGS)
def test_caveats_many_fallback_turns_withhold_the_rating(kind):
    best = BOARD_OF[kind](LOGS[kind]).rows[0].policy
    outcomes = mute(LOGS[kind], best)
    board = board_of(kind, outcomes)
    assert [row.policy for row in board.rows if row.withheld] == [best] == [board.rows[-1].policy]
    shown = sheet(board)
    particular = {column.title for column in board.columns}
    for title, cell, other in zip(shown.header, shown.rows[-1], shown.rows[0], strict=True):
        assert (cell == "withheld") == (title in particular or title == "mark")
        assert other != "withheld"
    note = next(line for line in shown.notes if line.startswith("withheld"))
    assert f"{best}: 75%" in note and "max_fallbacks = 0.5" in note
    assert "mostly truncated replies: raise its max_tokens" in note
    row = json.loads(to_json(board))["rows"][-1]
    assert row["withheld"] is True
    assert {name for name, value in row.items() if value is not None} == {
        "policy",
        "effort",
        "fallback_share",
        "withheld",
        "absent",
    }
    assert headline(board)[best] is None
    assert sum(value is not None for value in headline(board).values()) == len(board.rows) - 1
    draw = SCHEME_OF[kind].figures
    assert all(repr(best) not in repr(figure) for figure in figures(board, outcomes, draw))
    assert figures(board_of(kind, LOGS[kind]), LOGS[kind], draw) == draw(BOARD_OF[kind](LOGS[kind]), LOGS[kind])


@pytest.mark.parametrize("kind", LOGS)
def test_figures_leave_out_withheld_policies(kind):
    outcomes = LOGS[kind]
    for row in BOARD_OF[kind](outcomes).rows:
        outcomes = mute(outcomes, row.policy)
    board = board_of(kind, outcomes)
    assert all(row.withheld for row in board.rows)
    shown = leaderboard_sections(board, figures(board, outcomes, SCHEME_OF[kind].figures))
    assert not any(section.plots for section in shown)


def test_caveats_at_the_threshold_a_rating_is_shown():
    log = [duel(number, "a", "b", "b") for number in range(8)]
    assert not any(row.withheld for row in board_of("duels", mute(log, "a"), limit=0.75).rows)
    assert any(row.withheld for row in board_of("duels", mute(log, "a"), limit=0.74).rows)
    loser = board_of("duels", mute(log, "a", forfeits=True), limit=0.0).rows[-1]
    assert (loser.policy, loser.withheld, share_played_for(loser.effort)) == ("a", False, 0.0)


def test_caveats_ranks_are_among_shown_policies():
    pay = {"a": 3.0, "b": 2.0, "c": 0.0}
    log = [
        match(3 * deal + place, (name, pay[name] + deal % 3), seed=deal)
        for deal in range(12)
        for place, name in enumerate(pay)
    ]
    board = board_of("mean_reward", mute(log, "b"))
    assert [(row.policy, row.rank) for row in board.rows] == [("a", (1, 1)), ("c", (2, 2)), ("b", None)]
    assert board.established == (("a", "c"),)


def test_summary_withheld_rating_has_no_score():
    log = [duel(number, "a", "b", ("a", "b", "b")[number % 3]) for number in range(30)]
    summary = summarise_scores({"game_v0": headline(board_of("duels", mute(log, "b")))}, {})
    assert {row.policy: row.average is None for row in summary.rows} == {"a": False, "b": True}


@pytest.mark.parametrize(
    ("lost", "named"),
    [
        ([("a", "b")], ("a", "b")),
        ([("a", "b"), ("b", "a")], ()),
        ([("a", "b"), ("b", "c"), ("b", "a")], ("b", "c")),
        ([("a", "a")], ()),
        ([], ()),
    ],
)
def test_caveats_unbalanced_seats_are_named(lost, named):
    log = [duel(0, "a", "b", "a"), *(void(number, *pair) for number, pair in enumerate(lost, 1))]
    board = board_of("duels", log)
    assert board.unbalanced == named
    assert ("not on every seat equally often" in to_text(board)) == bool(named)


EACH = "Established with 95 % confidence, all pairs together"
UNKNOWN = " with 95 % confidence."


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([(1, 1)], ""),
        ([(1, 1), (2, 2), (3, 3)], f"{EACH}: a above b above c."),
        ([(1, 3), (1, 3), (1, 3)], f"These data do not tell any two of the 3 policies apart{UNKNOWN}"),
        ([(1, 2), (1, 2)], f"These data do not tell the two policies apart{UNKNOWN}"),
        (
            [(1, 2), (1, 2), (3, 3), (4, 5), (4, 5)],
            f"{EACH}: ranks 1-2 above c above ranks 4-5. Not established: the order of ranks 1-2 and of ranks 4-5.",
        ),
        ([(1, 2), (1, 3), (2, 3)], f"{EACH}: a is above 1 of the 2 others. Not established: the order as a whole."),
        # a is above d, and c above e and f, but no policy of the first group is above all later ones.
        (
            [(1, 5), (1, 6), (1, 4), (2, 6), (2, 6), (2, 6)],
            f"{EACH}: a is above 1 of the 5 others. Not established: the order as a whole.",
        ),
    ],
)
def test_claims_name_what_ranks_establish(ranks, expected):
    assert claims([(name, Ranks(*own)) for name, own in zip("abcdef", ranks, strict=False)]) == expected
