"""Policies of a row: scripted ones and those of the command line."""

import pytest

from benchmarks.experiments.pool import plan_run, pool
from benchmarks.experiments.row import RowOptions
from benchmarks.llmarena.pool import SCRIPTED
from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.options import OptionError
from rating.config.run_file import parse_run_file, write_run_file
from rating.config.run_tables import EnvironmentConfig

GAMES = ["tictactoe_v0", "holdem_v0"]


def titles(**options):
    return {item.title: item.environments for item in pool(RowOptions(**options), GAMES, SCRIPTED)}


def test_the_scripted_policies_of_every_game_can_play_it():
    environments = [EnvironmentConfig(name=entry.name) for entry in CATALOGUE if entry.name in SCRIPTED]
    config = plan_run(RowOptions(), environments, scripted=SCRIPTED, stop={"matches": 1})
    config.check()
    assert parse_run_file(write_run_file(config), "run.toml") == config
    assert {item.name for item in environments} == SCRIPTED.keys()


def test_pool_policies_play_their_own_games():
    plays = titles(policy=("openai:m", "call@holdem_v0", "half@bid_v0"))
    assert plays["random"] == plays["openai:m"] == []
    assert plays["minimax"] == ["tictactoe_v0"]
    assert plays["strength"] == plays["call"] == ["holdem_v0"]
    assert "half" not in plays


def test_alone_leaves_the_scripted_ones_out():
    assert titles(policy=("random",), alone=True) == {"random": []}
    with pytest.raises(OptionError, match="expected somebody to measure"):
        plan_run(RowOptions(alone=True), [EnvironmentConfig(name="bid_v0")], scripted=SCRIPTED, stop={})


def test_a_scripted_policy_that_is_named_again_plays_all_games():
    assert titles(policy=("random", "minimax@tictactoe_v0"))["minimax"] == ["tictactoe_v0"]
