"""Contests that cannot be made, and what is said of them."""

import pytest

from llmarena_envs.core.options import OptionError
from rating.config.run_file import parse_run_file
from rating.play.run import Run

POOL = '[[policy]]\nspec = "random"\n[[policy]]\nspec = "first_legal"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'opponent = "random"\n{POOL}', "tictactoe_v0: opponent: expected none"),
        ('[[policy]]\nspec = "random"\n', "expected 2 policies or more"),
    ],
)
def test_scheme_refuses_unsuitable_policies(text, message):
    run = Run(parse_run_file(f'[[environment]]\nname = "tictactoe_v0"\n{text}', "run.toml"))
    with pytest.raises(OptionError, match=message):
        run.scheme("tictactoe_v0")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "options = { random_opening = 2 }\nby_deal = { random_opening = [0, 2] }",
            "by_deal: expected options that have no value",
        ),
        ("by_deal = { random_opening = [0, -1] }", "random_opening"),
        ("by_deal = { random_opening = [] }", "by_deal.random_opening"),
        ("by_deal = { opening = [0] }", "opening"),
    ],
)
def test_by_deal_refuses_invalid_options_and_values(option, message):
    with pytest.raises(OptionError, match=message):
        parse_run_file(f'[[environment]]\nname = "connect_four_v0"\n{option}\n{POOL}', "run.toml").check()


def test_prices_of_a_scheme_do_not_depend_on_the_day():
    text = (
        f'schedule = "adaptive"\n[[environment]]\nname = "tictactoe_v0"\n{POOL}'
        '[[policy]]\nspec = "openai:gpt-a"\n[[policy]]\nspec = "openai:other"\n'
    )
    price = "[[price]]\nmodel = 'gpt-*'\ninput = 1\noutput = 2\n"
    price += "[[price]]\nmodel = 'gpt-*'\nfrom = 2999-01-01\ninput = 3\noutput = 4\n"
    prices = Run(parse_run_file(text + price, "run.toml")).scheme("tictactoe_v0").setting.pool.prices()
    assert prices.keys() == {"openai:gpt-a", "openai:other"} and prices["openai:other"] is None
    assert prices["openai:gpt-a"].output == 4
    assert Run(parse_run_file(text, "run.toml")).scheme("tictactoe_v0").setting.pool.prices() == {}
