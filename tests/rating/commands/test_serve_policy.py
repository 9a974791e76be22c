"""A policy over HTTP, as other tools and our own client meet it."""

import asyncio
import http.client
import json
import logging
import signal
from urllib.parse import urlsplit

import pytest

from agents.baselines.connect_four import Minimax
from agents.models import LLMPolicy, ModelService
from agents.play import play_async
from agents.player import seat_players
from agents.registry import make_policy
from llmarena_envs.catalogue import make_environment
from rating.cli import main
from tests.support.policy_server import running_policy

KEY = "sk-of-this-server-0123456789"


@pytest.fixture(scope="module")
def minimax():
    with running_policy("minimax:depth=3", "--env", "connect_four_v0") as (url, _):
        yield url


def send(url, method, path, body=None, **headers):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def chat(url, body, **headers):
    return send(url, "POST", "/v1/chat/completions", body, **headers)


def question(**fields):
    env = make_environment("connect_four_v0", {}).unwrapped
    env.reset(seed=0)
    messages = [{"role": "user", "content": env.observe("player_0")["text"]}]
    return json.dumps({"model": "minimax", "messages": messages, **fields})


@pytest.mark.slow
def test_a_run_with_a_served_policy_finds_it_there(tmp_path, capsys):
    directory = tmp_path / "run"
    with running_policy("greedy", "--env", "tictactoe_v0") as (url, _):
        model = f"openai:greedy:base_url={url},api_key_env=NO_KEY_IS_NEEDED"
        arguments = ["--env", "tictactoe_v0", "--policy", model, "--policy", "random", "--max-matches", "2"]
        assert main(["run", *arguments, "--min-matches", "2", "--out", str(directory)]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("history", ["single_turn", "full"])
def test_our_own_client_plays_against_it_what_the_policy_plays_itself(minimax, history, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def play_matches():
        service = ModelService()

        async def match(seed):
            env = make_environment("connect_four_v0", {"random_opening": 4})
            model = LLMPolicy("minimax", base_url=minimax, history=history, send_seed=True, service=service)
            players = {"player_0": model, "player_1": make_policy("random", "connect_four_v0")}
            return await play_async(env, seat_players(players), seed)

        episodes = await asyncio.gather(*[match(seed) for seed in range(8)])
        await service.close()
        return episodes

    asked = 0
    for seed, episode in enumerate(asyncio.run(play_matches())):
        env = make_environment("connect_four_v0", {"random_opening": 4}).unwrapped
        directly = Minimax(depth=3)
        replayed = []

        def again(view, replayed=replayed, episode=episode, directly=directly):
            turn = [turn for turn in episode.turns if turn.agent == view.agent][len(replayed)]
            directly.reset(view.agent, turn.attempts[0].detail["seed"])
            replayed.append(turn)
            return directly(view)

        again.reads = "view"
        players = {"player_0": again, "player_1": make_policy("random", "connect_four_v0")}
        same = asyncio.run(play_async(env, seat_players(players), seed))
        assert [turn.played for turn in same.turns] == [turn.played for turn in episode.turns]
        assert all(len(turn.attempts) == 1 for turn in episode.turns)
        asked += len(replayed)
    assert asked > 20


def test_the_interface_is_that_of_openai(minimax):
    assert send(minimax, "GET", "/health") == (200, '{"status":"ok"}')
    status, models = send(minimax, "GET", "/v1/models")
    assert (status, [model["id"] for model in json.loads(models)["data"]]) == (200, ["minimax"])
    status, whole = chat(minimax, question(seed=3))
    answer = json.loads(whole)
    text = answer["choices"][0]["message"]["content"]
    assert (status, text[:3], answer["choices"][0]["finish_reason"]) == (200, "X: ", "stop")
    status, stream = chat(minimax, question(seed=3, stream=True))
    *events, end = stream.split("\n\n")[:-1]
    assert (status, end) == (200, "data: [DONE]")
    pieces = [json.loads(event.removeprefix("data: "))["choices"][0]["delta"].get("content", "") for event in events]
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("hi", 400, "invalid_request"),
        (b"\x00" * 1000, 400, "invalid_request"),
        (question(messages=[{"role": "user", "content": "\0"}]), 400, "no_position"),
        (question(model="greedy"), 404, "model_not_found"),
        (question(padding="x" * 1_000_000), 413, "too_large"),
    ],
)
def test_what_it_cannot_answer_is_refused_in_the_form_of_openai(minimax, body, status, code):
    got, text = chat(minimax, body)
    error = json.loads(text)["error"]
    assert (got, error["code"]) == (status, code)
    assert error["type"] and error["message"] and "Traceback" not in text
    assert send(minimax, "GET", "/v1/nothing")[0] == 404
    assert send(minimax, "GET", "/v1/chat/completions")[0] == 405


def test_a_key_is_asked_for_and_signals_end_it_in_good_order(monkeypatch):
    monkeypatch.setenv("SERVED_KEY", KEY)
    arguments = ["random", "--env", "tictactoe_v0", "--api-key-env", "SERVED_KEY"]
    for number in (signal.SIGTERM, signal.SIGINT):
        with running_policy(*arguments) as (url, process):
            assert chat(url, "{}", Authorization="Bearer wrong")[0] == 401
            assert send(url, "GET", "/v1/models")[0] == 401
            assert send(url, "GET", "/v1/models", Authorization=f"Bearer {KEY}")[0] == 200
            process.send_signal(number)
            assert process.communicate(timeout=30) == ("", "")
            assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["random", "--env", "holdem_v0"], "environments tictactoe_v0, connect_four_v0"),
        (["human", "--env", "tictactoe_v0"], "a person cannot be served"),
        (["random", "--env", "tictactoe_v0", "--port", "70000"], "--port"),
        (["random", "--env", "tictactoe_v0", "--host", "host.invalid"], "--host, --port"),
        (["random", "--env", "tictactoe_v0", "--api-key-env", "NOT_SET"], "--api-key-env"),
        (["random", "--env", "tictactoe_v0", "--option", "board=4"], "option"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(arguments, expected, capsys):
    assert main(["serve-policy", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_handlers_of_others_stay_open(tmp_path):
    handler = logging.FileHandler(tmp_path / "log")
    try:
        assert main(["serve-policy", "random", "--env", "tictactoe_v0", "--port", "70000"]) == 2
        assert handler.stream is not None
    finally:
        handler.close()
