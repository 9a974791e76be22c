"""Costs of calls by a table of prices."""

from datetime import UTC, date, datetime

import pytest

from agents.models.calls import Call, CallStatus
from llmarena_envs.core.options import OptionError
from rating.config.run_file import parse_run_file
from rating.play import run_directory
from rating.play.run import Run
from rating.prices import Price, PriceTable, read_prices
from rating.store.calls import Bill
from tests.rating.play.calls import PRICES, run_file

DAY = date(2026, 6, 1)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def price(model, input=1.0, output=2.0, **fields):
    return Price.model_validate({"model": model, "input": input, "output": output, **fields})


def call(status=CallStatus.OK, model="gpt-x", **fields):
    return Call(model, "http://here/v1", "player_0", 1, status, **fields)


def test_price_table_finds_the_most_specific_valid_price():
    table = PriceTable(
        [
            price("gpt*", 1),
            price("gpt-x*", 2),
            price("gpt-x", 3),
            price("gpt-x", 4, **{"from": date(2026, 6, 1)}),
            price("gpt-x", 5, **{"from": date(2026, 6, 2)}),
            price("gpt-x", 6, base_url="http://here/v1/"),
        ]
    )

    def found(model, base_url="", day=DAY):
        suitable = table.find(model, base_url, day)
        return suitable and suitable.input

    assert [found("gpt-1"), found("gpt-x-mini"), found("gpt-x"), found("llama")] == [1, 2, 4, None]
    assert [found("gpt-x", day=date(2026, 5, 31)), found("gpt-x", day=date(2027, 1, 1))] == [3, 5]
    assert found("gpt-x", "http://here/v1") == 6


def test_cost_of_cached_and_reasoning_tokens():
    table = PriceTable([price("gpt-x", 1, 10, cached_input=0.1, reasoning=20)])
    used = call(prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000, reasoning_tokens=40_000)
    assert table.cost(used, NOON) == pytest.approx(0.6 + 0.04 + 0.6 + 0.8)
    plain = PriceTable([price("gpt-x", 1, 10)])
    assert plain.cost(used, NOON) == pytest.approx(1 + 1)


def test_bill_counts_unknown_tokens_and_prices():
    bill = Bill(PriceTable([price("gpt-x", 1, 10)]))
    bill.add("game", "a", call(prompt_tokens=1000, completion_tokens=100))
    bill.add("game", "a", call(prompt_tokens=None, completion_tokens=None))
    bill.add("game", "a", call(CallStatus.RATE_LIMITED))
    bill.add("game", "a", call(CallStatus.CACHED, prompt_tokens=1000, completion_tokens=100))
    bill.add("game", "b", call(model="unpriced", prompt_tokens=5, completion_tokens=5))
    used, other = bill.totals["game", "a"], bill.totals["game", "b"]
    assert (used.calls, used.from_cache, used.unknown, used.unpriced, used.tokens) == (3, 1, 1, 0, 1100)
    assert dict(used.errors) == {"rate_limited": 1}
    assert used.cost == pytest.approx(0.002)
    assert not used.is_exact
    assert used.with_unknown(used.tokens) == 2200
    assert (other.cost, other.unpriced) == (0.0, 1)
    assert bill.total().calls == 4


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ("[[price]]\nmodel = 'a'\ninput = 1\n", "output: field required"),
        ("[[price]]\nmodel = 'a'\ninput = -1\noutput = 2\n", "input: .*greater than or equal to 0"),
        ("[[price]]\nmodel = 'a'\ninput = 1\noutput = nan\n", "output: .*finite"),
        ("[[price]]\nmodel = 'a'\ninput = 1\noutput = 2\nform = 2026-01-01\n", "unknown key 'price.0.form'.*from"),
        ("[[price]]\nmodel = 'a*b'\ninput = 1\noutput = 2\n", "one \\* at the end"),
        ("[[price]]\nmodel = 'a'\ninput = 1\noutput = 2\n" * 2, "two prices for 'a'; take one away"),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 2\n[[price]]\nmodel = 'b'\ninput = 1\noutput = 2\ncurrency = 'EUR'",
            "the same in all prices, got EUR, USD",
        ),
    ],
)
def test_run_file_invalid_price_is_refused(tables, message):
    head = "[[environment]]\nname = 'tictactoe_v0'\n[[policy]]\nspec = 'random'\n"
    with pytest.raises(OptionError, match=message):
        parse_run_file(head + tables, "run.toml").check()


def test_run_keeps_a_copy_of_its_price_file(tmp_path):
    (tmp_path / "prices.toml").write_text(
        "[[price]]\nmodel = 'gpt*'\ninput = 1\noutput = 2.5\nfrom = 2026-01-01\ncurrency = 'EUR'\n"
    )
    text = f"prices = '{tmp_path}/prices.toml'\n[[environment]]\nname = 'tictactoe_v0'\n"
    text += "[[policy]]\nspec = 'random'\n[[policy]]\nspec = 'greedy'\n"
    run_directory.create(tmp_path / "run", text, "run.toml")[1].close()
    (tmp_path / "prices.toml").unlink()
    run, store = run_directory.open_run(tmp_path / "run")
    store.close()
    (kept,) = run.config.price
    assert (kept.output, kept.since, kept.currency) == (2.5, date(2026, 1, 1), "EUR")


def test_prices_of_a_scheme_do_not_depend_on_the_day():
    text = 'schedule = "adaptive"\n[[environment]]\nname = "tictactoe_v0"\n'
    text += "".join(f'[[policy]]\nspec = "{spec}"\n' for spec in ("random", "openai:gpt-a", "openai:other"))
    price = "[[price]]\nmodel = 'gpt-*'\ninput = 1\noutput = 2\n"
    price += "[[price]]\nmodel = 'gpt-*'\nfrom = 2999-01-01\ninput = 3\noutput = 4\n"
    prices = Run(parse_run_file(text + price, "run.toml")).scheme("tictactoe_v0").setting.pool.prices()
    assert prices.keys() == {"openai:gpt-a", "openai:other"} and prices["openai:other"] is None
    assert prices["openai:gpt-a"].output == 4
    assert Run(parse_run_file(text, "run.toml")).scheme("tictactoe_v0").setting.pool.prices() == {}


def test_cost_budget_needs_a_price_for_every_model(tmp_path):
    parse_run_file(run_file(tables=PRICES + "[budget]\ncost = 5\n"), "run.toml").check()
    with pytest.raises(OptionError, match="'gpt-y-2' has none"):
        parse_run_file(run_file(tables=PRICES.replace("gpt-y", "gpt-z") + "[budget]\ncost = 5\n"), "run.toml").check()


def test_price_file_without_prices_is_refused(tmp_path):
    (tmp_path / "prices.toml").write_text("")
    with pytest.raises(OptionError, match="price: field required"):
        read_prices(tmp_path / "prices.toml")
