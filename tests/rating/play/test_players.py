"""Resources that a run lends to its matches."""

import asyncio
import threading

import pytest

from agents.errors import ProviderError
from rating.config.run_file import parse_run_file
from rating.play.players import Players

RUN = """
[[environment]]
name = "tictactoe_v0"

[[policy]]
name = "patient"
spec = "tests.rating.play.test_players:make_patient"

[[policy]]
spec = "openai:one"
options = { base_url = "http://localhost:9/v1" }

[[policy]]
spec = "openai:two"
options = { base_url = "http://localhost:9/v1" }
"""

_release = threading.Event()


def make_patient():
    return lambda observation: _release.wait(30)


@pytest.fixture
def players():
    return Players(parse_run_file(RUN, "run.toml"))


def test_a_player_is_lent_to_one_match_at_a_time_and_then_again(players):
    first, second = (players.borrow_player("patient", "tictactoe_v0") for _ in range(2))
    assert first is not second
    players.return_player("patient", "tictactoe_v0", first)
    assert players.borrow_player("patient", "tictactoe_v0") is first


def test_players_busy_with_late_reply_are_not_lent(players):
    _release.clear()
    player = players.borrow_player("patient", "tictactoe_v0")
    try:
        with pytest.raises(ProviderError, match="no reply within"):
            asyncio.run(player.ask({}, 0.05))
        players.return_player("patient", "tictactoe_v0", player)
        assert players.borrow_player("patient", "tictactoe_v0") is not player
    finally:
        _release.set()
