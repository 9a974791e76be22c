"""What ways of comparing have to show besides their tables."""

from dataclasses import replace

import pytest

from llmarena_envs.core.declaration import Declaration
from rating.schemes.caveats import figures
from rating.schemes.cooperation import Cooperation
from rating.schemes.figures import HeadToHead, Matrix, Trajectories, running_means
from rating.schemes.rewards import MeanReward, SelfPlay
from rating.schemes.roles import Roles
from rating.store.records import SeatOutcome
from tests.rating.made_outcomes import match
from tests.rating.made_schemes import made_setting


def drawn_by(scheme, outcomes):
    return scheme.figures(scheme.board(outcomes), outcomes)


def only(kind, shown):
    (found,) = [figure for figure in shown if isinstance(figure, kind)]
    return found


def test_running_means_match_values_by_hand():
    (drawn,) = running_means([(0, "a", 1.0), (1, "b", 5.0), (2, "a", 3.0), (5, "a", 5.0)], "mean reward")
    assert drawn.label == "mean reward ± its standard error" and list(drawn.history) == ["a", "b"]
    assert drawn.history["b"] == [(1, 5.0, 0.0)]
    assert [step[:2] for step in drawn.history["a"]] == [(0, 1.0), (2, 2.0), (5, 3.0)]
    assert [step[2] for step in drawn.history["a"]] == pytest.approx([0.0, 1.0, (4 / 3) ** 0.5])
    assert running_means([], "mean reward") == []


def test_mean_reward_figures_have_every_pair():
    outcomes = [match(0, ("a", 3.0), ("b", 1.0), ("c", 1.0)), match(1, ("c", 0.0), ("a", 2.0), ("d", 9.0))]
    table = only(HeadToHead, drawn_by(MeanReward(made_setting()), outcomes)).table
    assert table["a"]["c"] == (2, 0, 0) and table["c"]["a"] == (0, 0, 2) and table["b"]["c"] == (0, 1, 0)
    assert table["b"]["d"] is None and table["a"]["a"] is None and next(iter(table)) == "d"


def test_cooperation_figures_have_unordered_partners():
    outcomes = [match(0, ("a", 7.0), ("a", 7.0)), match(1, ("a", 2.0), ("b", 2.0)), match(2, ("b", 4.0), ("a", 4.0))]
    scheme = Cooperation(made_setting())
    board = scheme.board(outcomes)
    table = only(Matrix, scheme.figures(board, outcomes)).table
    assert table["a"]["b"] == table["b"]["a"] and table["a"]["b"][0] == 3.0
    assert table["a"]["a"].value == 7.0 and table["b"]["b"] is None
    assert only(Trajectories, scheme.figures(board, outcomes)).history == {"a": [(0, 7.0, 0.0)]}
    assert not [one for one in drawn_by(scheme, outcomes[:1]) if isinstance(one, Matrix)]
    rows = tuple(replace(row, withheld=row.policy == "b") for row in board.rows)
    assert list(only(Matrix, figures(replace(board, rows=rows), outcomes, scheme.figures)).table) == ["a"]


def test_roles_figures_have_results_by_partner():
    def work(number, writer, editor, reward):
        seats = (SeatOutcome(writer, reward, agent="writer_0"), SeatOutcome(editor, 9.0, agent="editor_0"))
        return replace(match(number), seats=seats)

    outcomes = [work(0, "a", "b", 2.0), work(1, "b", "a", 4.0), work(2, "a", "b", 3.0)]
    declaration = Declaration(rated_roles=("writer", "editor"), results="scores")
    shown = drawn_by(Roles(made_setting(("writer_0", "editor_0"), declaration=declaration)), outcomes)
    table = only(Matrix, shown).table
    assert (table["a"]["b"].value, table["b"]["a"].value, table["a"]["a"]) == (2.5, 4.0, None)
    assert only(Trajectories, shown).history["a"][-1][:2] == (2, 2.5)


def test_self_play_figures_average_over_seats():
    outcomes = [match(0, ("a", 1.0), ("a", 0.0)), match(1, ("a", 2.0), ("a", 2.0))]
    history = only(Trajectories, drawn_by(SelfPlay(made_setting()), outcomes)).history
    assert [step[:2] for step in history["a"]] == [(0, 0.5), (1, 1.25)]
