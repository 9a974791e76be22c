"""Who sits where, and who won, in words."""

import pytest

from agents.seat_names import result_in_words, seat_name, seating
from llmarena_envs.core.declaration import Declaration, HiddenRole

DUEL, TEAM = Declaration(), Declaration(scheme="cooperation")
JUDGED = Declaration(scheme="tournament", rated_roles=("debater",))
HIDDEN = Declaration(scheme="roles", hidden_role=HiddenRole("side", {"spy": 1.0}, "spies"))


def test_seating_groups_equal_policies_and_names_staff_last():
    names = {"judge_0": "fair", "debater_0": "human", "debater_1": "Bob", "judge_1": "fair"}
    assert seating(JUDGED, names, "debater_0") == "You (debater_0) against Bob (debater_1); fair (judge_0, judge_1)"
    names = {f"player_{seat}": f"random player_{seat}" for seat in range(3)}
    assert seating(TEAM, names, "player_1") == "You (player_1) with random (player_0, player_2)"
    assert seating(DUEL, {"player_0": "a", "player_1": "b"}, "") == "a (player_0), b (player_1)"


def test_seat_without_a_policy_keeps_its_id():
    assert seat_name("player_0", {}) == "player_0"


@pytest.mark.parametrize(
    ("declaration", "rewards", "words"),
    [
        (DUEL, (1, -1), "You (player_0) won."),
        (DUEL, (2, 8), "b (player_1) won."),
        (DUEL, (0, 0), "The match is a draw."),
        (TEAM, (3, 3), "All players: +3."),
        (HIDDEN, (1, 1), "You (player_0) and b (player_1) won."),
        (HIDDEN, (0, 0), ""),
        (Declaration(scheme="mean_reward"), (2, 1), ""),
    ],
)
def test_result_depends_on_how_players_compete(declaration, rewards, words):
    names = {"player_0": "human", "player_1": "b"}
    given = dict(zip(names, rewards, strict=True))
    assert result_in_words(declaration, names, given, "player_0") == words
    assert result_in_words(declaration, names, given, undecided=True) == "The match has no result."
