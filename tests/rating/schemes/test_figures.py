"""What ways of comparing have to show besides their tables."""

from dataclasses import replace

import pytest

from rating.schemes.caveats import figures
from rating.schemes.cooperation import cooperative_figures, cooperative_leaderboard
from rating.schemes.figures import HeadToHead, Matrix, Trajectories, running_means
from rating.schemes.rewards import reward_figures, reward_leaderboard, self_play_figures, self_play_leaderboard
from rating.schemes.roles import Casting, role_figures, role_leaderboard
from rating.store.outcome import SeatOutcome
from tests.rating.made_outcomes import match


def only(kind, shown):
    (found,) = [figure for figure in shown if isinstance(figure, kind)]
    return found


def test_a_running_mean_and_its_standard_error_by_hand():
    (drawn,) = running_means([(0, "a", 1.0), (1, "b", 5.0), (2, "a", 3.0), (5, "a", 5.0)], "mean reward")
    assert drawn.label == "mean reward ± its standard error" and list(drawn.history) == ["a", "b"]
    assert drawn.history["b"] == [(1, 5.0, 0.0)]
    assert [step[:2] for step in drawn.history["a"]] == [(0, 1.0), (2, 2.0), (5, 3.0)]
    assert [step[2] for step in drawn.history["a"]] == pytest.approx([0.0, 1.0, (4 / 3) ** 0.5])
    assert running_means([], "mean reward") == []


def test_who_was_paid_more_at_a_table_is_shown_for_every_pair():
    outcomes = [match(0, ("a", 3.0), ("b", 1.0), ("c", 1.0)), match(1, ("c", 0.0), ("a", 2.0), ("d", 9.0))]
    table = only(HeadToHead, reward_figures(reward_leaderboard(outcomes), outcomes)).table
    assert table["a"]["c"] == (2, 0, 0) and table["c"]["a"] == (0, 0, 2) and table["b"]["c"] == (0, 1, 0)
    assert table["b"]["d"] is None and table["a"]["a"] is None and next(iter(table)) == "d"


def test_partners_are_shown_together_whoever_sat_first():
    outcomes = [
        match(0, ("a", 7.0), ("a", 7.0)),
        match(1, ("a", 2.0), ("b", 2.0)),
        match(2, ("b", 4.0), ("a", 4.0)),
    ]
    board = cooperative_leaderboard(outcomes)
    table = only(Matrix, cooperative_figures(board, outcomes)).table
    assert table["a"]["b"] == table["b"]["a"] and table["a"]["b"][0] == 3.0
    assert table["a"]["a"].value == 7.0 and table["b"]["b"] is None
    assert only(Trajectories, cooperative_figures(board, outcomes)).history == {"a": [(0, 7.0, 0.0)]}
    assert not [
        one
        for one in cooperative_figures(cooperative_leaderboard(outcomes[:1]), outcomes[:1])
        if isinstance(one, Matrix)
    ]
    rows = tuple(replace(row, withheld=row.policy == "b") for row in board.rows)
    assert list(only(Matrix, figures(replace(board, rows=rows), outcomes, cooperative_figures)).table) == ["a"]


def test_what_a_role_gets_is_shown_by_who_has_the_other():
    def work(number, writer, editor, reward):
        seats = (
            SeatOutcome(writer, reward, agent="writer_0"),
            SeatOutcome(editor, 9.0, agent="editor_0"),
        )
        return replace(match(number), seats=seats)

    outcomes = [work(0, "a", "b", 2.0), work(1, "b", "a", 4.0), work(2, "a", "b", 3.0)]
    casting = Casting(("writer", "editor"))
    shown = role_figures(role_leaderboard(outcomes, casting, results="scores"), outcomes, casting, "scores")
    table = only(Matrix, shown).table
    assert (table["a"]["b"].value, table["b"]["a"].value, table["a"]["a"]) == (2.5, 4.0, None)
    assert only(Trajectories, shown).history["a"][-1][:2] == (2, 2.5)


def test_the_course_of_self_play_is_the_mean_over_its_seats():
    outcomes = [match(0, ("a", 1.0), ("a", 0.0)), match(1, ("a", 2.0), ("a", 2.0))]
    history = only(Trajectories, self_play_figures(self_play_leaderboard(outcomes), outcomes)).history
    assert [step[:2] for step in history["a"]] == [(0, 0.5), (1, 1.25)]
