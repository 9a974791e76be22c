"""A dry run sends nothing and predicts the cost of the run."""

import asyncio
import contextlib
import hashlib
import json
from contextvars import ContextVar

import pytest

from agents.models import LLMPolicy, ModelService
from agents.models.server.client import Client
from agents.policy import Reply
from rating.cli import main
from rating.config.run_file import parse_run_file
from rating.play import run_directory
from rating.play.dry_run import forecast
from rating.play.run import Run
from rating.play.runner import Runner

pytestmark = pytest.mark.timeout(120)

FACTOR = 1.5
LEGAL = ContextVar("LEGAL")

MODEL = """
[[policy]]
name = "{name}"
spec = "openai:gpt-{name}"
options = {{ base_url = "http://localhost:1/v1", max_tokens = {tokens} }}
"""


def run_file(environments, names="ab", tokens=50, extra="", **stop):
    text = "seed = 3\nworkers = 1\n" + extra
    text += "[stop]\n" + "".join(f"{name} = {value}\n" for name, value in stop.items())
    text += environments + "".join(MODEL.format(name=name, tokens=tokens) for name in names)
    return text


def sends_nothing(monkeypatch):
    def send(client, request, **options):
        raise AssertionError("a request was sent")

    monkeypatch.setattr(Client, "complete", send)


def moves_at_random(monkeypatch):
    """Lets models reply with legal moves, and counts their input."""
    read, ask = [], LLMPolicy.__call__

    async def call(policy, observation):
        LEGAL.set(observation["legal"])
        return await ask(policy, observation)

    async def complete(service, target, request, *, agent, sample):
        content = json.dumps([request, sample])
        number = int.from_bytes(hashlib.sha256(content.encode()).digest()[:8], "big")
        tokens = sum(len(message["content"].split()) for message in request["messages"]) * 4 // 3
        read.append(tokens)
        legal = LEGAL.get()
        return Reply(legal[number % len(legal)], prompt_tokens=tokens, completion_tokens=50)

    async def is_there(policies, observations):
        return {}

    monkeypatch.setattr("rating.play.players.check_models", is_there)
    always = property(lambda policy: True, lambda policy, value: None)
    monkeypatch.setattr(LLMPolicy, "wants_legal", always, raising=False)
    monkeypatch.setattr(LLMPolicy, "__call__", call)
    monkeypatch.setattr(ModelService, "complete", complete)
    return read


def forecast_of(text, reply_tokens=200):
    return asyncio.run(forecast(Run(parse_run_file(text, "run.toml")), reply_tokens=reply_tokens, latency=2.0))


def usage(options, reply_tokens, environment="name = 'tictactoe_v0'"):
    """Returns the expected calls and prompt tokens of two models with some options."""
    text = run_file(f"[[environment]]\n{environment}\n", tokens=1000, matches=4, max_matches=8)
    rows = forecast_of(text.replace("max_tokens = 1000", f"max_tokens = 1000, {options}"), reply_tokens).rows
    return sum(row.calls.expected for row in rows), sum(row.prompt_tokens.expected for row in rows)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("environment", ["tictactoe_v0", "connect_four_v0", "bid_v0"])
def test_forecast_is_near_the_usage_of_the_run(tmp_path, monkeypatch, environment):
    text = run_file(
        f"[[environment]]\nname = '{environment}'\n", names="abc", min_matches=8, max_matches=20, matches=14
    )
    expected = forecast_of(text)
    read = moves_at_random(monkeypatch)
    run, store = run_directory.create(tmp_path / "run", text, "run.toml")
    with contextlib.closing(store):
        asyncio.run(Runner(run, store).run())
        matches = sum(store.statuses().values())
    rows = expected.rows
    assert [row.policy for row in rows] == ["a", "b", "c"]
    found = (
        expected.matches[environment].expected / matches,
        sum(row.calls.expected for row in rows) / len(read),
        sum(row.prompt_tokens.expected for row in rows) / sum(read),
    )
    assert all(1 / FACTOR < ratio < FACTOR for ratio in found), found
    for row in rows:
        assert row.calls.low <= row.calls.expected <= row.calls.high
        assert row.completion_tokens.expected == pytest.approx(50 * row.calls.expected)  # max_tokens is the limit


@pytest.mark.slow
def test_forecast_counts_replies_in_the_history(monkeypatch):
    sends_nothing(monkeypatch)

    def read(history, reply_tokens):
        return usage(f"history = '{history}'", reply_tokens)[1]

    single, short, long = read("single_turn", 20), read("full", 20), read("full", 500)
    assert single == read("single_turn", 500)
    assert single < short < long


@pytest.mark.parametrize(
    ("options", "tokens"),
    [("max_tokens = 1000", 20), ("max_tokens = 16000", 200), ("max_tokens = 100, reasoning_effort = 'low'", 100)],
)
def test_reasoning_models_are_assumed_to_write_more(monkeypatch, options, tokens):
    sends_nothing(monkeypatch)
    text = run_file("[[environment]]\nname = 'tictactoe_v0'\n", tokens=1000, matches=4, max_matches=8)
    rows = forecast_of(text.replace("max_tokens = 1000", options), 20).rows
    assert all(row.completion_tokens.expected == pytest.approx(tokens * row.calls.expected) for row in rows)


def test_calls_that_format_replies_are_forecast(monkeypatch):
    sends_nothing(monkeypatch)
    twice, once = (usage(f"format_with_second_call = {option}", 20)[0] for option in ("true", "false"))
    assert twice == 2 * once > 0


@pytest.mark.slow
def test_reply_tokens_count_in_a_native_dialogue(monkeypatch):
    sends_nothing(monkeypatch)
    staff = "[environment.staff]\nuser = ['random']\njudge = ['random']\n[[policy]]\nspec = 'random'"

    def read(history, reply_tokens):
        return usage(f"history = '{history}'", reply_tokens, f"name = 'simulation_v0'\n{staff}")[1]

    assert read("single_turn", 20) == read("single_turn", 500)
    # Four answers: the later three prompts hold the earlier ones, 1, 2 and 3 of them.
    matches = (read("full", 500) - read("full", 20)) / (480 * 6)
    assert matches == pytest.approx(round(matches), rel=0.01) and matches > 1


@pytest.mark.slow
def test_dry_run_forecasts_every_scheme_and_its_staff(tmp_path, monkeypatch, capsys):
    sends_nothing(monkeypatch)
    environments = """
[[environment]]
name = "debate_v0"
scheme = "tournament"
options = { n_judges = 1 }
[environment.tournament]
questions = 2
[[environment]]
name = "undercover_v0"
[[environment]]
name = "hanabi_v0"
[[environment]]
name = "tictactoe_v0"
scheme = "field"
[[environment]]
name = "writer_editor_v0"
[environment.staff]
judge = ["d"]
"""
    names = "abcd"
    text = run_file(environments, names, matches=4, min_matches=4, max_matches=8)
    text += "[[price]]\nmodel = 'gpt-*'\ninput = 1\noutput = 2\n"
    (tmp_path / "run.toml").write_text(text)
    assert main(["run", str(tmp_path / "run.toml"), "--dry-run", "--latency", "0.5"]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines()]
    for environment in ("debate_v0", "undercover_v0", "hanabi_v0", "tictactoe_v0", "writer_editor_v0"):
        assert [row[1] for row in rows if row[:1] == [environment]] == list(names)
    assert "no price" not in printed
    assert "0.5 s per call" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["run.toml"]


def test_run_without_directory_names_out_and_dry_run(tmp_path, capsys):
    assert main(["run", "--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy"]) == 2
    assert "--out DIR, or --dry-run" in capsys.readouterr().err


def test_forecast_compares_the_budget(tmp_path, monkeypatch, capsys):
    sends_nothing(monkeypatch)
    text = run_file(
        "[budget]\ntokens = 2\n[[environment]]\nname = 'tictactoe_v0'\n", names="ab", matches=4, max_matches=8
    )
    (tmp_path / "run.toml").write_text(text)
    command = ["run", str(tmp_path / "run.toml"), "--dry-run"]
    assert main(command) == 0
    assert "budget of 2 tokens: will stop the run early" in capsys.readouterr().out
    assert main([*command, "--max-tokens", "1000000000", "--max-time", "1"]) == 0
    printed = capsys.readouterr().out
    assert "budget of 1,000,000,000 tokens: sufficient" in printed
    assert "budget of 1 s: will stop the run early" in printed
