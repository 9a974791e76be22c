"""What a new user types first: short names, models by provider, a forecast before money is spent, a run file to edit."""

import tomllib

import pytest

from agents.providers import VARIABLE
from llmarena_envs.catalogue import CATALOGUE, NAMES, full_name
from rating.cli import main
from rating.prices import PriceTable, shipped_prices
from tests.support.fault_server import OK, fault_server

PRESETS = """
[mine]
base_url = "URL"
api_key_env = "MINE_KEY"
key = "optional"
options = { temperature = "default", outage = 1.0 }
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A model server, known as the provider ``mine``."""
    with fault_server(lambda request: OK, reply=lambda request: "X: (1, 1)") as running:
        (tmp_path / "providers.toml").write_text(PRESETS.replace("URL", running.url))
        monkeypatch.setenv(VARIABLE, str(tmp_path / "providers.toml"))
        monkeypatch.chdir(tmp_path)
        yield running


@pytest.fixture
def terminal(monkeypatch):
    """Lets somebody sit at the terminal; the answers to questions are appended to the result."""
    answers = []
    monkeypatch.setattr("rating.cli.run.at_terminal", lambda: True)
    monkeypatch.setattr("builtins.input", lambda: answers.pop(0))
    return answers


MATCHES = ("--max-matches", "2", "--min-matches", "2", "--quiet")
PRICES = '[[price]]\nmodel = "m"\ninput = 1000\noutput = 1000\n'


def test_every_short_name_is_one_game():
    short = [name for entry in CATALOGUE for name in (entry.name.rpartition("_v")[0], *entry.short)]
    assert len(set(short)) == len(short) and {full_name(name) for name in short} == set(NAMES)
    assert full_name("nim.py") == "nim.py"


def test_run_plays_short_names_against_a_model_of_a_provider(server, tmp_path, capsys):
    run = ["run", "--games", "ttt,connect4", "--model", "mine/m", "--policy", "random", *MATCHES, "--out", "run"]
    assert main(run) == 0, capsys.readouterr().err
    assert "no price for m: --prices FILE" in capsys.readouterr().err
    stored = tomllib.loads((tmp_path / "run" / "run.toml").read_text())
    assert [item["name"] for item in stored["environment"]] == ["tictactoe_v0", "connect_four_v0"]
    assert [item["spec"] for item in stored["policy"]] == ["mine/m", "random"]


def test_run_forecasts_and_asks_before_it_asks_a_model(server, terminal, tmp_path, capsys):
    (tmp_path / "prices.toml").write_text(PRICES)
    run = ["run", "--games", "ttt", "--model", "mine/m", "--policy", "random", *MATCHES, "--prices", "prices.toml"]
    terminal.append("n")
    assert main([*run, "--budget", "0.01", "--out", "no"]) == 0
    said = capsys.readouterr().err
    assert "Forecast: " in said and "0.01 USD buys about" in said and said.endswith("Start? [Y/n] ")
    assert server.log == [] and not (tmp_path / "no").exists()
    terminal.append("")
    assert main([*run, "--out", "asked"]) == 0
    assert main([*run, "--out", "unasked", "--yes"]) == 0
    assert terminal == [] and server.log


def test_shipped_prices_are_stored_with_the_run(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    known = next(price for price in shipped_prices() if "openai.com" in price.base_url and "*" not in price.model)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    run = ["run", "--games", "ttt", "--model", f"openai/{known.model}", "--policy", "random", *MATCHES, "--dry-run"]
    assert main(run) == 0
    assert "cost in USD" in capsys.readouterr().out


def test_shipped_prices_are_consistent():
    prices = shipped_prices()
    PriceTable(prices)
    assert len(prices) > 30 and {price.currency for price in prices} == {"USD"}
    assert all(price.base_url and price.output >= price.input > 0 for price in prices)


def test_init_writes_a_run_file_that_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert main(["run", "run.toml", "--dry-run"]) == 0
    assert main(["init"]) == 2 and "already exists" in capsys.readouterr().err


def test_commands_alone_show_the_first_steps_on_a_terminal_only(capsys, monkeypatch):
    with pytest.raises(SystemExit):
        main([])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main([]) == 0
    assert "llmarena demo" in capsys.readouterr().out
