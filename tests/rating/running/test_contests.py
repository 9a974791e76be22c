"""Contests that cannot be made, and what is said of them."""

import pytest

from llmarena_envs.core.options import OptionError
from rating.running.contests import make_scheme
from rating.running.run_file import parse_run_file

POOL = '[[policy]]\nspec = "random"\n[[policy]]\nspec = "first_legal"\n'


def test_an_opponent_is_refused_where_nobody_plays_against_a_field():
    config = parse_run_file(f'[[environment]]\nname = "tictactoe_v0"\nopponent = "random"\n{POOL}', "run.toml")
    with pytest.raises(OptionError, match="tictactoe_v0: opponent: expected none"):
        make_scheme(config, "tictactoe_v0")


def test_too_few_policies_are_refused():
    config = parse_run_file('[[environment]]\nname = "tictactoe_v0"\n[[policy]]\nspec = "random"\n', "run.toml")
    with pytest.raises(OptionError, match="expected 2 policies or more"):
        make_scheme(config, "tictactoe_v0")
